//! Each option, with all gradients.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::deform_conv2d;
use burn::tensor::ops::DeformConvOptions;
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout, floats};

use super::{Operands, mask_shape, operands, quarters};
use crate::compare::{differentiate, gradient};

/// 16-bit results may be a unit in the last place apart.
const SUMS: Tolerance = RelativeOf([1e-5, 1e-3, 8e-3]);

// Names tell what is not 1, 0 or absent.
cases! {
    sums_autodiff(FLOATS, [Layout::Contiguous], SUMS) {
        plain = |_layout, dtype| of::<B>(dtype, [[2, 3, 5, 6], [4, 3, 3, 2]], same(1, 0, 1, [1, 1]), NOTHING);
        mask = |_layout, dtype| of::<B>(dtype, [[2, 3, 5, 6], [4, 3, 3, 2]], same(1, 0, 1, [1, 1]), MASK);
        bias = |_layout, dtype| of::<B>(dtype, [[2, 3, 5, 6], [4, 3, 3, 2]], same(1, 0, 1, [1, 1]), BIAS);
        mask_and_bias = |_layout, dtype| of::<B>(dtype, [[2, 3, 5, 6], [4, 3, 3, 2]], same(1, 0, 1, [1, 1]), BOTH);
        padding = |_layout, dtype| {
            of::<B>(dtype, [[2, 2, 4, 5], [3, 2, 3, 3]], options([[1, 1], [1, 2], [1, 1]], [1, 1]), BOTH)
        };
        stride = |_layout, dtype| {
            of::<B>(dtype, [[2, 2, 7, 8], [3, 2, 3, 3]], options([[2, 3], [1, 0], [1, 1]], [1, 1]), BOTH)
        };
        dilation = |_layout, dtype| {
            of::<B>(dtype, [[1, 2, 8, 7], [3, 2, 3, 2]], options([[1, 2], [0, 1], [2, 3], ], [1, 1]), BOTH)
        };
        weight_groups = |_layout, dtype| of::<B>(dtype, [[2, 4, 5, 5], [6, 2, 3, 3]], same(1, 1, 1, [2, 1]), BOTH);
        offset_groups = |_layout, dtype| of::<B>(dtype, [[2, 4, 5, 5], [3, 4, 3, 3]], same(1, 1, 1, [1, 2]), BOTH);
        equal_groups = |_layout, dtype| of::<B>(dtype, [[2, 4, 5, 5], [4, 2, 3, 3]], same(1, 1, 1, [2, 2]), BOTH);
        groups_that_overlap =
            |_layout, dtype| of::<B>(dtype, [[2, 12, 4, 4], [4, 6, 2, 3]], same(1, 1, 1, [2, 3]), BOTH);
        more_offset_groups =
            |_layout, dtype| of::<B>(dtype, [[1, 8, 4, 4], [4, 4, 3, 3]], same(1, 1, 1, [2, 4]), BOTH);
        more_weight_groups =
            |_layout, dtype| of::<B>(dtype, [[3, 8, 4, 4], [4, 2, 3, 3]], same(1, 1, 1, [4, 2]), BOTH);
        depthwise = |_layout, dtype| of::<B>(dtype, [[2, 3, 5, 4], [6, 1, 3, 3]], same(1, 1, 1, [3, 1]), BOTH);
        pointwise = |_layout, dtype| of::<B>(dtype, [[2, 4, 3, 4], [3, 4, 1, 1]], same(1, 0, 1, [1, 1]), BOTH);
        whole_input = |_layout, dtype| of::<B>(dtype, [[2, 2, 3, 4], [3, 2, 3, 4]], same(1, 0, 1, [1, 1]), BOTH);
        single = |_layout, dtype| of::<B>(dtype, [[1, 1, 1, 1], [1, 1, 1, 1]], same(1, 0, 1, [1, 1]), BOTH);
        // Most taps meet nothing.
        padding_beyond_the_filter =
            |_layout, dtype| of::<B>(dtype, [[1, 2, 2, 1], [2, 2, 2, 1]], same(1, 4, 1, [1, 1]), BOTH);
        everything = |_layout, dtype| {
            of::<B>(dtype, [[2, 4, 9, 8], [4, 2, 3, 2]], options([[2, 1], [1, 2], [2, 1]], [2, 4]), BOTH)
        };
    }

    // All operands lie otherwise; the offsets reach far outside.
    sums_autodiff(FLOATS, Layout::PLAIN, SUMS) {
        layouts = |layout, dtype| of_layout::<B>(layout, dtype);
    }

    sums(FLOATS, [Layout::Contiguous], SUMS) {
        many_pieces = |_layout, dtype| large::<B>(dtype);
    }
}

/// Whether there are mask and bias.
type Has = [bool; 2];

const NOTHING: Has = [false, false];
const MASK: Has = [true, false];
const BIAS: Has = [false, true];
const BOTH: Has = [true, true];

/// Stride, padding and dilation, then groups of weights and offsets.
fn options([stride, padding, dilation]: [[usize; 2]; 3], groups: [usize; 2]) -> DeformConvOptions<2> {
    DeformConvOptions::new(stride, padding, dilation, groups[0], groups[1])
}

fn same(stride: usize, padding: usize, dilation: usize, groups: [usize; 2]) -> DeformConvOptions<2> {
    options([stride, padding, dilation].map(|each| [each; 2]), groups)
}

fn of<B: AutodiffBackend>(
    dtype: DType,
    shapes: [[usize; 4]; 2],
    options: DeformConvOptions<2>,
    [has_mask, has_bias]: Has,
) -> Vec<TensorData> {
    let Operands { x, offset, weight } = operands::<B>(shapes, &options, dtype);
    let leaves = [x, offset, weight].map(Tensor::require_grad);
    let [x, offset, weight] = leaves.clone();
    let mask = has_mask.then(|| quarters::<B, 4>(mask_shape(shapes, &options), dtype, 3).require_grad());
    let bias = has_bias.then(|| quarters::<B, 1>([shapes[1][0]], dtype, 2).require_grad());
    let output = deform_conv2d(x, offset, weight, mask.clone(), bias.clone(), options);
    differentiate(output, |gradients| {
        let mut all: Vec<TensorData> = leaves.iter().map(|leaf| gradient(leaf, gradients)).collect();
        all.extend(mask.map(|mask| gradient(&mask, gradients)));
        all.extend(bias.map(|bias| gradient(&bias, gradients)));
        all
    })
}

/// Taps of one pixel; the layouts' tensors are of shape \[2, 5, 3\] or \[1, 1, 1\].
fn of_layout<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let leaves = [0, 1, 2, 3].map(|salt| floats::<B>(layout, dtype, salt).require_grad());
    let [x, places, mask, weight] = leaves.clone();
    let x = x.swap_dims(0, 1).unsqueeze_dim::<4>(0);
    let plane = |tensor: Tensor<B, 3>| tensor.narrow(1, 0, 1).swap_dims(0, 1).unsqueeze_dim::<4>(0);
    let offset = Tensor::cat(vec![plane(places.clone() / 2), plane(places)], 1);
    let weight = weight.narrow(2, 0, 1).unsqueeze_dim::<4>(3);
    let output = deform_conv2d(x, offset, weight, Some(plane(mask)), None, same(1, 0, 1, [1, 1]));
    differentiate(output, |gradients| leaves.iter().map(|leaf| gradient(leaf, gradients)).collect())
}

/// Large enough for several threads and panels.
fn large<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let of = |shapes, options| {
        let Operands { x, offset, weight } = operands::<B>(shapes, &options, dtype);
        deform_conv2d(x, offset, weight, None, None, options).into_data()
    };
    vec![
        of([[2, 16, 33, 31], [24, 16, 3, 3]], same(1, 1, 1, [1, 1])),
        of([[3, 32, 20, 20], [32, 8, 3, 3]], same(1, 1, 1, [4, 4])),
    ]
}
