//! Conversion between dtypes inside a graph, and the dtypes in which things are computed.
//!
//! Float to integer truncates toward zero and saturates, NaN becomes 0; integer to integer wraps; anything to bool is
//! `!= 0`; bool to a number is 0 or 1.

use burn_backend::DType;

use super::Lowering;
use crate::dtype::stored;
use crate::ffi::{self, DataType, Graph};

/// The dtype in which a float op of several nodes is computed: rounding to 16 bits happens once, at its end.
pub(crate) fn computed_in(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

/// The dtype in which sums and products are taken: MPSGraph's reductions exist for 32-bit numbers and i64, and would
/// accumulate 16-bit floats in 16 bits (pytorch/pytorch#136987). The low bits of a wrapped integer result do not depend
/// on signs or on the width.
pub(crate) fn summed_in(dtype: DType) -> DType {
    if dtype.is_float() {
        DType::F32
    } else if dtype.size() == 8 {
        DType::I64
    } else {
        DType::I32
    }
}

/// `x` with its values as dtype `to`; `x` itself if the dtypes are equal.
pub(crate) fn convert(cx: &Lowering<'_>, x: &ffi::Tensor, from: DType, to: DType) -> ffi::Tensor {
    let graph = cx.graph();
    if from == to {
        return x.clone();
    }
    if to.is_bool() {
        // castTensor to bool has given 255 for 1.0 (pytorch/pytorch#94263); a comparison gives 0 or 1.
        let bits = signed(from);
        return graph.not_equal(&low_bits(graph, x, from, bits), &cx.constant(0.0, bits));
    }
    if from.is_float() && !to.is_float() {
        // Casts saturate (pytorch/pytorch#169058); Apple does not document what they make of NaN.
        let zero = cx.constant(0.0, from);
        let number = graph.select(&graph.is_nan(x), &zero, x);
        return graph.cast(&number, stored(to));
    }
    if matches!(to, DType::F16 | DType::BF16) && !from.is_float() && !from.is_bool() {
        // By way of f32 large integers overflow to infinity; Apple does not document what a direct cast gives.
        return graph.cast(&graph.cast(x, DataType::F32), stored(to));
    }
    if from.is_float() || to.is_float() || from.is_bool() {
        return graph.cast(x, stored(to));
    }
    low_bits(graph, x, from, to)
}

/// Whether the conversion of `from` to `to` may lose something by a cast.
pub(crate) fn may_lose(from: DType, to: DType) -> bool {
    if to.is_bool() || from.is_bool() {
        return false;
    }
    match (from.is_float(), to.is_float()) {
        (true, true) => from != to && to.size() <= from.size(),
        (true, false) => true,
        // f32 holds integers of 16 bits, and every float those of 8.
        (false, true) => from.size() > if to == DType::F32 { 2 } else { 1 },
        (false, false) => from.size() > to.size(),
    }
}

/// The signed dtype with the bits of u16, u32 and u64, for which few elementwise kernels have been seen (PyTorch's
/// gate: pytorch/pytorch#159094); other dtypes as they are.
pub(crate) fn signed(dtype: DType) -> DType {
    match dtype {
        DType::U16 => DType::I16,
        DType::U32 => DType::I32,
        DType::U64 => DType::I64,
        DType::F64
        | DType::F32
        | DType::Flex32
        | DType::F16
        | DType::BF16
        | DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U8
        | DType::Bool(_)
        | DType::QFloat(_) => dtype,
    }
}

/// Integers in the dtype in which MPSGraph's kernels find extremes, i32 or i64, in the same order.
pub(crate) fn comparable(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    moved_by_half(cx, &low_bits(cx.graph(), x, dtype, compared_in(dtype)), dtype)
}

/// The inverse of [`comparable`], to `dtype`.
pub(crate) fn from_comparable(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    low_bits(cx.graph(), &moved_by_half(cx, x, dtype), compared_in(dtype), dtype)
}

fn compared_in(dtype: DType) -> DType {
    if dtype.size() == 8 { DType::I64 } else { DType::I32 }
}

/// Adds half the range to the bits of u32 and u64, whose order is then that of the same bits read as signed integers. A
/// second addition undoes the first. Other dtypes stay as they are.
pub(crate) fn moved_by_half(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    if !dtype.is_uint() || dtype.size() < 4 {
        return x.clone();
    }
    let graph = cx.graph();
    let half = match dtype.size() {
        4 => graph.constant_with_data(&i32::MIN.to_ne_bytes(), &[1], DataType::I32),
        _ => graph.constant_with_data(&i64::MIN.to_ne_bytes(), &[1], DataType::I64),
    };
    graph.addition(x, &half)
}

/// The low bits of an integer tensor as another integer dtype: between dtypes of one width the bits stay what they are.
pub(crate) fn low_bits(graph: &Graph, x: &ffi::Tensor, from: DType, to: DType) -> ffi::Tensor {
    if from == to {
        x.clone()
    } else if from.size() == to.size() {
        graph.reinterpret_cast(x, stored(to))
    } else if to.size() <= 2 && from.size() > to.size() {
        // A cast that follows may take the place of this one, so the values have to fit before it.
        graph.cast(&low_places(graph, &low_bits(graph, x, from, DType::I32), to), stored(to))
    } else if to != signed(to) && !(from.is_uint() && from.size() < to.size()) {
        // A sign is lost by bits, not by a cast, for the same reason.
        graph.reinterpret_cast(&graph.cast(x, stored(signed(to))), stored(to))
    } else {
        graph.cast(x, stored(to))
    }
}

/// The number that the low bits of an i32 are as `dtype`, an integer dtype of 8 or 16 bits.
fn low_places(graph: &Graph, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let places = 8 * dtype.size() as u32;
    let number = |number: u32| graph.constant_with_scalar(f64::from(number), &[1], DataType::I32);
    if dtype.is_uint() {
        return graph.bitwise_and(x, &number((1 << places) - 1));
    }
    let above = number(32 - places);
    graph.bitwise_right_shift(&graph.bitwise_left_shift(x, &above), &above)
}

/// The number with these digits, lowest first, by Horner's rule in `dtype`, which the digits have already.
pub(crate) fn from_digits(cx: &Lowering<'_>, digits: &[ffi::Tensor], radix: f64, dtype: DType) -> ffi::Tensor {
    let Some((highest, rest)) = digits.split_last() else { unreachable!("a number has digits") };
    if rest.is_empty() {
        return highest.clone();
    }
    let (graph, radix) = (cx.graph(), cx.constant(radix, dtype));
    rest.iter().rev().fold(highest.clone(), |high, digit| graph.addition(&graph.multiplication(&high, &radix), digit))
}
