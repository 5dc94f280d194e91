//! `unfold4d`. burn-flex's result for padding and dilation is that of a convolution with ones and zeros.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::unfold4d;
use burn::tensor::ops::UnfoldOptions;
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout, distinct};

use crate::compare::{differentiate, gradient};

cases! {
    given(FLOATS, [Layout::Contiguous], Exact) {
        windows_of_images = |_layout, dtype| windows::<B>(dtype);
        padded_windows = |_layout, dtype| padded::<B>(dtype);
    }

    given([DType::F32], [Layout::Contiguous], Exact) {
        windows_of_no_images = |_layout, dtype| {
            let x = Tensor::<B, 4>::zeros([0, 2, 3, 3], (&B::Device::default(), dtype));
            unfold4d(x, [2, 2], UnfoldOptions::new([1, 1], [0, 0], [1, 1]))
        };
    }

    given_autodiff([DType::F32], [Layout::Contiguous], Exact) {
        gradient_of_windows = |_layout, dtype| gradients::<B>(dtype);
    }

    by_hand() {
        unfold4d = |x = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]|
            unfold4d(x, [1, 2], UnfoldOptions::new([1, 2], [0, 1], [1, 2]))
            => [[[0.0, 2.0, 0.0, 5.0], [2.0, 0.0, 5.0, 0.0]]];
    }
}

fn windows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let x = Tensor::<B, 4>::from_data(distinct([2, 3, 5, 4], dtype), (&B::Device::default(), dtype));
    let of = |x: &Tensor<B, 4>, kernel, stride| {
        unfold4d(x.clone(), kernel, UnfoldOptions::new(stride, [0, 0], [1, 1])).into_data()
    };
    vec![of(&x, [2, 2], [1, 1]), of(&x, [3, 1], [2, 3]), of(&x, [5, 4], [1, 1]), of(&x.swap_dims(2, 3), [1, 2], [1, 2])]
}

/// Kernel, stride, padding and dilation.
const PADDED: [[[usize; 2]; 4]; 7] = [
    [[2, 2], [1, 1], [1, 1], [1, 1]],
    [[3, 2], [2, 1], [1, 0], [1, 1]],
    [[2, 3], [1, 2], [0, 2], [2, 1]],
    [[2, 2], [1, 1], [0, 0], [3, 2]],
    [[1, 1], [1, 1], [2, 1], [1, 1]],
    [[1, 1], [2, 3], [0, 1], [4, 4]],
    [[7, 6], [1, 1], [1, 1], [1, 1]],
];

fn padded<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let x = Tensor::<B, 4>::from_data(distinct([2, 3, 5, 4], dtype), (&B::Device::default(), dtype));
    let of = |[kernel, stride, padding, dilation]: [[usize; 2]; 4]| {
        // burn-flex's 0 * -1 is -0.
        (unfold4d(x.clone(), kernel, UnfoldOptions::new(stride, padding, dilation)) + 0.0).into_data()
    };
    PADDED.into_iter().map(of).collect()
}

/// Without padding and dilation: otherwise autodiff makes a convolution of it.
fn gradients<B: AutodiffBackend>(dtype: DType) -> Vec<TensorData> {
    let leaf = Tensor::<B, 4>::from_data(distinct([2, 3, 5, 4], dtype), (&B::Device::default(), dtype)).require_grad();
    let unfolded = unfold4d(leaf.clone(), [2, 3], UnfoldOptions::new([1, 1], [0, 0], [1, 1]));
    differentiate(unfolded, |gradients| vec![gradient(&leaf, gradients)])
}

#[cfg(test)]
mod mistakes {
    use super::*;
    use burn_mpsgraph::MpsGraph;
    use test_support::assert_refused;

    #[test]
    fn windows_beyond_the_image() {
        let x = || Tensor::<MpsGraph, 4>::zeros([1, 1, 4, 5], &Default::default());
        let parts = ["unfold4d", "[3, 2]", "[1, 1, 4, 5]", "padding [0, 1]"];
        assert_refused(&parts, || unfold4d(x(), [3, 2], UnfoldOptions::new([1, 1], [0, 1], [2, 1])));
        assert_refused(&["unfold4d", "[0, 2]"], || unfold4d(x(), [0, 2], UnfoldOptions::new([1, 1], [0, 0], [1, 1])));
        let none = UnfoldOptions { stride: [0, 1], padding: [0, 0], dilation: [1, 1] };
        assert_refused(&["unfold4d", "stride [0, 1]"], || unfold4d(x(), [1, 2], none.clone()));
    }
}
