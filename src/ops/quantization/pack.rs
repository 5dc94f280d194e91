//! Values of fewer than 8 bits side by side in words, by shifts of i32: exact, and the sign comes for free.

use burn_backend::DType;

use super::QuantizationOp;
use crate::bridge::record;
use crate::ffi::{self, DataType};
use crate::lowering::{Lowering, Operand};
use crate::ops::memory;
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::Width;
use crate::tensor_type::TensorType;

/// i8 values of any shape as words.
pub(super) fn pack(values: MpsGraphTensor, width: Width) -> MpsGraphTensor {
    let count = values.shape.num_elements();
    let output = TensorType::new(DType::I32, [width.words(count)].into());
    if count == 0 {
        return memory::zeros(output.shape, DType::I32);
    }
    debug_assert_eq!(values.dtype(), DType::I8);
    let values = values.with_shape([count].into());
    record(QuantizationOp::Pack { width }.into(), &[&values], &[], output)
}

/// The first `count` values of words as i8, shape \[count\].
pub(super) fn unpack(words: MpsGraphTensor, width: Width, count: usize) -> MpsGraphTensor {
    let output = TensorType::new(DType::I8, [count].into());
    if count == 0 {
        return memory::zeros(output.shape, DType::I8);
    }
    record(QuantizationOp::Unpack { width }.into(), &[&words], &[], output)
}

/// Adds the words of the `[count]` i8 values to a graph.
pub(super) fn packed(cx: &Lowering<'_>, values: &Operand, width: Width) -> ffi::Tensor {
    let (graph, count) = (cx.graph(), values.ty.elements());
    let words = width.words(count);
    let mask = cx.constant(((1 << width.bits()) - 1).into(), DType::I32);
    let bits = graph.bitwise_and(&graph.cast(&values.tensor, DataType::I32), &mask);
    let missing = words * width.in_word() - count;
    let whole = if missing == 0 {
        bits
    } else {
        let zeros = graph.cast(&graph.constant_with_scalar(0.0, &[missing], DataType::F32), DataType::I32);
        graph.concat(&[&bits, &zeros], 0)
    };
    let apart = graph.reshape(&whole, &[words, width.in_word()]);
    let placed = graph.bitwise_left_shift(&apart, &places(cx, width, |place| place * width.bits()));
    // No two have a bit in common, so that their sum is their union.
    graph.reshape(&graph.reduction_sum(&placed, &[1]), &[words])
}

/// Adds the first `count` values of the words, as i32 `[count]`, to a graph.
pub(super) fn unpacked(cx: &Lowering<'_>, words: &Operand, width: Width, count: usize) -> ffi::Tensor {
    let (graph, length) = (cx.graph(), words.ty.elements());
    // To the highest bits, and back with copies of the sign.
    let above = places(cx, width, |place| 32 - width.bits() * (place + 1));
    let high = graph.bitwise_left_shift(&graph.reshape(&words.tensor, &[length, 1]), &above);
    let apart = graph.bitwise_right_shift(&high, &cx.constant((32 - width.bits()) as f64, DType::I32));
    let values = graph.reshape(&apart, &[length * width.in_word()]);
    if length * width.in_word() == count { values } else { graph.slice(&values, &[0], &[count as isize], &[1]) }
}

/// A number for each place in a word, shape \[1, places\].
fn places(cx: &Lowering<'_>, width: Width, number: impl Fn(usize) -> usize) -> ffi::Tensor {
    let numbers: Vec<u8> = (0..width.in_word()).flat_map(|place| (number(place) as i32).to_ne_bytes()).collect();
    cx.graph().constant_with_data(&numbers, &[1, width.in_word()], DataType::I32)
}
