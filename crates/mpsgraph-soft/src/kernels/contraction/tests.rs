//! Contractions against their definition.

use super::contract;

fn numbers(count: usize) -> Vec<u64> {
    (0..count as u64).map(|at| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// Compares with plain loops over outer axes of extents `[a, b, c]`, of which each operand has some.
fn check(x: [usize; 3], y: [usize; 3], k: usize) {
    let out: [usize; 3] = std::array::from_fn(|axis| x[axis].max(y[axis]));
    let (left, right) = (numbers(x.iter().product::<usize>() * k), numbers(y.iter().product::<usize>() * k + 1));
    let right = &right[1..];
    let row = |shape: [usize; 3], at: [usize; 3]| {
        (0..3).fold(0, |row, axis| row * shape[axis] + if shape[axis] == 1 { 0 } else { at[axis] })
    };
    let mut expected = Vec::new();
    for a in 0..out[0] {
        for b in 0..out[1] {
            for c in 0..out[2] {
                let [of_x, of_y] = [row(x, [a, b, c]) * k, row(y, [a, b, c]) * k];
                let product = |i: usize| left[of_x + i].wrapping_mul(right[of_y + i]);
                expected.push((0..k).fold(0u64, |sum, i| sum.wrapping_add(product(i))));
            }
        }
    }
    let shapes = [x, y, out].map(|[a, b, c]| [a, b, c, k]);
    let result_shape = [out[0], out[1], out[2], 1];
    let mut result = vec![7; expected.len()];
    contract::<u64>((&left, &shapes[0]), (right, &shapes[1]), &result_shape, &mut result);
    assert!(result == expected, "{x:?} {y:?} {k}: {result:?} is not {expected:?}");
    // The low halves of products depend on the low halves of factors alone.
    let low = |x: &[u64]| x.iter().map(|&x| x as u32).collect::<Vec<u32>>();
    let mut halves = vec![7; expected.len()];
    contract::<u32>((&low(&left), &shapes[0]), (&low(right), &shapes[1]), &result_shape, &mut halves);
    assert!(halves == low(&expected), "{x:?} {y:?} {k}");
}

#[test]
fn every_broadcast() {
    for k in [1, 7, 8, 9, 33] {
        check([2, 3, 1], [2, 1, 5], k);
        check([1, 3, 1], [2, 1, 4], k);
        check([2, 1, 5], [1, 3, 1], k);
        check([2, 3, 4], [2, 3, 4], k);
        check([2, 3, 4], [1, 1, 1], k);
        check([3, 1, 1], [1, 2, 1], k);
    }
}

#[test]
fn shared_between_threads() {
    check([1, 70, 1], [1, 1, 130], 128);
}
