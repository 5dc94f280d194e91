//! Indices of every integer dtype, and more of them than small kernels see.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{INTEGERS, Layout, distinct};

use super::indices;

cases! {
    given(INTEGERS, [Layout::Contiguous], Exact) {
        indices_of_every_integer_dtype = |_layout, dtype| by::<B>(dtype);
    }

    given([DType::I32, DType::I64, DType::U32, DType::U64], [Layout::Contiguous], Exact) {
        many_rows_move_exactly = |_layout, dtype| many_rows::<B>(dtype);
    }
}

/// Reads by indices of `dtype`.
fn by<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let x = Tensor::<B, 2, Int>::from_data(distinct([5, 3], DType::I64), (&device, DType::I64));
    vec![
        x.clone().gather(0, indices([4, 3], 5, dtype)).into_data(),
        x.clone().select(0, indices([6], 5, dtype)).into_data(),
        x.clone().take::<2, 3>(1, indices([2, 2], 3, dtype)).into_data(),
        x.gather_nd::<2, 1>(indices([4, 2], 3, dtype)).into_data(),
    ]
}

fn many_rows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let x = Tensor::<B, 2, Int>::from_data(distinct([1000, 17], dtype), (&device, dtype));
    vec![
        x.clone().select(0, indices([3000], 1000, DType::I32)).into_data(),
        x.clone().gather(0, indices([500, 17], 1000, DType::I32)).into_data(),
        x.swap_dims(0, 1).gather(1, indices([17, 400], 1000, DType::I32)).into_data(),
    ]
}
