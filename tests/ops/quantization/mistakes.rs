//! What a scheme does not allow is refused by name.

use burn::tensor::backend::BackendTypes;
use burn::tensor::ops::QTensorOps;
use burn::tensor::quantization::{QuantLevel, QuantStore, QuantValue, QuantizationParameters};
use burn::tensor::{DType, FloatDType, Int, IntDType, Slice, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::assert_refused;

use super::{Q4S, Q8S, by};

type B = MpsGraph;

const DEVICE: MpsGraphDevice = MpsGraphDevice;

fn floats(shape: [usize; 2]) -> Tensor<B, 2> {
    Tensor::ones(shape, &DEVICE)
}

fn quantized(shape: [usize; 2], level: QuantLevel) -> <B as BackendTypes>::QuantizedTensorPrimitive {
    B::quantize_dynamic(floats(shape).into_primitive().tensor(), &by(Q4S, level))
}

#[test]
fn unsupported_schemes_are_refused() {
    let level = QuantLevel::Tensor;
    for value in [QuantValue::E4M3, QuantValue::E5M2, QuantValue::E2M1] {
        let parts = ["quantize_dynamic", "unsupported", &format!("{value:?}"), "[2, 3]"];
        assert_refused(&parts, || floats([2, 3]).quantize_dynamic(&by(value, level)));
        let data = TensorData::from_bytes_vec(vec![0u8; 10], [6], DType::QFloat(by(value, level)));
        assert_refused(&["q_from_data", "unsupported"], || B::q_from_data(data, &DEVICE));
    }
    let parts = ["quantize_dynamic", "blocks of 4", "6 elements", "[2, 3]", "use blocks that do", "dequantize first"];
    assert_refused(&parts, || floats([2, 3]).quantize_dynamic(&by(Q8S, QuantLevel::block([2, 2]))));
    assert_refused(&["blocks of 0"], || floats([2, 3]).quantize_dynamic(&by(Q8S, QuantLevel::block([0]))));
    let ints = Tensor::<B, 2, Int>::ones([2, 3], &DEVICE).into_primitive();
    assert_refused(&["quantize_dynamic: dtype I32", "[2, 3]", "floats"], || B::quantize_dynamic(ints, &by(Q8S, level)));
}

/// Whole words of blocks are joined by themselves, after the same check.
#[test]
fn tensors_of_shapes_that_do_not_join_are_refused() {
    let of = |shape| quantized(shape, QuantLevel::block([8]));
    let parts = ["cat", "[3, 16]", "[2, 16]", "differ outside dim 1"];
    assert_refused(&parts, || B::q_cat(vec![of([2, 16]), of([3, 16])], 1));
    let parts = ["cat", "[4, 8]", "[2, 16]", "differ outside dim 0"];
    assert_refused(&parts, || B::q_cat(vec![of([2, 16]), of([4, 8])], 0));
}

/// Results whose blocks do not come out even are refused by the name of the op that was called.
#[test]
fn results_whose_blocks_are_uneven_are_refused() {
    let q = || quantized([2, 32], QuantLevel::block([8]));
    let columns = [Slice::full(), Slice::new(0, Some(5), 1)];
    assert_refused(&["q_slice", "blocks of 8", "[2, 5]", "dequantize first"], || B::q_slice(q(), &columns));
    assert_refused(&["q_topk", "blocks of 8", "[2, 3]"], || B::q_topk(q(), 1, 3));
    let at = Tensor::<B, 2, Int>::zeros([2, 1], &DEVICE).into_primitive();
    assert_refused(&["q_gather", "blocks of 8", "[2, 1]"], || B::q_gather(1, q(), at));
}

#[test]
fn a_wrong_count_of_scales_is_refused() {
    let scales = |count: usize| QuantizationParameters { scales: Tensor::<B, 1>::ones([count], &DEVICE) };
    let parts = ["quantize", "[2]", "takes 1 floats"];
    assert_refused(&parts, || floats([2, 3]).quantize(&by(Q8S, QuantLevel::Tensor), scales(2)));
    let parts = ["quantize", "[1]", "takes 2 floats"];
    assert_refused(&parts, || floats([2, 3]).quantize(&by(Q8S, QuantLevel::block([3])), scales(1)));
}

#[test]
fn data_that_does_not_fit_its_scheme_is_refused() {
    let data = |scheme, bytes| TensorData::from_bytes_vec(vec![0u8; bytes], [6], DType::QFloat(scheme));
    let refused = |parts: &[&str], scheme, bytes| {
        assert_refused(&[&["q_from_data"], parts].concat(), || B::q_from_data(data(scheme, bytes), &DEVICE));
    };
    let scheme = by(Q4S, QuantLevel::Tensor);
    refused(&["11 bytes", "[6]", "6 for the values and 4 for the scales"], scheme, 11);
    refused(&["10 bytes", "4 for the values"], scheme.with_store(QuantStore::PackedU32(0)), 10);
    refused(&["unsupported", "PackedU32(1)", "use Native"], scheme.with_store(QuantStore::PackedU32(1)), 8);
    refused(&["unsupported", "PackedNative(0)"], scheme.with_store(QuantStore::PackedNative(0)), 8);
    refused(&["blocks of 4", "[6]"], scheme.with_level(QuantLevel::block([4])), 10);
    assert_refused(&["q_from_data", "F32"], || B::q_from_data(TensorData::from([1.0f32]), &DEVICE));
    let wide = TensorData::quantized(vec![1i8, 9], [2], scheme, &[1.0]);
    assert_refused(&["q_from_data", "value 9 at 1", "4 bits", "Q4S"], || B::q_from_data(wide, &DEVICE));
}

#[test]
fn moves_beyond_the_shape_are_refused() {
    let q = || quantized([2, 3], QuantLevel::Tensor);
    assert_refused(&["q_reshape", "[2, 3]", "[4, 2]"], || B::q_reshape(q(), [4, 2].into()));
    assert_refused(&["q_expand", "[2, 3]", "[3]"], || B::q_expand(q(), [3].into()));
    assert_refused(&["q_expand", "[2, 3]", "[2, 4]"], || B::q_expand(q(), [2, 4].into()));
    assert_refused(&["q_swap_dims", "dim 2", "[2, 3]"], || B::q_swap_dims(q(), 0, 2));
    assert_refused(&["q_permute", "[0, 0]", "[2, 3]"], || B::q_permute(q(), &[0, 0]));
    assert_refused(&["q_flip", "dim 4", "[2, 3]"], || B::q_flip(q(), &[0, 4]));
    let at = || Tensor::<B, 1, Int>::from_data([0], &DEVICE).into_primitive();
    assert_refused(&["q_select", "dim 2", "[2, 3]"], || B::q_select(q(), 2, at()));
    assert_refused(&["q_slice", "3 slices", "[2, 3]"], || B::q_slice(q(), &[Slice::full(); 3]));
    assert_refused(&["q_repeat_dim", "dim 2", "[2, 3]"], || B::q_repeat_dim(q(), 2, 2));
    assert_refused(&["q_gather: ", "[1]", "[2, 3]"], || B::q_gather(0, q(), at()));
    assert_refused(&["q_select: ", "[1, 1]", "[2, 3]"], || {
        B::q_select(q(), 1, Tensor::<B, 2, Int>::from_data([[0]], &DEVICE).into_primitive())
    });
    assert_refused(&["q_repeat_dim: ", "2^31", "[2, 3]"], || B::q_repeat_dim(q(), 0, 1 << 40));
    assert_refused(&["q_argmax: dim 2", "[2, 3]"], || B::q_argmax(q(), 2, IntDType::I32));
    assert_refused(&["q_sort: dim 2", "[2, 3]"], || B::q_sort(q(), 2, false));
    assert_refused(&["q_topk: the 4 largest of 3", "[2, 3]"], || B::q_topk(q(), 1, 4));
    assert_refused(&["q_argtopk: the 4 largest of 3", "[2, 3]"], || B::q_argtopk(q(), 1, 4, IntDType::I32));
    assert_refused(&["q_cat: ", "[2, 3]", "differ outside dim 0"], || {
        B::q_cat(vec![q(), quantized([2, 4], QuantLevel::Tensor)], 0)
    });
    assert_refused(&["q_max_abs_dim: dim 2", "[2, 3]"], || B::q_max_abs_dim(q(), 2));
    let blocks = || quantized([2, 3], QuantLevel::block([3]));
    assert_refused(&["blocks of 3", "4 elements", "dequantize first"], || {
        B::q_slice(blocks(), &[Slice::full(), Slice::new(0, Some(2), 1)])
    });
    assert_refused(&["dequantize", "unsupported", "F64"], || B::dequantize(q(), FloatDType::F64));
}
