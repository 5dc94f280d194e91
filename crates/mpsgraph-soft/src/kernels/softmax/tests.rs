//! Softmax against f64.

use super::*;

/// Compares with f64 along every axis.
fn compare(shape: [usize; 3], value: impl Fn(usize) -> f32) {
    let x: Vec<f32> = (0..shape.iter().product()).map(value).collect();
    let strides = [shape[1] * shape[2], shape[2], 1];
    for axis in 0..3 {
        let mut out = vec![1.0; x.len()];
        softmax(&x, &shape, axis, &mut out);
        for at in 0..x.len() {
            let first = at - at / strides[axis] % shape[axis] * strides[axis];
            let along = || (0..shape[axis]).map(|i| f64::from(x[first + i * strides[axis]]));
            let max = along().fold(f64::NEG_INFINITY, f64::max);
            let exact = (f64::from(x[at]) - max).exp() / along().map(|x| (x - max).exp()).sum::<f64>();
            let ours = f64::from(out[at]);
            let close = (ours - exact).abs() <= exact * 3e-6;
            assert!(close || (ours.is_nan() && exact.is_nan()), "{shape:?} axis {axis}: {ours} is not {exact}");
        }
    }
}

#[test]
fn every_small_size() {
    for extent in (1..=20).chain([31, 32, 33, 63, 65, 511, 513, 1100]) {
        let wave = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) * 0.02;
        compare([2, extent, 3], wave);
        compare([3, 2, extent], wave);
    }
}

#[test]
fn more_rows_than_a_block_holds() {
    for extent in [1, 3, 8, 16, 33, 100, 255, 256, 257] {
        compare([5, 103, extent], |i| (i * 7919 % 1009) as f32 * 0.02);
    }
}

#[test]
fn narrow_rows() {
    for inner in (1..=9).chain([15, 16, 17, 31, 32, 33]) {
        for extent in [1, 2, 7, 8, 64, 127, 129, 300] {
            compare([2, extent, inner], |i| (i * 7919 % 1009) as f32 * 0.02);
        }
    }
    // Several threads.
    compare([300, 80, 3], |i| (i * 7919 % 1009) as f32 * 0.02);
    // So many wide rows that several blocks of them are summed.
    let mut out = vec![1.0; 500_015];
    softmax(&vec![2.0; 500_015], &[100_003, 5], 0, &mut out);
    assert!(out.iter().all(|x| (x * 100_003.0 - 1.0).abs() < 1e-6));
}

#[test]
fn large() {
    compare([1, 300, 500], |i| (i % 1013) as f32 * 0.01);
}

/// Added one after the other, these round in one direction.
#[test]
fn long_sums_round_little() {
    const COUNT: usize = 6000;
    let exact = 1.0 / (1.0 + (COUNT - 1) as f64 * f64::from(-0.3f32).exp());
    for (shape, axis, columns) in [([COUNT, 2], 0, 2), ([1, COUNT], 1, 1)] {
        let x: Vec<f32> = (0..COUNT * columns).map(|i| if i < columns { 0.0 } else { -0.3 }).collect();
        let mut out = vec![0.0; x.len()];
        softmax(&x, &shape, axis, &mut out);
        let error = (f64::from(out[0]) / exact - 1.0).abs();
        assert!(error < 1e-6, "along axis {axis}: {error:e}");
    }
}

#[test]
fn huge_and_infinite() {
    compare([2, 40, 2], |i| if i % 2 == 0 { 3e38 } else { -3e38 });
    compare([2, 40, 2], |i| if i % 5 == 0 { f32::NEG_INFINITY } else { i as f32 });
    for special in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN] {
        let mut out = [0.0; 80];
        softmax(&[special; 80], &[2, 40], 1, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
        softmax(&[special; 80], &[40, 2], 0, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
    }
    let (mut x, mut out) = ([1.0; 40], [0.0; 40]);
    x[37] = f32::NAN;
    softmax(&x, &[40], 0, &mut out);
    assert!(out.iter().all(|x| x.is_nan()));
}
