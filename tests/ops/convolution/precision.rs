//! 16-bit floats are computed in f32, bias included, and rounded once: burn-flex's result in f32, rounded.

use burn::tensor::backend::Backend;
use burn::tensor::module::{conv_transpose2d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{DType, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Ulps;

use super::quarters;
use crate::compare::compare_sums;

/// Outputs of dtype `computed` of numbers that every float dtype holds.
fn outputs<B: Backend>(computed: DType) -> Vec<TensorData> {
    let bias = || Some(quarters::<B, 1>([3], computed, 2));
    let long = conv1d(
        quarters::<B, 3>([2, 2, 300], computed, 0),
        quarters([3, 2, 270], computed, 1),
        bias(),
        ConvOptions::new([3], [5], [1], 1),
    );
    let image = conv2d(
        quarters::<B, 4>([2, 40, 6, 6], computed, 0),
        quarters([3, 40, 3, 3], computed, 1),
        bias(),
        ConvOptions::new([1, 1], [1, 1], [1, 1], 1),
    );
    let cube = conv3d(
        quarters::<B, 5>([1, 20, 4, 4, 4], computed, 0),
        quarters([3, 20, 3, 3, 3], computed, 1),
        bias(),
        ConvOptions::new([1, 1, 1], [1, 1, 1], [1, 1, 1], 1),
    );
    let transposed = conv_transpose2d(
        quarters::<B, 4>([2, 40, 4, 4], computed, 0),
        quarters([40, 3, 3, 3], computed, 1),
        bias(),
        ConvTransposeOptions::new([2, 2], [1, 1], [1, 1], [1, 1], 1),
    );
    vec![long.into_data(), image.into_data(), cube.into_data(), transposed.into_data()]
}

#[test]
fn sums_are_rounded_once() {
    for dtype in [DType::F16, DType::BF16] {
        let rounded = || outputs::<Flex>(DType::F32).into_iter().map(|data| data.convert_dtype(dtype)).collect();
        compare_sums(&format!("{dtype:?}"), Ulps(1), rounded, || outputs::<MpsGraph>(dtype));
    }
}
