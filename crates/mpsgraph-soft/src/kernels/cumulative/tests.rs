//! Rows of all lengths that are accumulated in another way, against one element after the other.

use super::*;
use std::cmp::Ordering::{Greater, Less};

fn compare<T: Element + std::fmt::Debug, R: Reducer<T>>(x: &[T], shape: &[usize], axis: usize, order: Order) {
    let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let mut expected = x.to_vec();
    for (at, &x) in x.iter().enumerate() {
        let before = if at / inner % extent == 0 { R::START } else { expected[at - inner] };
        expected[at] = R::step(before, x);
    }
    let mut out = x.to_vec();
    cumulate::<T, Plain<R>>(x, shape, axis, &mut out, order);
    assert_eq!(out, expected, "{shape:?} along {axis}");
}

#[test]
fn rows_of_all_lengths() {
    for (rows, extent) in
        [(1, 1), (1, 7), (5, 3), (9, 100), (9, 555), (3, LONG - 1), (2, LONG), (5, LONG + 3), (1, 300_001)]
    {
        for shape in [[rows, extent, 1], [1, rows, extent], [1, extent, rows]] {
            let ints: Vec<i32> = (0..(rows * extent) as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
            let axis = if shape[2] == 1 { 1 } else { 2 };
            compare::<i32, Sum>(&ints, &shape, axis, Order::Any);
            compare::<i32, Prod>(&ints, &shape, axis, Order::Parts);
            compare::<i32, Max>(&ints, &shape, axis, Order::Any);
            let wide: Vec<i64> = ints.iter().map(|&x| i64::from(x) << 20).collect();
            compare::<i64, Sum>(&wide, &shape, axis, Order::Any);
            // All sums are exact.
            let floats: Vec<f32> = ints.iter().map(|&x| (x % 7) as f32).collect();
            compare::<f32, Sum>(&floats, &shape, axis, Order::Blocks);
            compare::<f32, Min>(&floats, &shape, 1, Order::Any);
            let factors: Vec<f32> = ints.iter().map(|&x| if x % 2 == 0 { 0.5 } else { 2.0 }).collect();
            compare::<f32, Prod>(&factors, &shape, axis, Order::Strict);
        }
    }
}

#[test]
fn columns_that_threads_share() {
    for shape in [[2, 700, 501], [1, 3, SHARED / 4 + 7]] {
        let ints: Vec<i32> = (0..shape.iter().product::<usize>() as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
        compare::<i32, Sum>(&ints, &shape, 1, Order::Any);
        let floats: Vec<f32> = ints.iter().map(|&x| x as f32).collect();
        compare::<f32, Sum>(&floats, &shape, 1, Order::Blocks);
        compare::<f32, Max>(&floats, &shape, 1, Order::Any);
    }
}

/// Each of a few numbers of a long row, so that most steps round.
#[test]
fn sums_of_positive_numbers_never_fall() {
    for length in [LONG, LONG + 1, 2 * LONG - 1, 50_000, 1_000_000] {
        // The last ones are 0 and move nothing.
        let x: Vec<f32> = (0..length).map(|at| if at < length - 700 { [0.1, 0.3][at / 7 % 2] } else { 0.0 }).collect();
        let mut out = x.clone();
        cumulate::<f32, Plain<Sum>>(&x, &[length], 0, &mut out, Running::Sum.order(true));
        let fall = out.windows(2).position(|pair| pair[1] < pair[0]);
        assert!(fall.is_none(), "of {length}, behind {fall:?}");
        assert!(out[length - 700..].iter().all(|&sum| sum == out[length - 701]), "{length}");
        let exact: f64 = x.iter().map(|&x| f64::from(x)).sum();
        assert!(
            (f64::from(out[length - 1]) / exact - 1.0).abs() < 1e-4,
            "{length}: {} is not {exact}",
            out[length - 1]
        );
    }
}

/// A block on its own would be infinite.
#[test]
fn large_sums_that_stay_finite() {
    for length in [LONG, 3 * LONG + 5] {
        let pairs: Vec<f32> = (0..length).map(|at| [3e38, -3e38][at % 2]).collect();
        compare::<f32, Sum>(&pairs, &[length], 0, Order::Blocks);
        let mut x = vec![0.0; length];
        (x[5], x[length - 30], x[length - 20], x[length - 10]) = (-3e38, 2e38, 2e38, -1e38);
        compare::<f32, Sum>(&x, &[length], 0, Order::Blocks);
    }
}

/// One element after the other stays infinite, though the elements behind would bring the sum of a block back.
#[test]
fn sums_stay_infinite() {
    for length in [LONG, 3 * LONG + 5] {
        let mut x = vec![0.0; length];
        (x[5], x[length - 30], x[length - 20]) = (3e38, 1e38, -1e38);
        compare::<f32, Sum>(&x, &[length], 0, Order::Blocks);
    }
}

#[test]
fn a_product_stays_0() {
    let x: Vec<f32> = (0..2 * LONG).map(|at| if at < LONG { 0.5 } else { 2.0 }).collect();
    let mut out = x.clone();
    cumulate::<f32, Plain<Prod>>(&x, &[x.len()], 0, &mut out, Running::Product.order(true));
    assert_eq!(out[2 * LONG - 1], 0.0);
}

/// An extreme skips NaN, also one at the beginning of a row or of a block.
#[test]
fn extremes_skip_nan() {
    for length in [3, 8, 40, LONG + 5] {
        let mut x: Vec<f32> = (0..length).map(|at| ((at * 37) % 101) as f32 - 50.0).collect();
        for at in (0..length).step_by(8) {
            x[at] = f32::NAN;
        }
        compare::<f32, Max>(&x, &[length], 0, Order::Any);
        compare::<f32, Min>(&x, &[length], 0, Order::Any);
    }
}

/// What [`Keys`] is for, against one element after the other.
#[test]
fn extremes_that_keep_nan() {
    let specials = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1.5, -1.5];
    for (length, inner, nan) in [(3, 1, 9), (40, 1, 21), (700, 1, 650), (700, 1, 0), (40, 3, 30), (300_000, 1, 299_999)]
    {
        let numbers =
            (0..length * inner).map(|at| if at < 60 { specials[at * 7 % 6] } else { ((at * 37) % 101) as f32 });
        let mut x: Vec<f32> = numbers.collect();
        if nan < length {
            x[nan * inner] = -f32::NAN;
        }
        let bits: Vec<i32> = x.iter().map(|x| x.to_bits() as i32).collect();
        let (mut largest, mut smallest) = (bits.clone(), bits.clone());
        cumulate::<i32, Keys<Max>>(&bits, &[length, inner], 0, &mut largest, Order::Any);
        cumulate::<i32, Keys<Min>>(&bits, &[length, inner], 0, &mut smallest, Order::Any);
        for (found, start, wanted) in [(largest, f32::NEG_INFINITY, Greater), (smallest, f32::INFINITY, Less)] {
            for column in 0..inner {
                let mut extreme = start;
                for at in (column..x.len()).step_by(inner) {
                    if x[at].is_nan() || extreme.is_nan() {
                        extreme = f32::from_bits(i32::MAX as u32);
                    } else if x[at].total_cmp(&extreme) == wanted {
                        extreme = x[at];
                    }
                    let found = f32::from_bits(found[at] as u32);
                    assert_eq!(found.to_bits(), extreme.to_bits(), "{length} x {inner}, {at}: {found}, not {extreme}");
                }
            }
        }
    }
}

/// Columns in vectors of two widths and one by one, and rows that are too few for the chains.
#[test]
fn narrow_columns_and_short_rows() {
    for inner in [1, 2, 3, 4, 5, 7, 10, 16, 21, 33, 255, 256, 263, 530] {
        for extent in [1, 2, 4, 9, 31] {
            let shape = [3, extent, inner];
            let ints: Vec<i32> = (0..(3 * extent * inner) as i32).map(|i| i.wrapping_mul(1_234_567)).collect();
            let wide: Vec<i64> = ints.iter().map(|&x| i64::from(x) << 20).collect();
            let floats: Vec<f32> = ints.iter().map(|&x| x as f32).collect();
            for axis in [1, 2] {
                compare::<i32, Prod>(&ints, &shape, axis, Order::Parts);
                compare::<i64, Sum>(&wide, &shape, axis, Order::Any);
                let (bytes, halves) = (ints.iter().map(|&x| (x >> 9) as i8), ints.iter().map(|&x| (x >> 9) as u16));
                compare::<i8, Max>(&bytes.collect::<Vec<_>>(), &shape, axis, Order::Any);
                compare::<u16, Sum>(&halves.collect::<Vec<_>>(), &shape, axis, Order::Any);
                compare::<f32, Sum>(&floats, &shape, axis, Order::Blocks);
                compare::<f32, Max>(&floats, &shape, axis, Order::Any);
            }
        }
    }
}
