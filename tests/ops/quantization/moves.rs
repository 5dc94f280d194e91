//! Moving the elements of a quantized tensor.
//!
//! What leaves blocks whole changes no value here, and neither does any repetition. burn-flex computes new scales then
//! and loses a part of a step; so these are held against the moved floats.

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantScheme};
use burn::tensor::{DType, Int, Tensor, TensorData, TensorPrimitive, s};
use burn_mpsgraph::{MpsGraph, eagerly};
use test_support::Tolerance::Exact;
use test_support::{Layout, floats};

use super::order::of_floats;
use super::{VALUES, both, by};

const LAYOUTS: [Layout; 5] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme];

cases! {
    given([DType::F32], LAYOUTS, Exact) {
        of_one_scale = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            let each = VALUES.map(|value| moved(x.clone().quantize_dynamic(&by(value, QuantLevel::Tensor))));
            each.into_iter().flatten().collect::<Vec<_>>()
        };
        that_take_blocks_apart = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            let blocks = [QuantLevel::block([6]), QuantLevel::block([3, 5]), QuantLevel::block([30])];
            let schemes = VALUES.into_iter().flat_map(|value| blocks.map(|level| by(value, level)));
            schemes.flat_map(|scheme| apart(x.clone().quantize_dynamic(&scheme))).collect::<Vec<_>>()
        };
        of_what_was_computed = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0).quantize_dynamic(&by(VALUES[3], QuantLevel::Tensor));
            [both(x.clone().max_dim(1)), both(x.clone().min()),
             vec![x.clone().argmax(2).into_data(), x.clone().cumsum(1).into_data()],
             both(Tensor::cat(vec![x.clone(), x.clone().flip([1])], 0)), vec![(x.clone() + x.clone()).into_data()],
             vec![(x * 2.0).into_data()]].concat()
        };
    }
    by_hand() {
        q_expand = |x = [[2.0], [-127.0]]| of_floats(x, |x| expand(x, [2, 2])) => [[2.0, 2.0], [-127.0, -127.0]];
        q_flip = |x = [[1.0, 2.2], [3.0, 127.0]]| of_floats(x, |x| x.flip([0])) => [[3.0, 127.0], [1.0, 2.0]];
        q_gather = |x = [[1.0, 2.2], [3.0, 127.0]]| {
            of_floats(x, |x| x.gather(1, indices([[1], [0]])))
        } => [[2.0], [3.0]];
        q_permute = |x = [[1.0, 2.2], [3.0, 127.0]]| of_floats(x, |x| x.permute([1, 0])) => [[1.0, 3.0], [2.0, 127.0]];
        q_repeat_dim = |x = [[1.0, 127.0]]| of_floats(x, |x| x.repeat_dim(0, 2)) => [[1.0, 127.0], [1.0, 127.0]];
        q_reshape = |x = [[1.0, 2.2], [3.0, 127.0]]| of_floats(x, |x| x.reshape([4])) => [1.0, 2.0, 3.0, 127.0];
        q_select = |x = [[1.0, 2.2], [3.0, 127.0]]| of_floats(x, |x| x.select(0, indices([1]))) => [[3.0, 127.0]];
        q_slice = |x = [[1.0, 2.2], [3.0, 127.0]]| of_floats(x, |x| x.slice(s![.., 1..2])) => [[2.0], [127.0]];
        q_swap_dims = |x = [[1.0, 2.2], [3.0, 127.0]]| {
            of_floats(x, |x| x.swap_dims(0, 1))
        } => [[1.0, 3.0], [2.0, 127.0]];
    }
}

/// `Tensor::expand` dequantizes.
fn expand<B: Backend, const D: usize, const N: usize>(x: Tensor<B, D>, shape: [usize; N]) -> Tensor<B, N> {
    Tensor::from_primitive(match x.into_primitive() {
        TensorPrimitive::QFloat(x) => TensorPrimitive::QFloat(B::q_expand(x, shape.into())),
        TensorPrimitive::Float(x) => TensorPrimitive::Float(B::float_expand(x, shape.into())),
    })
}

fn indices<B: Backend, const D: usize>(data: impl Into<TensorData>) -> Tensor<B, D, Int> {
    Tensor::from_data(data.into(), &B::Device::default())
}

/// Each move, of a tensor of the shape \[2, 5, 3\].
fn moved<B: Backend>(x: Tensor<B, 3>) -> Vec<TensorData> {
    let wide = |x: Tensor<B, 3>| both(expand(x.unsqueeze_dim::<4>(1), [2, 4, 5, 3]));
    let at = indices::<B, 3>([[[4, 0, 2]], [[1, 1, 3]]]);
    [
        both(x.clone().reshape([3, 10])),
        both(x.clone().swap_dims(0, 2)),
        both(x.clone().transpose()),
        both(x.clone().permute([1, 2, 0])),
        both(x.clone().permute([0, 1, 2])),
        both(x.clone().flip([0, 2])),
        both(x.clone().slice(s![.., 1..4;2, ..])),
        both(x.clone().slice(s![1.., ..;-1, 0..2])),
        both(x.clone().select(1, indices([4, 4, 0]))),
        both(x.clone().select(2, indices([2]))),
        both(x.clone().gather(1, at)),
        wide(x.clone()),
        both(expand(x.clone().slice(s![.., 0..1, ..]), [2, 7, 3])),
        both(expand(x, [3, 2, 5, 3])),
    ]
    .concat()
}

/// Moves after which blocks of 6, 15 or 30 elements are others.
fn apart<B: Backend>(x: Tensor<B, 3>) -> Vec<TensorData> {
    let at = indices::<B, 3>([[[4, 0, 2], [0, 0, 0], [1, 2, 3], [4, 4, 4], [2, 1, 0]]; 2]);
    [
        both(x.clone().swap_dims(1, 2)),
        both(x.clone().permute([2, 0, 1])),
        both(x.clone().flip([1, 2])),
        both(x.clone().select(1, indices([4, 4, 0, 1, 2, 3, 0, 0, 1, 2]))),
        both(x.clone().gather(1, at)),
    ]
    .concat()
}

/// The scheme's moves against those of the floats.
#[track_caller]
pub(super) fn assert_keeps_values<const D: usize>(
    scheme: QuantScheme,
    what: &str,
    function: impl Fn(Tensor<MpsGraph, 3>) -> Tensor<MpsGraph, D>,
) {
    let x = floats::<MpsGraph>(Layout::Contiguous, DType::F32, 0);
    assert_moves(Tensor::cat(vec![x.clone() * 1.3, x * 0.7], 2), scheme, what, function);
}

/// The move of what is made of `x` by the scheme against that of the floats.
#[track_caller]
fn assert_moves<const D: usize>(
    x: Tensor<MpsGraph, 3>,
    scheme: QuantScheme,
    what: &str,
    function: impl Fn(Tensor<MpsGraph, 3>) -> Tensor<MpsGraph, D>,
) {
    let x = x.quantize_dynamic(&scheme);
    let floats = function(x.clone().dequantize()).into_data();
    let integers = function(x.clone());
    assert!(matches!(integers.dtype(), DType::QFloat(found) if found == scheme), "{what}: {:?}", integers.dtype());
    let message = format!("{what} by {scheme:?}");
    assert_eq!(integers.dequantize().into_data(), floats, "{message}");
    assert_eq!(eagerly(|| function(x).dequantize().into_data()), floats, "{message}, eager");
}

/// The tensor has the shape \[2, 5, 6\].
#[test]
fn whole_blocks_keep_their_values() {
    for value in VALUES {
        for level in [QuantLevel::Tensor, QuantLevel::block([3]), QuantLevel::block([6]), QuantLevel::block([1, 2])] {
            let scheme = by(value, level);
            assert_keeps_values(scheme, "reshape", |x| x.reshape([20, 3]));
            assert_keeps_values(scheme, "swap_dims", |x| x.swap_dims(0, 1));
            assert_keeps_values(scheme, "permute", |x| x.permute([1, 0, 2]));
            assert_keeps_values(scheme, "flip", |x| x.flip([0, 1]));
            assert_keeps_values(scheme, "select", |x| x.select(1, indices([3, 3, 0])));
            assert_keeps_values(scheme, "slice", |x| x.slice(s![1.., 1..4;-2]));
            assert_keeps_values(scheme, "slice to the end", |x| x.slice(s![.., 1..3, 0..6]));
            assert_keeps_values(scheme, "repeat_dim", |x| x.repeat_dim(1, 3));
            assert_keeps_values(scheme, "expand", |x| expand(x.slice(s![.., 2..3, ..]), [2, 4, 6]));
            assert_keeps_values(scheme, "new axes", |x| expand(x, [3, 2, 5, 6]));
        }
        // A block of several rows.
        let scheme = by(value, QuantLevel::block([30]));
        assert_keeps_values(scheme, "flip", |x| x.flip([0]));
        assert_keeps_values(scheme, "select", |x| x.select(0, indices([1])));
        assert_keeps_values(scheme, "reshape", |x| x.reshape([60]));
    }
}

/// What moves is whole words of 4 or 2 bits, or is not: 16 values are one word or two, 24 are three of 4 bits.
#[test]
fn rows_of_whole_words() {
    let device = Default::default();
    for (value, last) in VALUES.into_iter().flat_map(|value| [(value, 16), (value, 24), (value, 32)]) {
        let x = Tensor::<MpsGraph, 1, Int>::arange(0..12 * last as i64, &device).float().sin().reshape([3, 4, last]);
        for level in [QuantLevel::Tensor, QuantLevel::block([8]), QuantLevel::block([2, 4])] {
            let check = |what: &str, function: &dyn Fn(Tensor<MpsGraph, 3>) -> Tensor<MpsGraph, 3>| {
                assert_moves(x.clone(), by(value, level), &format!("{what} of rows of {last}"), function);
            };
            check("swap_dims", &|x| x.swap_dims(0, 1));
            check("flip", &|x| x.flip([0, 1]));
            check("select", &|x| x.select(1, indices([3, 3, 0])));
            check("select of the first axis", &|x| x.select(0, indices([2, 0])));
            check("nothing selected", &|x| x.select(0, indices::<_, 1>(TensorData::new(Vec::<i64>::new(), [0]))));
            check("slice", &|x| x.slice(s![1.., 1..4;-2]));
            check("repeat_dim", &|x| x.repeat_dim(1, 3));
            check("expand", &|x| expand(x.slice(s![.., 2..3, ..]), [3, 4, last]));
            check("moves of moves", &|x| x.swap_dims(0, 1).slice(s![1..3, ..2]).flip([0]));
            if level == QuantLevel::Tensor {
                check("slice of the last axis", &|x| x.slice(s![.., .., 8..16]));
            } else {
                check("cat", &|x| Tensor::cat(vec![x.clone(), x.clone().slice(s![.., 1..3]), x], 1));
                check("cat of the first axis", &|x| Tensor::cat(vec![x.clone().slice(s![2..]), x], 0));
                check("cat of the last axis", &|x| Tensor::cat(vec![x.clone(), x], 2));
            }
        }
    }
}

#[test]
fn ranks_beyond_four() {
    let x = Tensor::<MpsGraph, 1, Int>::arange(0..144, &Default::default()).float().reshape([2, 3, 1, 4, 2, 3]);
    for value in VALUES {
        for level in [QuantLevel::Tensor, QuantLevel::block([3])] {
            let quantized = x.clone().quantize_dynamic(&by(value, level));
            let permuted = quantized.clone().permute([4, 1, 3, 0, 2, 5]).slice(s![1, 0..2]);
            let floats = quantized.dequantize().permute([4, 1, 3, 0, 2, 5]).slice(s![1, 0..2]);
            assert_eq!(permuted.dequantize().into_data(), floats.into_data(), "{value:?}");
        }
    }
}
