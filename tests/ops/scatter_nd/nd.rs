//! `scatter_nd`: slices at coordinates replaced or combined.

use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, backend::Backend};
use test_support::{Layout, NUMERIC};

use super::ORDINARY;
use crate::gather::indices;

const WAYS: [IndexingUpdateOp; 5] = [
    IndexingUpdateOp::Assign,
    IndexingUpdateOp::Add,
    IndexingUpdateOp::Mul,
    IndexingUpdateOp::Min,
    IndexingUpdateOp::Max,
];

/// The ways whose result does not depend on rounding.
const CHOICES: [IndexingUpdateOp; 3] = [IndexingUpdateOp::Assign, IndexingUpdateOp::Min, IndexingUpdateOp::Max];

/// The six pairs of indices into \[2, 5\], out of order, each once.
fn rows<B: Backend>() -> Tensor<B, 2, Int> {
    Tensor::from_data([[1, 4], [0, 2], [1, 0], [0, 0], [1, 1], [0, 4]], &B::Device::default())
}

cases! {
    numbers(ORDINARY, NUMERIC) {
        scatter_nd_at_distinct_rows = |x| {
            let values = x.clone().flip([0, 1, 2]).reshape([10, 3]).narrow(0, 2, 6);
            WAYS.map(|way| x.clone().scatter_nd(rows(), values.clone(), way)).to_vec()
        };
        scatter_nd_at_slices = |x| {
            let at = indices([2, 1], 2, DType::I32);
            WAYS.map(|way| x.clone().scatter_nd(at.clone(), x.clone().flip([1]), way)).to_vec()
        };
        scatter_nd_of_a_view = |x| {
            let turned = x.clone().permute([2, 0, 1]);
            let at = indices([1, 2], 2, DType::I64);
            let values = x.narrow(0, 1, 1).slice([0..1, 0..5, 2..3]).reshape([1, 5]);
            WAYS.map(|way| turned.clone().scatter_nd(at.clone(), values.clone(), way)).to_vec()
        };
        scatter_nd_at_elements = |x| {
            let at = Tensor::<B, 3, Int>::from_data([[[1, 4, 2], [0, 0, 0]], [[0, 3, 1], [1, 1, 1]]], &x.device());
            let values: Tensor<B, 2, K> = x.clone().slice([0..1, 0..2, 1..3]).reshape([2, 2]);
            WAYS.map(|way| x.clone().scatter_nd(at.clone(), values.clone(), way)).to_vec()
        };
        scatter_nd_that_repeats = |x| {
            // Five updates for two rows.
            let at = indices([5, 2], 2, DType::I32);
            CHOICES.map(|way| x.clone().scatter_nd(at.clone(), x.clone().narrow(0, 1, 1).reshape([5, 3]), way)).to_vec()
        };
        scatter_nd_sums_that_repeat = |x| {
            let at = indices([5, 2], 2, DType::I32);
            x.clone().scatter_nd(at, x.narrow(0, 1, 1).reshape([5, 3]), IndexingUpdateOp::Add)
        };
    }

    numbers([Layout::Extreme], NUMERIC) {
        scatter_nd_assigns_extremes = |x| {
            let values = x.clone().flip([0, 1, 2]).reshape([10, 3]).narrow(0, 2, 6);
            x.scatter_nd(rows(), values, IndexingUpdateOp::Assign)
        };
        scatter_nd_chooses_among_extremes = |x| {
            let values = x.clone().flip([0, 1, 2]).reshape([10, 3]).narrow(0, 2, 6);
            [IndexingUpdateOp::Min, IndexingUpdateOp::Max]
                .map(|way| x.clone().scatter_nd(rows(), values.clone(), way))
                .to_vec()
        };
    }

    by_hand() {
        scatter_nd = |x = [1, 2, 3], at = [[2], [0]], values = [10, 20]| x.scatter_nd(at, values, IndexingUpdateOp::Add)
            => [21, 2, 13];
    }
}
