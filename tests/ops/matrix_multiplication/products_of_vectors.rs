//! Functions that Burn composes of products: dot, outer, matrix times vector.

use burn::tensor::backend::Backend;
use burn::tensor::linalg::{matvec, outer, trace};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Relative;
use test_support::{FLOATS, Layout, distinct, floats};

cases! {
    given(FLOATS, Layout::PLAIN, Relative(1e-2)) {
        dot_outer_and_matvec = |layout, dtype| products::<B>(layout, dtype);
        by_zeros_and_ones = |layout, dtype| by_one_number::<B>(layout, dtype);
    }
    sums([DType::F32], Layout::PLAIN, Relative(1e-4)) {
        many_that_a_convolution_reads = |_layout, dtype| convolved::<B>(dtype);
    }
}

fn products<B: Backend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let x = floats::<B>(layout, dtype, 0);
    let matrix: Tensor<B, 2> = x.clone().slice_dim(0, 0..1).squeeze_dim(0);
    let vector: Tensor<B, 1> = matrix.clone().slice_dim(0, 0..1).squeeze_dim(0);
    vec![
        vector.clone().dot(vector.clone()).into_data(),
        outer::<B, 1, 2, _>(vector.clone(), vector.clone()).into_data(),
        matvec::<B, 2, 1, _>(matrix.clone(), vector).into_data(),
        trace::<B, 2, 1>(matrix).into_data(),
    ]
}

/// A graph may keep the operand as one number.
fn by_one_number<B: Backend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let x = floats::<B>(layout, dtype, 0);
    let [_, _, columns] = x.dims();
    let device = &B::Device::default();
    let [zeros, ones] = [Tensor::zeros, Tensor::ones].map(|make| make([1, columns, 5], (device, dtype)));
    vec![x.clone().matmul(zeros).into_data(), x.matmul(ones).into_data()]
}

/// Scalar products, which macOS 26 computes as the first rows of products of two.
fn convolved<B: Backend>(dtype: DType) -> Tensor<B, 4> {
    let made = |shape: [usize; 3]| Tensor::<B, 3>::from_data(distinct(shape, dtype), (&B::Device::default(), dtype));
    let maps = made([8, 1, 9]).matmul(made([8, 9, 1])).reshape([1, 8, 1, 1]);
    let weights = made([3, 8, 1]).reshape([3, 8, 1, 1]);
    conv2d(maps, weights, None, ConvOptions::new([1, 1], [0, 0], [1, 1], 1))
}
