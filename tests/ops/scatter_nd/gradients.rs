//! Gradients of writes by index, for the data and for the values.

use burn::backend::Autodiff;
use burn::tensor::{DType, IndexingUpdateOp, TensorData, backend::AutodiffBackend};

use super::ORDINARY;
use crate::agreement::{FLOATS, Layout, Tolerance, floats};
use crate::gather::indices;
use crate::table::{compare, differentiate, gradient};

gradients! { Tolerance::Exact, ORDINARY;
    scatter_into = |x| {
        let values = floats(Layout::Transposed, x.dtype(), 3);
        x.scatter(1, indices([2, 5, 3], 5, DType::I32), values, IndexingUpdateOp::Add)
    };
    select_assign_into = |x| {
        let values = floats(Layout::Sliced, x.dtype(), 3);
        x.select_assign(1, indices([5], 5, DType::I32), values, IndexingUpdateOp::Add)
    };
}

#[test]
fn of_the_values() {
    fn case<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
        let (data, values) = (floats::<B>(Layout::Contiguous, dtype, 1), floats::<B>(layout, dtype, 0).require_grad());
        let scattered =
            data.clone().scatter(2, indices([2, 5, 3], 3, DType::I32), values.clone(), IndexingUpdateOp::Add);
        let assigned = data.select_assign(0, indices([2], 2, DType::I32), values.clone(), IndexingUpdateOp::Add);
        let mut all = differentiate(scattered, |gradients| vec![gradient(&values, gradients)]);
        all.extend(differentiate(assigned, |gradients| vec![gradient(&values, gradients)]));
        all
    }
    for layout in ORDINARY {
        for dtype in FLOATS {
            compare(
                &format!("gradient of the values of {dtype:?}, {layout:?}"),
                Tolerance::Exact,
                || case::<Autodiff<burn_flex::Flex>>(layout, dtype),
                || case::<Autodiff<burn_mpsgraph::MpsGraph>>(layout, dtype),
            );
        }
    }
}
