//! `Embedding`, with indices that repeat.

use burn::backend::Autodiff;
use burn::module::Param;
use burn::nn::Embedding;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, TensorData};

use crate::agreement::{FLOATS, Layout, Tolerance, floats};
use crate::gather::indices;
use crate::table::{compare, differentiate, gradient};

fn case<B: AutodiffBackend>(dtype: DType, index: DType, shape: [usize; 2]) -> Vec<TensorData> {
    let table = floats::<B>(Layout::Contiguous, dtype, 0).reshape([6, 5]).require_grad();
    let module = Embedding { weight: Param::from_tensor(table) };
    let output = module.forward(indices(shape, 5, index));
    differentiate(output, |gradients| vec![gradient(&module.weight.val(), gradients)])
}

#[test]
fn embedding_and_its_gradient() {
    for dtype in FLOATS {
        for index in [DType::I32, DType::I64, DType::U8] {
            for shape in [[2, 7], [1, 1], [3, 0]] {
                compare(
                    &format!("embedding of {dtype:?} by {index:?} {shape:?}"),
                    Tolerance::Exact,
                    || case::<Autodiff<burn_flex::Flex>>(dtype, index, shape),
                    || case::<Autodiff<burn_mpsgraph::MpsGraph>>(dtype, index, shape),
                );
            }
        }
    }
}
