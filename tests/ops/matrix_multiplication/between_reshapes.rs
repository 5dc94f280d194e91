//! Products between reshapes with more than one extent of 1, on which MPSGraph's compiler ends the process on macOS 26
//! and 27: the shape of an operand, of the product, or of who reads it, also inside of a reader's or a maker's
//! lowering.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, activation as act};
use test_support::Tolerance::Relative;
use test_support::{Layout, distinct};

cases! {
    sums([DType::F16], Layout::PLAIN, Relative(1e-2)) {
        sum_of_halves_that_leaves = |_layout, dtype| {
            let sums = made::<B, 2>([3, 40], dtype).transpose().sum_dim(1);
            let product = sums.clone().matmul(row(dtype)).reshape([2, 20, 64]) * 2.0;
            vec![product.into_data(), sums.into_data()]
        };
        sum_of_halves_in_another_order = |_layout, dtype| {
            let sums = made::<B, 3>([4, 3, 10], dtype).permute([2, 0, 1]).reshape([40, 3]).sum_dim(1);
            sums.matmul(row(dtype)).reshape([2, 20, 64]) * 2.0
        };
    }
    sums([DType::F32], Layout::PLAIN, Relative(1e-5)) {
        operand_with_lone_extents = |_layout, dtype| {
            made::<B, 5>([2, 1, 3, 1, 2], dtype).reshape([6, 2]).matmul(w(dtype))
        };
        reader_with_lone_extents = |_layout, dtype| product::<B>(dtype).reshape([1, 1, 3, 6]) * 2.0;
        reader_of_one_row = |_layout, dtype| product::<B>(dtype).reshape([18, 1, 1]).abs();
        reader_of_a_batch = |_layout, dtype| {
            made::<B, 4>([2, 1, 3, 2], dtype).reshape([6, 2]).matmul(w(dtype)).reshape([1, 2, 1, 3, 3]) + 1.0
        };
        reader_after_a_cast = |_layout, dtype| product::<B>(dtype).cast(DType::F16).reshape([1, 18, 1]) * 2.0;
        reader_that_folds_axes = |_layout, dtype| {
            let product = made::<B, 1>([16], dtype).reshape([8, 2]).matmul(w(dtype));
            act::softmax(product.reshape([1, 2, 2, 2, 3]), 0)
        };
        maker_that_folds_axes = |_layout, dtype| {
            made::<B, 5>([3, 2, 2, 2, 2], dtype).sum_dim(0).reshape([8, 2]).matmul(w(dtype)).reshape([3, 8]) + 1.0
        };
        sum_of_rows_that_leaves = |_layout, dtype| {
            let sums = made::<B, 3>([3, 40, 1], dtype).permute([1, 0, 2]).reshape([40, 3]).sum_dim(1);
            let product = sums.clone().matmul(row(dtype)).reshape([2, 20, 64]) * 2.0;
            vec![product.into_data(), sums.into_data()]
        };
        sum_in_another_order = |_layout, dtype| {
            let sums = made::<B, 4>([4, 3, 10, 1], dtype).permute([2, 0, 1, 3]).reshape([40, 3]).sum_dim(1);
            sums.matmul(row(dtype)).reshape([2, 20, 64]) * 2.0
        };
        both = |_layout, dtype| {
            let x = made::<B, 4>([1, 2, 3, 2], dtype) + 1.0;
            x.sum_dim(1).reshape([3, 2]).matmul(w(dtype)).reshape([9, 1, 1]).sum()
        };
    }
}

fn made<B: Backend, const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<B, D> {
    Tensor::from_data(distinct(shape, dtype), (&B::Device::default(), dtype))
}

fn row<B: Backend>(dtype: DType) -> Tensor<B, 2> {
    made([1, 64], dtype)
}

fn w<B: Backend>(dtype: DType) -> Tensor<B, 2> {
    Tensor::from_data([[1.0, 0.0, 2.0], [-1.0, 1.0, 0.5]], (&B::Device::default(), dtype))
}

/// Six rows times a matrix.
fn product<B: Backend>(dtype: DType) -> Tensor<B, 2> {
    made::<B, 1>([12], dtype).reshape([6, 2]).matmul(w(dtype))
}
