//! Rows of all lengths that are accumulated in another way, against one element after the other.

use super::*;

fn compare<T: Element + std::fmt::Debug, R: Reducer<T>>(x: &[T], shape: &[usize], axis: usize, may_cut: bool) {
    let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let mut expected = x.to_vec();
    for (at, &x) in x.iter().enumerate() {
        let before = if at / inner % extent == 0 { R::START } else { expected[at - inner] };
        expected[at] = R::step(before, x);
    }
    let mut out = x.to_vec();
    cumulate::<T, R>(x, shape, axis, &mut out, may_cut);
    assert_eq!(out, expected, "{shape:?} along {axis}");
}

#[test]
fn rows_of_all_lengths() {
    for (rows, extent) in [(1, 1), (1, 7), (5, 3), (9, 100), (3, LONG - 1), (2, LONG), (5, LONG + 3), (1, 300_001)] {
        for shape in [[rows, extent, 1], [1, rows, extent], [1, extent, rows]] {
            let ints: Vec<i32> = (0..(rows * extent) as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
            let axis = if shape[2] == 1 { 1 } else { 2 };
            compare::<i32, Sum>(&ints, &shape, axis, true);
            compare::<i32, Prod>(&ints, &shape, 1, false);
            compare::<i32, Max>(&ints, &shape, axis, true);
            // All sums are exact.
            let floats: Vec<f32> = ints.iter().map(|&x| (x % 7) as f32).collect();
            compare::<f32, Sum>(&floats, &shape, axis, true);
            compare::<f32, Min>(&floats, &shape, 1, true);
        }
    }
}

#[test]
fn a_product_stays_0() {
    let x: Vec<f32> = (0..2 * LONG).map(|at| if at < LONG { 0.5 } else { 2.0 }).collect();
    let mut out = x.clone();
    cumulate::<f32, Prod>(&x, &[x.len()], 0, &mut out, Running::Product.may_be_cut());
    assert_eq!(out[2 * LONG - 1], 0.0);
}
