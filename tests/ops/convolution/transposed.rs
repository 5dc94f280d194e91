//! Transposed convolutions in one, two and three dimensions, with their gradients.

use burn::tensor::DType;
use burn::tensor::module::conv_transpose2d;
use burn::tensor::ops::ConvTransposeOptions;
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout, floats};

use super::with_gradients;
use crate::compare::{differentiate, gradient};

/// burn-flex rounds 16-bit gradients more than once.
const SUMS: Tolerance = RelativeOf([1e-5, 1e-2, 3e-2]);

cases! {
    sums_autodiff(FLOATS, [Layout::Contiguous], SUMS) {
        conv_transpose1d_plain =
            |_layout, dtype| conv_transpose1d_of::<B>(dtype, [[2, 3, 5], [3, 4, 3]], options([1], [0], [0], [1], 1));
        conv_transpose1d_stride =
            |_layout, dtype| conv_transpose1d_of::<B>(dtype, [[2, 3, 4], [3, 2, 3]], options([2], [1], [1], [1], 1));
        conv_transpose1d_groups =
            |_layout, dtype| conv_transpose1d_of::<B>(dtype, [[2, 4, 4], [4, 3, 3]], options([3], [2], [2], [2], 2));
        conv_transpose1d_depthwise =
            |_layout, dtype| conv_transpose1d_of::<B>(dtype, [[2, 3, 4], [3, 1, 3]], options([2], [0], [1], [1], 3));
        conv_transpose2d_plain = |_layout, dtype| {
            conv_transpose2d_of::<B>(dtype, [[2, 3, 4, 3], [3, 2, 3, 2]], same(1, 0, 0, 1, 1))
        };
        conv_transpose2d_stride = |_layout, dtype| {
            let options = options([2, 3], [1, 0], [1, 2], [1, 1], 1);
            conv_transpose2d_of::<B>(dtype, [[2, 3, 4, 3], [3, 2, 3, 2]], options)
        };
        conv_transpose2d_dilation = |_layout, dtype| {
            let options = options([1, 2], [2, 1], [0, 0], [3, 2], 1);
            conv_transpose2d_of::<B>(dtype, [[1, 2, 4, 3], [2, 3, 3, 2]], options)
        };
        conv_transpose2d_groups = |_layout, dtype| {
            conv_transpose2d_of::<B>(dtype, [[2, 4, 3, 3], [4, 2, 2, 3]], same(2, 1, 1, 1, 2))
        };
        conv_transpose2d_depthwise = |_layout, dtype| {
            conv_transpose2d_of::<B>(dtype, [[2, 3, 3, 3], [3, 2, 3, 3]], same(2, 1, 1, 1, 3))
        };
        conv_transpose2d_pointwise = |_layout, dtype| {
            conv_transpose2d_of::<B>(dtype, [[2, 3, 3, 4], [3, 5, 1, 1]], same(1, 0, 0, 1, 1))
        };
        // More output padding than a stride, which undoes padding and goes beyond it.
        conv_transpose2d_output_padding = |_layout, dtype| {
            let options = options([1, 2], [2, 1], [1, 4], [1, 1], 1);
            conv_transpose2d_of::<B>(dtype, [[2, 2, 4, 3], [2, 3, 3, 3]], options)
        };
        conv_transpose3d_plain = |_layout, dtype| {
            conv_transpose3d_of::<B>(dtype, [[2, 2, 3, 2, 3], [2, 3, 2, 3, 2]], same(1, 0, 0, 1, 1))
        };
        conv_transpose3d_stride = |_layout, dtype| {
            let options = options([3, 2, 1], [1, 0, 1], [2, 1, 0], [1, 1, 2], 1);
            conv_transpose3d_of::<B>(dtype, [[1, 2, 3, 2, 3], [2, 2, 3, 2, 2]], options)
        };
        conv_transpose3d_groups = |_layout, dtype| {
            conv_transpose3d_of::<B>(dtype, [[2, 4, 2, 2, 2], [4, 1, 2, 2, 2]], same(2, 1, 1, 2, 2))
        };
        conv_transpose1d_single =
            |_layout, dtype| conv_transpose1d_of::<B>(dtype, [[1, 1, 1], [1, 1, 1]], same(1, 0, 0, 1, 1));
        conv_transpose2d_single =
            |_layout, dtype| conv_transpose2d_of::<B>(dtype, [[1, 1, 1, 1], [1, 1, 1, 1]], same(1, 0, 0, 1, 1));
    }

    // Output, and gradients through an operand that lies otherwise.
    sums_autodiff(FLOATS, Layout::PLAIN, SUMS) {
        conv_transpose2d_layouts = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0).unsqueeze_dim::<4>(0).require_grad();
            let weight = floats::<B>(layout, dtype, 1).unsqueeze_dim::<4>(1).require_grad();
            let output = conv_transpose2d(x.clone(), weight.clone(), None, same(2, 0, 1, 1, 1));
            differentiate(output, |gradients| vec![gradient(&x, gradients), gradient(&weight, gradients)])
        };
    }

    // The weights are ordinary, and no output is of none of them.
    sums([DType::F32], [Layout::Extreme], SUMS) {
        conv_transpose2d_extremes = |layout, dtype| {
            let weight = floats::<B>(Layout::Contiguous, dtype, 1) + 0.0625;
            let x = floats::<B>(layout, dtype, 0).unsqueeze_dim::<4>(0);
            conv_transpose2d(x, weight.unsqueeze_dim(1), None, same(1, 0, 0, 1, 1))
        };
    }
}

with_gradients! {
    conv_transpose1d_of(conv_transpose1d, 3, ConvTransposeOptions<1>, outputs);
    conv_transpose2d_of(conv_transpose2d, 4, ConvTransposeOptions<2>, outputs);
    conv_transpose3d_of(conv_transpose3d, 5, ConvTransposeOptions<3>, outputs);
}

fn outputs<const D: usize, const N: usize>(weight: &[usize; D], options: &ConvTransposeOptions<N>) -> usize {
    weight[1] * options.groups
}

fn options<const N: usize>(
    stride: [usize; N],
    padding: [usize; N],
    padding_out: [usize; N],
    dilation: [usize; N],
    groups: usize,
) -> ConvTransposeOptions<N> {
    ConvTransposeOptions::new(stride, padding, padding_out, dilation, groups)
}

fn same<const N: usize>(
    stride: usize,
    padding: usize,
    padding_out: usize,
    dilation: usize,
    groups: usize,
) -> ConvTransposeOptions<N> {
    options([stride; N], [padding; N], [padding_out; N], [dilation; N], groups)
}
