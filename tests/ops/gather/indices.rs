//! Indices of every integer dtype, and more of them than small kernels see.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};

use super::indices;
use crate::agreement::Tolerance;
use crate::table::{INTEGERS, compare, distinct};

#[test]
fn indices_of_every_integer_dtype() {
    fn case<B: Backend>(dtype: DType) -> Vec<TensorData> {
        let device = B::Device::default();
        let x = Tensor::<B, 2, Int>::from_data(distinct([5, 3], DType::I64), (&device, DType::I64));
        vec![
            x.clone().gather(0, indices([4, 3], 5, dtype)).into_data(),
            x.clone().select(0, indices([6], 5, dtype)).into_data(),
            x.clone().take::<2, 3>(1, indices([2, 2], 3, dtype)).into_data(),
            x.gather_nd::<2, 1>(indices([4, 2], 3, dtype)).into_data(),
        ]
    }
    for dtype in INTEGERS {
        let what = format!("indices of {dtype:?}");
        compare(&what, Tolerance::Exact, || case::<burn_flex::Flex>(dtype), || case::<burn_mpsgraph::MpsGraph>(dtype));
    }
}

#[test]
fn many_rows_move_exactly() {
    fn case<B: Backend>(dtype: DType) -> Vec<TensorData> {
        let device = B::Device::default();
        let x = Tensor::<B, 2, Int>::from_data(distinct([1000, 17], dtype), (&device, dtype));
        vec![
            x.clone().select(0, indices([3000], 1000, DType::I32)).into_data(),
            x.clone().gather(0, indices([500, 17], 1000, DType::I32)).into_data(),
            x.swap_dims(0, 1).gather(1, indices([17, 400], 1000, DType::I32)).into_data(),
        ]
    }
    for dtype in [DType::I32, DType::I64, DType::U32, DType::U64] {
        let what = format!("many rows of {dtype:?}");
        compare(&what, Tolerance::Exact, || case::<burn_flex::Flex>(dtype), || case::<burn_mpsgraph::MpsGraph>(dtype));
    }
}
