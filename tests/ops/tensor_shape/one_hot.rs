//! Classes as rows with a single one.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{INTEGERS, Layout, integer_data};

cases! {
    given(INTEGERS, [Layout::Contiguous], Exact) {
        one_hot = |_layout, dtype| rows::<B>(dtype);
    }
}

fn rows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let classes = integer_data(&[3, 0, 4, 1, 1, 2], vec![2, 3], dtype);
    let ints = Tensor::<B, 2, Int>::from_data(classes.clone(), (&device, dtype));
    let floats = Tensor::<B, 2>::from_data(classes.convert_dtype(DType::F32), (&device, DType::F32));
    vec![
        ints.clone().one_hot::<3>(5).into_data(),
        ints.clone().swap_dims(0, 1).one_hot::<3>(7).into_data(),
        ints.clone().one_hot_fill::<3>(5, 4.0, 2.0, 0).into_data(),
        ints.one_hot_fill::<3>(5, 1.0, 3.0, 1).into_data(),
        floats.clone().one_hot::<3>(5).into_data(),
        floats.one_hot_fill::<3>(6, 2.5, -1.5, -1).into_data(),
    ]
}
