//! Filters of 256 elements and more, which are convolved in parts.

use burn::tensor::DType;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use test_support::Layout;
use test_support::Tolerance::Relative;

use super::with_gradients;

cases! {
    // burn-flex sums 16-bit floats in 16 bits, which so many show; `precision` has them.
    sums_autodiff([DType::F32], [Layout::Contiguous], Relative(3e-5)) {
        conv1d_256 =
            |_layout, dtype| of_1::<B>(dtype, [[2, 2, 300], [3, 2, 256]], ConvOptions::new([3], [0], [1], 1));
        conv1d_padding =
            |_layout, dtype| of_1::<B>(dtype, [[1, 1, 40], [2, 1, 300]], ConvOptions::new([1], [135], [1], 1));
        // Only a few taps meet elements of the input.
        conv1d_padding_on_both_sides =
            |_layout, dtype| of_1::<B>(dtype, [[1, 1, 3], [2, 1, 300]], ConvOptions::new([2], [149], [1], 1));
        conv1d_dilation =
            |_layout, dtype| of_1::<B>(dtype, [[2, 2, 600], [2, 1, 257]], ConvOptions::new([5], [10], [2], 2));
        conv2d_height_and_width = |_layout, dtype| {
            of_2::<B>(dtype, [[1, 1, 260, 258], [1, 1, 256, 257]], ConvOptions::new([2, 1], [0, 1], [1, 1], 1))
        };
        conv_transpose1d = |_layout, dtype| {
            transposed::<B>(dtype, [[2, 2, 5], [2, 3, 260]], ConvTransposeOptions::new([2], [20], [1], [1], 1))
        };
    }
}

with_gradients! {
    of_1(conv1d, 3, ConvOptions<1>, |weight: &[usize; 3], _: &ConvOptions<1>| weight[0]);
    of_2(conv2d, 4, ConvOptions<2>, |weight: &[usize; 4], _: &ConvOptions<2>| weight[0]);
    transposed(conv_transpose1d, 3, ConvTransposeOptions<1>, |weight: &[usize; 3], _: &_| weight[1]);
}
