//! `Embedding`, with indices that repeat.

use burn::module::Param;
use burn::nn::Embedding;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, TensorData, module::embedding};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout, floats};

use crate::compare::{differentiate, gradient};
use crate::gather::indices;

cases! {
    given_autodiff(FLOATS, [Layout::Contiguous], Exact) {
        by_i32 = |_layout, dtype| shapes::<B>(dtype, DType::I32);
        by_i64 = |_layout, dtype| shapes::<B>(dtype, DType::I64);
        by_u8 = |_layout, dtype| shapes::<B>(dtype, DType::U8);
    }

    by_hand() {
        embedding = |table = [[1.0, 2.0], [3.0, 4.0]], at = [[1, 0, 1]]| embedding(table, at)
            => [[[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]];
    }

    // How often each row was read.
    gradients_by_hand() {
        embedding_backward = |table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], at = [[1, 0, 1]]| embedding(table, at)
            => [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]];
    }
}

fn shapes<B: AutodiffBackend>(dtype: DType, index: DType) -> Vec<TensorData> {
    [[2, 7], [1, 1], [3, 0]].into_iter().flat_map(|shape| case::<B>(dtype, index, shape)).collect()
}

/// The rows, and the gradient of the table.
fn case<B: AutodiffBackend>(dtype: DType, index: DType, shape: [usize; 2]) -> Vec<TensorData> {
    let table = floats::<B>(Layout::Contiguous, dtype, 0).reshape([6, 5]).require_grad();
    let module = Embedding { weight: Param::from_tensor(table) };
    let output = module.forward(indices(shape, 5, index));
    differentiate(output, |gradients| vec![gradient(&module.weight.val(), gradients)])
}
