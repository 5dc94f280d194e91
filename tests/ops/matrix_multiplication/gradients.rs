//! Gradients of products, for both operands.

use burn::tensor::{DType, Tensor, TensorData, backend::AutodiffBackend};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout};

use crate::compare::{differentiate, gradient};

/// burn-flex sums 16-bit floats in 16 bits.
const SUMS: Tolerance = RelativeOf([1e-5, 2e-2, 2e-2]);

cases! {
    given_autodiff(FLOATS, [Layout::Contiguous], SUMS) {
        two_axes = |_layout, dtype| case::<B, 2>(dtype, [[3, 4], [4, 2]]);
        row_and_column = |_layout, dtype| case::<B, 2>(dtype, [[1, 4], [4, 1]]);
        batches = |_layout, dtype| case::<B, 3>(dtype, [[2, 3, 4], [2, 4, 5]]);
        batch_and_matrix = |_layout, dtype| case::<B, 3>(dtype, [[2, 3, 4], [1, 4, 5]]);
        matrix_and_batch = |_layout, dtype| case::<B, 3>(dtype, [[1, 3, 4], [2, 4, 5]]);
        rank_four = |_layout, dtype| case::<B, 4>(dtype, [[2, 1, 3, 4], [1, 2, 4, 2]]);
        rank_five = |_layout, dtype| case::<B, 5>(dtype, [[2, 1, 2, 2, 3], [1, 2, 2, 3, 2]]);
    }
}

/// Multiples of 1/4, whose short sums of products are exact in every order; the operands are views of the leaves.
fn case<B: AutodiffBackend, const D: usize>(dtype: DType, shapes: [[usize; D]; 2]) -> Vec<TensorData> {
    let leaf = |shape: [usize; D], salt: usize| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|i| ((i * 5 + i / 3 + salt) % 13) as f32 / 4.0 - 1.5).collect();
        let data = TensorData::new(values, shape).convert_dtype(dtype);
        Tensor::<B, D>::from_data(data, (&B::Device::default(), dtype)).require_grad()
    };
    let [a, b] = [leaf(shapes[0], 1), leaf(shapes[1], 4)];
    let [x, y] = [&a, &b].map(|leaf| leaf.clone().flip([0]));
    differentiate(x.matmul(y), |gradients| vec![gradient(&a, gradients), gradient(&b, gradients)])
}
