//! Quantized elements in order, their magnitudes, and tensors joined.
//!
//! With one scale no element changes its value by being sorted; burn-flex computes a new scale, and compares the
//! integers without looking at the sign of the scale or at those of blocks. So these are held against the floats.

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantizationParameters};
use burn::tensor::{DType, Tensor};
use burn_mpsgraph::{MpsGraph, eagerly};
use test_support::{Layout, floats};

use super::moves::assert_keeps_values;
use super::{Q2S, Q4F, Q4S, Q8F, Q8S, VALUES, by};

cases! {
    by_hand() {
        q_abs = |x = [1.0, -127.0, 3.0, -0.4]| of_floats(x, Tensor::abs) => [1.0, 127.0, 3.0, 0.0];
        q_argmax = |x = [[1.0, 127.0, 127.0], [3.0, -5.0, 2.0]]| steps(x).argmax(1) => [[1], [0]];
        q_argmin = |x = [[1.0, 127.0, 1.2], [3.0, -5.0, 2.0]]| steps(x).argmin(1) => [[0], [1]];
        q_argsort = |x = [2.0, -127.0, 1.9, 5.0]| steps(x).argsort(0) => [1, 0, 2, 3];
        q_argtopk = |x = [2.0, 127.0, 1.9, 5.0]| steps(x).argtopk(3, 0) => [1, 3, 0];
        q_cat = |x = [2.0, 127.0], y = [-254.0, 3.2]| {
            let y = steps(y);
            of_floats(x, |x| Tensor::cat(vec![x, y], 0))
        } => [2.0, 128.0, -254.0, 4.0];
        q_max_abs_dim = |x = [[2.0, -127.0], [5.0, 3.0]]| of_floats(x, |x| x.max_abs_dim(1)) => [[127.0], [5.0]];
        q_max_abs = |x = [2.0, -127.0, 5.0]| of_floats(x, Tensor::max_abs) => [127.0];
        q_sort = |x = [2.0, -127.0, 1.2, 5.0]| of_floats(x, |x| x.sort_descending(0)) => [5.0, 2.0, 1.0, -127.0];
        q_sort_with_indices = |x = [2.0, -127.0, 1.2, 5.0]| steps(x).sort_with_indices(0).1 => [1, 2, 0, 3];
        q_topk = |x = [2.0, -127.0, 1.2, 5.0]| of_floats(x, |x| x.topk(2, 0)) => [5.0, 2.0];
    }
}

/// With the largest magnitude of 127 a step is 1.
fn steps<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    x.quantize_dynamic(&by(Q8S, QuantLevel::Tensor))
}

/// The floats that `function` makes of [`steps`].
pub(super) fn of_floats<B: Backend, const D: usize, const E: usize>(
    x: Tensor<B, D>,
    function: impl FnOnce(Tensor<B, D>) -> Tensor<B, E>,
) -> Tensor<B, E> {
    let dtype = x.dtype();
    function(steps(x)).dequantize().cast(dtype)
}

/// Sorted and selected, the elements of one scale.
#[test]
fn one_scale_stays() {
    for value in VALUES {
        let scheme = by(value, QuantLevel::Tensor);
        assert_keeps_values(scheme, "sort", |x| x.sort(1));
        assert_keeps_values(scheme, "sort_descending", |x| x.sort_descending(2));
        assert_keeps_values(scheme, "sort_with_indices", |x| x.sort_with_indices(0).0);
        assert_keeps_values(scheme, "topk", |x| x.topk(3, 1));
        assert_keeps_values(scheme, "topk of the lowest", |x| x.slice([0..2, 0..5, 0..2]).topk(1, 2));
        assert_keeps_values(scheme, "max", |x| x.max());
        assert_keeps_values(scheme, "max_dim", |x| x.max_dim(1));
        assert_keeps_values(scheme, "max_dim_with_indices", |x| x.max_dim_with_indices(1).0);
        assert_keeps_values(scheme, "min", |x| x.min());
        assert_keeps_values(scheme, "min_dim", |x| x.min_dim(2));
        assert_keeps_values(scheme, "min_dim_with_indices", |x| x.min_dim_with_indices(2).0);
    }
}

/// Signed values have a counterpart each.
#[test]
fn magnitudes_keep_their_scales() {
    for value in [Q8S, Q4S, Q2S] {
        for level in [QuantLevel::Tensor, QuantLevel::block([3])] {
            assert_keeps_values(by(value, level), "abs", |x| x.abs());
        }
        let scheme = by(value, QuantLevel::Tensor);
        assert_keeps_values(scheme, "max_abs", |x| x.max_abs());
        assert_keeps_values(scheme, "max_abs_dim", |x| x.max_abs_dim(1));
    }
    // The lowest integer of the others has none: every element gets a new scale, half a step away at most.
    for value in [Q8F, Q4F] {
        let x = floats::<MpsGraph>(Layout::Contiguous, DType::F32, 0).quantize_dynamic(&by(value, QuantLevel::Tensor));
        let (low, high) = value.range();
        let step = x.clone().dequantize().abs().max().into_scalar() * 2.0 / (high - low);
        let difference = (x.clone().abs().dequantize() - x.dequantize().abs()).abs().max().into_scalar();
        assert!(difference <= step * 0.51, "{value:?}: {difference} by steps of {step}");
    }
}

/// Whole blocks are joined as they are, also along the first axis.
#[test]
fn joined_blocks_keep_their_scales() {
    let joined = |x: Tensor<MpsGraph, 3>, dim| {
        let parts = vec![x.clone(), x.clone().flip([0]), x.slice([0..2, 0..5, 0..6])];
        Tensor::cat(parts, dim)
    };
    for value in VALUES {
        for level in [QuantLevel::block([3]), QuantLevel::block([6])] {
            for dim in 0..3 {
                assert_keeps_values(by(value, level), "cat", |x| joined(x, dim));
            }
        }
        assert_keeps_values(by(value, QuantLevel::block([30])), "cat", |x| joined(x, 0));
        assert_keeps_values(by(value, QuantLevel::Tensor), "cat of one", |x| Tensor::cat(vec![x], 1));
    }
}

/// What cannot stay gets the scales that the joined floats ask for.
#[test]
fn others_are_quantized_anew() {
    let joined = |tensors: [Tensor<MpsGraph, 3>; 2], scheme: &QuantScheme, dim| {
        let floats = tensors.clone().map(Tensor::dequantize).to_vec();
        let expected = Tensor::cat(floats, dim).quantize_dynamic(scheme).dequantize().into_data();
        let cat = || Tensor::cat(tensors.to_vec(), dim).dequantize().into_data();
        assert_eq!(cat(), expected, "{scheme:?}");
        assert_eq!(eagerly(cat), expected, "{scheme:?}");
    };
    let x = |salt| floats::<MpsGraph>(Layout::Contiguous, DType::F32, salt) * (salt + 1) as f32;
    for value in VALUES {
        let one = by(value, QuantLevel::Tensor);
        joined([x(0).quantize_dynamic(&one), x(1).quantize_dynamic(&one)], &one, 1);
        let (three, fifteen) = (by(value, QuantLevel::block([3])), by(value, QuantLevel::block([15])));
        joined([x(0).quantize_dynamic(&fifteen), x(1).quantize_dynamic(&fifteen)], &fifteen, 2);
        joined([x(0).quantize_dynamic(&three), x(1).quantize_dynamic(&one)], &three, 1);
    }
}

/// A negative scale turns the order round; blocks have an order beyond their integers'.
#[test]
fn the_order_is_that_of_the_floats() {
    let x = || floats::<MpsGraph>(Layout::Contiguous, DType::F32, 0);
    let quantized = VALUES.into_iter().flat_map(|value| {
        let scales = Tensor::from_data([-0.5f32], &Default::default());
        let blocks = x() * x().slice([0..1, 0..5, 0..1]).expand([2, 5, 3]);
        [
            x().quantize(&by(value, QuantLevel::Tensor), QuantizationParameters { scales }),
            blocks.quantize_dynamic(&by(value, QuantLevel::block([3]))),
        ]
    });
    for x in quantized {
        let floats = x.clone().dequantize();
        let what = format!("{:?}", x.dtype());
        for dim in 0..3 {
            let pairs = [
                (x.clone().argsort(dim), floats.clone().argsort(dim)),
                (x.clone().argsort_descending(dim), floats.clone().argsort_descending(dim)),
                (x.clone().argmax(dim), floats.clone().argmax(dim)),
                (x.clone().argmin(dim), floats.clone().argmin(dim)),
                (x.clone().argtopk(1, dim), floats.clone().argtopk(1, dim)),
            ];
            for (found, expected) in pairs {
                assert_eq!(found.into_data(), expected.into_data(), "{what}, dim {dim}");
            }
        }
        if super::scheme_of(&x).level == QuantLevel::Tensor {
            assert_eq!(x.clone().sort(1).dequantize().into_data(), floats.clone().sort(1).into_data(), "{what}");
            assert_eq!(x.topk(4, 1).dequantize().into_data(), floats.topk(4, 1).into_data(), "{what}");
        }
    }
}
