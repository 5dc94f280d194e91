//! 16-bit floats are computed in f32, bias included, and rounded once: burn-flex's result in f32, rounded.

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{conv_transpose2d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{DType, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Ulps;

use super::{quarters, with_gradients};
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

with_gradients! {
    conv1d_of(conv1d, 3, ConvOptions<1>, |weight: &[usize; 3], _: &ConvOptions<1>| weight[0]);
    conv2d_of(conv2d, 4, ConvOptions<2>, |weight: &[usize; 4], _: &ConvOptions<2>| weight[0]);
    conv3d_of(conv3d, 5, ConvOptions<3>, |weight: &[usize; 5], _: &ConvOptions<3>| weight[0]);
    conv_transpose2d_of(conv_transpose2d, 4, ConvTransposeOptions<2>,
        |weight: &[usize; 4], _: &ConvTransposeOptions<2>| weight[1]);
}

/// Outputs and gradients of numbers that every float dtype holds.
fn gradients<B: AutodiffBackend>(computed: DType) -> Vec<TensorData> {
    [
        conv1d_of::<B>(computed, [[2, 20, 30], [3, 20, 5]], ConvOptions::new([2], [2], [1], 1)),
        conv2d_of::<B>(computed, [[2, 20, 7, 7], [6, 10, 3, 3]], ConvOptions::new([1, 2], [1, 1], [1, 1], 2)),
        conv3d_of::<B>(computed, [[1, 10, 4, 4, 4], [3, 10, 2, 2, 2]], ConvOptions::new([1; 3], [0; 3], [1; 3], 1)),
        conv_transpose2d_of::<B>(
            computed,
            [[2, 20, 4, 4], [20, 3, 3, 3]],
            ConvTransposeOptions::new([2, 2], [1, 1], [0, 0], [1, 1], 1),
        ),
    ]
    .concat()
}

#[test]
fn gradients_are_rounded_once() {
    for dtype in [DType::F16, DType::BF16] {
        let rounded = || {
            let exact = gradients::<Autodiff<Flex>>(DType::F32).into_iter();
            exact.map(|data| data.convert_dtype(dtype)).collect()
        };
        compare_sums(&format!("{dtype:?}"), Ulps(1), rounded, || gradients::<Autodiff<MpsGraph>>(dtype));
    }
}
