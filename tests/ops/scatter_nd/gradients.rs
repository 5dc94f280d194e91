//! Gradients of writes by index, for the data and for the values.

use burn::tensor::{DType, IndexingUpdateOp, TensorData, backend::AutodiffBackend};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout, floats};

use super::ORDINARY;
use crate::compare::{differentiate, gradient};
use crate::gather::indices;

cases! {
    gradients(FLOATS, ORDINARY, Exact) {
        scatter_into = |x| {
            let values = floats(Layout::Transposed, x.dtype(), 3);
            x.scatter(1, indices([2, 5, 3], 5, DType::I32), values, IndexingUpdateOp::Add)
        };
        select_assign_into = |x| {
            let values = floats(Layout::Sliced, x.dtype(), 3);
            x.select_assign(1, indices([5], 5, DType::I32), values, IndexingUpdateOp::Add)
        };
    }

    given_autodiff(FLOATS, ORDINARY, Exact) {
        of_the_values = |layout, dtype| of_values::<B>(layout, dtype);
    }
}

/// Gradients of `scatter` and `select_assign` for the values.
fn of_values<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let (data, values) = (floats::<B>(Layout::Contiguous, dtype, 1), floats::<B>(layout, dtype, 0).require_grad());
    let scattered = data.clone().scatter(2, indices([2, 5, 3], 3, DType::I32), values.clone(), IndexingUpdateOp::Add);
    let assigned = data.select_assign(0, indices([2], 2, DType::I32), values.clone(), IndexingUpdateOp::Add);
    let mut all = differentiate(scattered, |gradients| vec![gradient(&values, gradients)]);
    all.extend(differentiate(assigned, |gradients| vec![gradient(&values, gradients)]));
    all
}
