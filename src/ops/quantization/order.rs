//! The order of quantized elements, and their magnitudes.
//!
//! With one scale the integers have the order of the floats that they stand for, or the opposite one if the scale is
//! negative. They themselves are sorted and compared then: no value changes, and what was sorted has the same scale.
//! Burn's defaults would compute a new one and round every element again. Blocks have their own scales, so their
//! dequantized elements are sorted, in f32 whatever the device's float dtype is, and get new blocks and scales.

use burn_backend::quantization::QuantValue;
use burn_backend::{DType, TensorMetadata};

use super::{dequantize, layout, of_values, quantize_for, values_of};
use crate::error::Call;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, UnaryOp, cast};
use crate::ops::{reduction, sort as sorts};
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::{Level, MpsGraphQuantizedTensor as Quantized};

/// The elements of each row along `dim` in order.
pub(crate) fn sort(tensor: Quantized, dim: usize, descending: bool) -> Quantized {
    let _call = Call::begin("q_sort", [tensor.typed()]);
    of_comparable("q_sort", sorts::sort(comparable(&tensor), dim, descending), &tensor)
}

/// [`sort`] and [`argsort`].
pub(crate) fn sort_with_indices(
    tensor: Quantized,
    dim: usize,
    descending: bool,
    out: DType,
) -> (Quantized, MpsGraphTensor) {
    let _call = Call::begin("q_sort_with_indices", [tensor.typed()]);
    let (sorted, positions) = sorts::sort_with_indices(comparable(&tensor), dim, descending, out);
    (of_comparable("q_sort_with_indices", sorted, &tensor), positions)
}

/// The position along `dim` that each element of [`sort`] comes from, as `out`.
pub(crate) fn argsort(tensor: &Quantized, dim: usize, descending: bool, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("q_argsort", [tensor.typed()]);
    sorts::argsort(comparable(tensor), dim, descending, out)
}

/// The `k` largest elements of each row along `dim`, the largest first.
pub(crate) fn topk(tensor: Quantized, dim: usize, k: usize) -> Quantized {
    let _call = Call::begin("q_topk", [tensor.typed()]);
    of_comparable("q_topk", sorts::topk(comparable(&tensor), dim, k), &tensor)
}

/// The positions of the `k` largest elements of each row along `dim`, as `out`.
pub(crate) fn argtopk(tensor: &Quantized, dim: usize, k: usize, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("q_argtopk", [tensor.typed()]);
    sorts::argtopk(comparable(tensor), dim, k, out)
}

/// The positions of the largest elements along `dim`, of equal ones the first, as `out`.
pub(crate) fn argmax(tensor: &Quantized, dim: usize, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("q_argmax", [tensor.typed()]);
    reduction::argmax(comparable(tensor), dim, out)
}

/// The positions of the smallest elements along `dim`, of equal ones the first, as `out`.
pub(crate) fn argmin(tensor: &Quantized, dim: usize, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("q_argmin", [tensor.typed()]);
    reduction::argmin(comparable(tensor), dim, out)
}

/// Absolute values. They keep their scales, unless the integers have a lowest one without a counterpart.
pub(crate) fn abs(tensor: Quantized) -> Quantized {
    let _call = Call::begin("q_abs", [tensor.typed()]);
    match tensor.scheme.value {
        QuantValue::Q8S | QuantValue::Q4S | QuantValue::Q2S => {
            let magnitudes = arithmetic::unary(UnaryOp::Abs, cast(values_of(&tensor), DType::I16));
            let (_, high) = tensor.scheme.value.range();
            // Bytes that were given may hold a number below the range.
            let within = arithmetic::clamp(magnitudes, None, Some(ScalarInput::Int(high as i64)));
            let scales = arithmetic::unary(UnaryOp::Abs, *tensor.scales);
            of_values(cast(within, DType::I8), scales, tensor.scheme)
        }
        QuantValue::Q8F | QuantValue::Q4F | QuantValue::Q2F => {
            quantize_for("q_abs", arithmetic::unary(UnaryOp::Abs, dequantize(&tensor, DType::F32)), &tensor.scheme)
        }
        QuantValue::E4M3 | QuantValue::E5M2 | QuantValue::E2M1 => {
            unreachable!("{:?} is refused before a tensor is made", tensor.scheme.value)
        }
    }
}

/// The largest absolute values along `dim`. Burn's default gives the elements that have them, with their signs.
pub(crate) fn max_abs_dim(tensor: Quantized, dim: usize) -> Quantized {
    let _call = Call::begin("q_max_abs_dim", [tensor.typed()]);
    let magnitudes = abs(tensor);
    let at = argmax(&magnitudes, dim, DType::I32);
    layout::gather(dim, magnitudes, at)
}

/// Numbers in the order of the elements.
fn comparable(tensor: &Quantized) -> MpsGraphTensor {
    match tensor.level() {
        Level::Tensor => with_sign(cast(values_of(tensor), DType::I16), &tensor.scales),
        Level::Block { .. } => dequantize(tensor, DType::F32),
    }
}

/// The quantized tensor of numbers that [`comparable`] gave, in any order and shape.
fn of_comparable(op: &'static str, numbers: MpsGraphTensor, like: &Quantized) -> Quantized {
    match like.level() {
        Level::Tensor => {
            let values = cast(with_sign(numbers, &like.scales), DType::I8);
            of_values(values, *like.scales.clone(), like.scheme)
        }
        Level::Block { .. } => quantize_for(op, numbers, &like.scheme),
    }
}

/// I16 numbers times the sign of the scale.
fn with_sign(numbers: MpsGraphTensor, scales: &MpsGraphTensor) -> MpsGraphTensor {
    let sign = cast(arithmetic::unary(UnaryOp::Sign, scales.clone()), DType::I16);
    let ones = vec![1; numbers.rank()];
    arithmetic::binary(BinaryOp::Mul, numbers, sign.with_shape(ones.into()))
}
