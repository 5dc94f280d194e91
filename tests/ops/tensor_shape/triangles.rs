//! Triangles and diagonals.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};

use crate::agreement::Tolerance;
use crate::table::compare;

numbers! { [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme, Layout::Single];
    tril = |x| [-3, -1, 0, 1, 9].map(|diagonal| x.clone().tril(diagonal)).to_vec();
    triu = |x| [-3, -1, 0, 1, 9].map(|diagonal| x.clone().triu(diagonal)).to_vec();
}

#[test]
fn masks_and_unit_matrices() {
    fn case<B: Backend>(offset: i64) -> Vec<TensorData> {
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
    for offset in [-2, -1, 0, 1, 3] {
        let what = format!("masks with offset {offset}");
        compare(
            &what,
            Tolerance::Exact,
            || case::<burn_flex::Flex>(offset),
            || case::<burn_mpsgraph::MpsGraph>(offset),
        );
    }
}
