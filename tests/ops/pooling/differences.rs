//! Gradients against differences: averages are linear, maxima as long as no element passes another one.

use burn::tensor::TensorData;
use burn::tensor::module::{
    adaptive_avg_pool1d, adaptive_avg_pool2d, avg_pool1d, avg_pool2d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices,
};

use crate::differences::{check, weighted};

/// Different multiples of 1/8 in no order.
fn distinct<const D: usize>(shape: [usize; D]) -> TensorData {
    let count: usize = shape.iter().product();
    // 37 has no divisor in common with the counts, so no two remainders are equal.
    let values: Vec<f32> = (0..count).map(|i| (i * 37 % count) as f32 / 8.0 - 3.0).collect();
    TensorData::new(values, shape)
}

const IMAGES: [usize; 4] = [2, 2, 5, 6];
const ROWS: [usize; 3] = [2, 3, 9];
/// Half of what lies between neighbours is 1/16.
const STEP: f32 = 1.0 / 32.0;

#[test]
fn averages_of_rows() {
    for (padding, include, ceil) in [(0, true, false), (1, true, true), (1, false, true)] {
        let what = format!("{padding} {include} {ceil}");
        check::<3>(&what, &distinct(ROWS), 0.5, |x| weighted(avg_pool1d(x, 3, 2, padding, include, ceil)));
    }
}

#[test]
fn averages_of_images() {
    for (padding, include, ceil) in [([0, 0], true, false), ([1, 1], true, true), ([1, 0], false, true)] {
        let what = format!("{padding:?} {include} {ceil}");
        check::<4>(&what, &distinct(IMAGES), 0.5, |x| weighted(avg_pool2d(x, [3, 2], [2, 1], padding, include, ceil)));
    }
}

#[test]
fn averages_that_adapt() {
    for size in [1, 2, 4, 9, 12] {
        check::<3>(&format!("{size}"), &distinct(ROWS), 0.5, |x| weighted(adaptive_avg_pool1d(x, size)));
    }
    for size in [[1, 1], [2, 4], [5, 6], [3, 8]] {
        check::<4>(&format!("{size:?}"), &distinct(IMAGES), 0.5, |x| weighted(adaptive_avg_pool2d(x, size)));
    }
}

#[test]
fn maxima_of_rows() {
    for (padding, dilation, ceil) in [(0, 1, false), (1, 1, true), (1, 2, false)] {
        let what = format!("{padding} {dilation} {ceil}");
        check::<3>(&what, &distinct(ROWS), STEP, |x| weighted(max_pool1d(x, 3, 2, padding, dilation, ceil)));
        check::<3>(&what, &distinct(ROWS), STEP, |x| {
            weighted(max_pool1d_with_indices(x, 3, 2, padding, dilation, ceil).0)
        });
    }
}

#[test]
fn maxima_of_images() {
    for (padding, dilation, ceil) in [([0, 0], [1, 1], false), ([1, 1], [1, 1], true), ([1, 0], [2, 3], false)] {
        let what = format!("{padding:?} {dilation:?} {ceil}");
        check::<4>(&what, &distinct(IMAGES), STEP, |x| {
            weighted(max_pool2d(x, [3, 2], [1, 2], padding, dilation, ceil))
        });
        check::<4>(&what, &distinct(IMAGES), STEP, |x| {
            weighted(max_pool2d_with_indices(x, [3, 2], [1, 2], padding, dilation, ceil).0)
        });
    }
}
