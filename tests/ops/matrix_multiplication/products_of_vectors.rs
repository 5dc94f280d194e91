//! Functions that Burn composes of products: dot, outer, matrix times vector.

use burn::tensor::backend::Backend;
use burn::tensor::linalg::{matvec, outer, trace};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Relative;
use test_support::{FLOATS, Layout, floats};

cases! {
    given(FLOATS, Layout::PLAIN, Relative(1e-2)) {
        dot_outer_and_matvec = |layout, dtype| products::<B>(layout, dtype);
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
