//! Convolutions in one, two and three dimensions, with their gradients.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, PaddedConvOptions};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::{self, RelativeOf, Within};
use test_support::{FLOATS, Layout, floats};

use super::{quarters, with_gradients};
use crate::compare::{differentiate, gradient};

/// burn-flex rounds 16-bit gradients more than once.
const SUMS: Tolerance = RelativeOf([1e-5, 1e-2, 3e-2]);

// Names tell what is not 1 or 0.
cases! {
    sums_autodiff(FLOATS, [Layout::Contiguous], SUMS) {
        conv1d_plain = |_layout, dtype| conv1d_of::<B>(dtype, [[2, 3, 9], [4, 3, 3]], options([1], [0], [1], 1));
        conv1d_stride = |_layout, dtype| conv1d_of::<B>(dtype, [[2, 3, 10], [4, 3, 3]], options([2], [1], [1], 1));
        conv1d_dilation = |_layout, dtype| conv1d_of::<B>(dtype, [[1, 3, 11], [2, 3, 3]], options([1], [2], [3], 1));
        conv1d_groups = |_layout, dtype| conv1d_of::<B>(dtype, [[2, 4, 8], [6, 2, 3]], options([3], [2], [2], 2));
        conv1d_depthwise = |_layout, dtype| conv1d_of::<B>(dtype, [[2, 3, 8], [6, 1, 3]], options([1], [1], [1], 3));
        conv1d_single = |_layout, dtype| conv1d_of::<B>(dtype, [[1, 1, 1], [1, 1, 1]], options([1], [0], [1], 1));
        conv2d_single = |_layout, dtype| conv2d_of::<B>(dtype, [[1, 1, 1, 1], [1, 1, 1, 1]], same(1, 0, 1, 1));
        conv2d_plain = |_layout, dtype| conv2d_of::<B>(dtype, [[2, 3, 6, 5], [4, 3, 3, 2]], same(1, 0, 1, 1));
        conv2d_padding =
            |_layout, dtype| conv2d_of::<B>(dtype, [[2, 3, 4, 5], [2, 3, 3, 3]], options([1, 1], [1, 2], [1, 1], 1));
        conv2d_stride =
            |_layout, dtype| conv2d_of::<B>(dtype, [[2, 2, 8, 9], [3, 2, 3, 3]], options([2, 3], [1, 0], [1, 1], 1));
        conv2d_dilation =
            |_layout, dtype| conv2d_of::<B>(dtype, [[1, 2, 8, 9], [3, 2, 3, 2]], options([1, 2], [2, 1], [3, 2], 1));
        conv2d_groups = |_layout, dtype| conv2d_of::<B>(dtype, [[2, 6, 5, 5], [4, 3, 2, 3]], same(1, 1, 1, 2));
        conv2d_depthwise = |_layout, dtype| conv2d_of::<B>(dtype, [[2, 3, 6, 6], [3, 1, 3, 3]], same(2, 1, 1, 3));
        conv2d_depthwise_multiplied =
            |_layout, dtype| conv2d_of::<B>(dtype, [[2, 2, 5, 5], [6, 1, 3, 3]], same(1, 1, 1, 2));
        conv2d_pointwise = |_layout, dtype| conv2d_of::<B>(dtype, [[2, 5, 3, 4], [3, 5, 1, 1]], same(1, 0, 1, 1));
        conv2d_pointwise_stride =
            |_layout, dtype| conv2d_of::<B>(dtype, [[2, 4, 5, 4], [4, 2, 1, 1]], same(2, 0, 1, 2));
        conv2d_whole_input = |_layout, dtype| conv2d_of::<B>(dtype, [[2, 2, 3, 4], [3, 2, 3, 4]], same(1, 0, 1, 1));
        conv2d_padding_beyond_the_filter =
            |_layout, dtype| conv2d_of::<B>(dtype, [[1, 2, 2, 1], [2, 2, 2, 1]], same(1, 3, 1, 1));
        conv3d_single =
            |_layout, dtype| conv3d_of::<B>(dtype, [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1]], same(1, 0, 1, 1));
        conv3d_plain =
            |_layout, dtype| conv3d_of::<B>(dtype, [[2, 2, 4, 3, 3], [3, 2, 3, 2, 2]], same(1, 0, 1, 1));
        conv3d_padding =
            |_layout, dtype| conv3d_of::<B>(dtype, [[1, 2, 2, 3, 3], [2, 2, 3, 3, 3]], same(1, 1, 1, 1));
        conv3d_stride = |_layout, dtype| {
            conv3d_of::<B>(dtype, [[2, 2, 6, 4, 5], [2, 2, 3, 2, 2]], options([2, 1, 3], [1, 0, 1], [1, 1, 1], 1))
        };
        conv3d_dilation = |_layout, dtype| {
            conv3d_of::<B>(dtype, [[1, 2, 7, 4, 5], [2, 2, 3, 2, 2]], options([2, 1, 1], [1, 1, 0], [2, 3, 1], 1))
        };
        conv3d_groups =
            |_layout, dtype| conv3d_of::<B>(dtype, [[2, 4, 3, 3, 2], [6, 2, 2, 2, 2]], same(1, 1, 1, 2));
        conv3d_depthwise =
            |_layout, dtype| conv3d_of::<B>(dtype, [[2, 3, 3, 3, 2], [3, 1, 2, 2, 1]], same(1, 0, 1, 3));
        conv3d_flat =
            |_layout, dtype| conv3d_of::<B>(dtype, [[2, 2, 3, 3, 2], [3, 2, 1, 2, 2]], same(1, 0, 1, 1));
    }

    // Enough channels and pixels for fewer products by tiles, after Winograd. The sums are multiples of 1/16, exact in
    // burn-flex whatever the order; tiles larger than 2x2 have factors that round, by less than this.
    sums_autodiff([DType::F32], [Layout::Contiguous], Within { absolute: 1e-3, relative: 1e-5 }) {
        conv2d_many_channels =
            |_layout, dtype| conv2d_of::<B>(dtype, [[1, 32, 20, 20], [32, 32, 3, 3]], same(1, 1, 1, 1));
    }

    // More images than 16 bits count, also by depth.
    sums_autodiff([DType::F32], [Layout::Contiguous], SUMS) {
        conv1d_many_images =
            |_layout, dtype| conv1d_of::<B>(dtype, [[65_537, 1, 2], [2, 1, 1]], options([1], [0], [1], 1));
        conv1d_long_filter_over_many_images =
            |_layout, dtype| conv1d_of::<B>(dtype, [[65_537, 1, 1], [1, 1, 257]], options([1], [128], [1], 1));
        conv3d_many_planes =
            |_layout, dtype| conv3d_of::<B>(dtype, [[2, 1, 32_769, 1, 1], [1, 1, 1, 1, 1]], same(1, 0, 1, 1));
    }

    // More channels than MPSGraph gets right, also by depth and in one group of two.
    sums_autodiff([DType::F32], [Layout::Contiguous], SUMS) {
        conv1d_many_outputs =
            |_layout, dtype| conv1d_of::<B>(dtype, [[2, 2, 3], [65_537, 2, 2]], options([2], [1], [1], 1));
        conv1d_many_inputs =
            |_layout, dtype| conv1d_of::<B>(dtype, [[2, 65_537, 2], [2, 65_537, 1]], options([1], [0], [1], 1));
        conv2d_many_groups =
            |_layout, dtype| conv2d_of::<B>(dtype, [[1, 65_537, 2, 3], [131_074, 1, 2, 2]], same(1, 0, 1, 65_537));
        conv2d_wide_groups =
            |_layout, dtype| conv2d_of::<B>(dtype, [[1, 131_080, 1, 2], [4, 65_540, 1, 2]], same(1, 0, 1, 2));
        conv3d_many_taps =
            |_layout, dtype| conv3d_of::<B>(dtype, [[1, 32_800, 3, 1, 1], [2, 32_800, 2, 1, 1]], same(1, 0, 1, 1));
    }

    // Output, and gradients through an operand that lies otherwise.
    sums_autodiff(FLOATS, Layout::PLAIN, SUMS) {
        conv1d_layouts = |layout, dtype| of_layout::<B>(layout, dtype);
        conv2d_layouts = |layout, dtype| {
            let [x, weight] = [0, 1].map(|salt| floats::<B>(layout, dtype, salt).unsqueeze_dim::<4>(1).require_grad());
            let output = conv2d(x.clone(), weight.clone(), None, options([2, 1], [3, 1], [1, 1], 1));
            differentiate(output, |gradients| vec![gradient(&x, gradients), gradient(&weight, gradients)])
        };
        conv3d_layouts = |layout, dtype| {
            let [x, weight] = [0, 1].map(|salt| {
                floats::<B>(layout, dtype, salt).unsqueeze_dims::<5>(&[1, 1]).require_grad()
            });
            let output = conv3d(x.clone(), weight.clone(), None, options([1, 1, 2], [0, 2, 1], [1, 1, 1], 1));
            differentiate(output, |gradients| vec![gradient(&x, gradients), gradient(&weight, gradients)])
        };
    }

    // Burn pads such operands first, which burn-flex fails to do in 16 bits.
    sums_autodiff([DType::F32], [Layout::Contiguous], SUMS) {
        conv2d_padding_by_side = |_layout, dtype| by_side::<B>(dtype);
    }

    // The weights are ordinary, so padding adds zeros.
    sums([DType::F32], [Layout::Extreme], SUMS) {
        conv1d_extremes = |layout, dtype| extremes::<B>(layout, dtype);
        conv2d_extremes = |layout, dtype| {
            let weight = floats::<B>(Layout::Contiguous, dtype, 1) + 0.0625;
            let options = options([1, 1], [1, 2], [1, 1], 1);
            conv2d(floats::<B>(layout, dtype, 0).unsqueeze_dim::<4>(1), weight.unsqueeze_dim(1), None, options)
        };
        conv3d_extremes = |layout, dtype| {
            let weight = floats::<B>(Layout::Contiguous, dtype, 1) + 0.0625;
            let x = floats::<B>(layout, dtype, 0).unsqueeze_dims::<5>(&[1, 1]);
            conv3d(x, weight.unsqueeze_dims(&[1, 1]), None, options([1, 1, 1], [0, 1, 2], [1, 1, 1], 1))
        };
    }

    sums(FLOATS, [Layout::Contiguous], SUMS) {
        conv2d_many_pieces = |_layout, dtype| many_pieces::<B>(dtype);
    }
}

with_gradients! {
    conv1d_of(conv1d, 3, ConvOptions<1>, |weight: &[usize; 3], _: &ConvOptions<1>| weight[0]);
    conv2d_of(conv2d, 4, ConvOptions<2>, |weight: &[usize; 4], _: &ConvOptions<2>| weight[0]);
    conv3d_of(conv3d, 5, ConvOptions<3>, |weight: &[usize; 5], _: &ConvOptions<3>| weight[0]);
}

fn options<const N: usize>(
    stride: [usize; N],
    padding: [usize; N],
    dilation: [usize; N],
    groups: usize,
) -> ConvOptions<N> {
    ConvOptions::new(stride, padding, dilation, groups)
}

fn same<const N: usize>(stride: usize, padding: usize, dilation: usize, groups: usize) -> ConvOptions<N> {
    options([stride; N], [padding; N], [dilation; N], groups)
}

fn of_layout<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let [x, weight] = [0, 1].map(|salt| floats::<B>(layout, dtype, salt).require_grad());
    let output = conv1d(x.clone(), weight.clone(), None, options([1], [2], [1], 1));
    differentiate(output, |gradients| vec![gradient(&x, gradients), gradient(&weight, gradients)])
}

fn by_side<B: AutodiffBackend>(dtype: DType) -> Vec<TensorData> {
    let x = quarters::<B, 4>([2, 2, 4, 5], dtype, 0).require_grad();
    let weight = quarters::<B, 4>([3, 2, 3, 2], dtype, 1).require_grad();
    let options = PaddedConvOptions::asymmetric([2, 1], [1, 0], [0, 2], [1, 1], 1);
    let output = conv2d(x.clone(), weight.clone(), None, options);
    differentiate(output, |gradients| vec![gradient(&x, gradients), gradient(&weight, gradients)])
}

fn extremes<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 3> {
    let weight = floats::<B>(Layout::Contiguous, dtype, 1) + 0.0625;
    conv1d(floats(layout, dtype, 0), weight, None, options([1], [1], [1], 1))
}

/// Large enough for several threads and panels.
fn many_pieces<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let of = |x, weight, options| {
        conv2d(quarters::<B, 4>(x, dtype, 0), quarters(weight, dtype, 1), None, options).into_data()
    };
    vec![
        of([2, 16, 33, 31], [24, 16, 3, 3], same(1, 1, 1, 1)),
        of([3, 32, 20, 20], [32, 1, 5, 5], same(1, 2, 1, 32)),
        of([2, 32, 24, 24], [48, 32, 1, 1], same(1, 0, 1, 1)),
    ]
}
