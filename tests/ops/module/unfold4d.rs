//! `unfold4d`, which Burn composes of slices and permutations, or of a convolution if there is padding or dilation.

use burn::tensor::backend::Backend;
use burn::tensor::module::unfold4d;
use burn::tensor::ops::UnfoldOptions;
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout, distinct};

cases! {
    given(FLOATS, [Layout::Contiguous], Exact) {
        windows_of_images = |_layout, dtype| windows::<B>(dtype);
        windows_of_padded_images = |_layout, dtype| padded::<B>(dtype);
    }
}

fn windows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let x = Tensor::<B, 4>::from_data(distinct([2, 3, 5, 4], dtype), (&B::Device::default(), dtype));
    let of = |x: &Tensor<B, 4>, kernel, stride| {
        unfold4d(x.clone(), kernel, UnfoldOptions::new(stride, [0, 0], [1, 1])).into_data()
    };
    vec![of(&x, [2, 2], [1, 1]), of(&x, [3, 1], [2, 3]), of(&x, [5, 4], [1, 1]), of(&x.swap_dims(2, 3), [1, 2], [1, 2])]
}

fn padded<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let x = Tensor::<B, 4>::from_data(distinct([2, 3, 5, 4], dtype), (&B::Device::default(), dtype));
    let of = |kernel, options| unfold4d(x.clone(), kernel, options).into_data();
    vec![of([2, 2], UnfoldOptions::new([1, 2], [1, 0], [1, 1])), of([3, 2], UnfoldOptions::new([2, 1], [1, 2], [2, 3]))]
}
