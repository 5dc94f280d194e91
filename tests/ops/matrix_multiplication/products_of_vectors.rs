//! What Burn composes of products: dot, outer, matrix times vector.

use burn::tensor::backend::Backend;
use burn::tensor::linalg::{matvec, outer, trace};
use burn::tensor::{Tensor, TensorData};

use crate::agreement::Layout;
use crate::agreement::{FLOATS, Tolerance, floats};
use crate::table::compare;

#[test]
fn dot_outer_and_matvec() {
    fn case<B: Backend>(layout: Layout, dtype: burn::tensor::DType) -> Vec<TensorData> {
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
    for layout in [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Single] {
        for dtype in FLOATS {
            compare(
                &format!("vectors of {dtype:?}, {layout:?}"),
                Tolerance::Relative(1e-2),
                || case::<burn_flex::Flex>(layout, dtype),
                || case::<burn_mpsgraph::MpsGraph>(layout, dtype),
            );
        }
    }
}
