//! Triangles and diagonals.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{BOOL, FILLED, Layout, NUMERIC};

cases! {
    numbers(FILLED, NUMERIC) {
        tril = |x| [-3, -1, 0, 1, 9].map(|diagonal| x.clone().tril(diagonal)).to_vec();
        triu = |x| [-3, -1, 0, 1, 9].map(|diagonal| x.clone().triu(diagonal)).to_vec();
    }

    given([BOOL], [Layout::Contiguous], Exact) {
        masks_and_unit_matrices = |_layout, _dtype| {
            [-2, -1, 0, 1, 3].into_iter().flat_map(masks::<B>).collect::<Vec<TensorData>>()
        };
    }
}

/// Masks whose diagonal is moved by `offset`, and what is made of them.
fn masks<B: Backend>(offset: i64) -> Vec<TensorData> {
    let device = B::Device::default();
    let mask = |shape: [usize; 2]| {
        [
            Tensor::<B, 2, Bool>::tril_mask(shape, offset, &device),
            Tensor::triu_mask(shape, offset, &device),
            Tensor::diag_mask(shape, offset, &device),
        ]
    };
    let masks = [[4, 4], [2, 5], [5, 2], [1, 1]].into_iter().flat_map(mask);
    let mut all: Vec<TensorData> = masks.map(Tensor::into_data).collect();
    all.push(Tensor::<B, 2>::eye(3, &device).into_data());
    all.push(Tensor::<B, 2, Int>::eye(4, &device).into_data());
    all.push(Tensor::<B, 2, Int>::cartesian_grid::<_, 3>([2, 4], &device).into_data());
    all
}
