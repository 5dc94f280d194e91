//! Integer arithmetic where MPSGraph's own ops are missing for a dtype or leave something open. Never by way of floats.

use burn_backend::DType;

use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::conversion::convert;

/// `-x`, wrapping. Apple does not document the negation of unsigned integers; a difference is well defined.
pub(super) fn negative(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    cx.graph().subtraction(&cx.constant(0.0, dtype), x)
}

/// `|x|`, wrapping, of signed integers.
pub(super) fn absolute(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    graph.select(&graph.less_than(x, &cx.constant(0.0, dtype)), &negative(cx, x, dtype), x)
}

/// -1, 0 or 1. MPSGraph has no sign of i64 (pytorch/pytorch, UnaryOps.mm), so none of its own is used.
pub(super) fn sign(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let zero = cx.constant(0.0, dtype);
    let as_number = |condition| convert(cx, &condition, DType::Bool(burn_backend::BoolStore::Native), dtype);
    let positive = as_number(graph.greater_than(x, &zero));
    if dtype.is_uint() {
        return positive;
    }
    graph.subtraction(&positive, &as_number(graph.less_than(x, &zero)))
}

/// `a / b` toward zero. Apple does not document how `division` rounds signed integers; the remainder has the sign of
/// `a` (seen on macOS 27), and without it nothing is left to round.
pub(in crate::ops) fn divide(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype.is_uint() {
        return graph.division(a, b);
    }
    graph.division(&graph.subtraction(a, &graph.modulo(a, b)), b)
}

/// Remainder with the sign of `b`. `floorModulo` would floor, for which i64 has no kernel (pytorch/pytorch#84995).
pub(super) fn remainder(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let rest = graph.modulo(a, b);
    if dtype.is_uint() {
        return rest;
    }
    let zero = cx.constant(0.0, dtype);
    let signs_differ = graph.logical_xor(&graph.less_than(&rest, &zero), &graph.less_than(b, &zero));
    let wrong = graph.logical_and(&signs_differ, &graph.not_equal(&rest, &zero));
    graph.select(&wrong, &graph.addition(&rest, b), &rest)
}

/// `a << count`; 0 if the count, taken modulo 64, is the dtype's width or more. (MPSGraph takes it modulo the width.)
pub(super) fn shift_left(cx: &Lowering<'_>, a: &ffi::Tensor, count: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let count = graph.bitwise_and(count, &cx.constant(63.0, dtype));
    let shifted = graph.bitwise_left_shift(a, &count);
    beyond_width(cx, &count, &shifted, dtype)
}

/// `a >> count`, of signed integers with copies of the sign bit; as if the sign bit went on to the left if the count,
/// taken modulo 64, is the dtype's width or more.
pub(super) fn shift_right(cx: &Lowering<'_>, a: &ffi::Tensor, count: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let count = graph.bitwise_and(count, &cx.constant(63.0, dtype));
    if dtype.is_uint() {
        let shifted = graph.bitwise_right_shift(a, &count);
        return beyond_width(cx, &count, &shifted, dtype);
    }
    let last = cx.constant((width(dtype) - 1) as f64, dtype);
    graph.bitwise_right_shift(a, &graph.minimum(&count, &last))
}

/// `shifted`, but 0 where all bits are shifted out.
fn beyond_width(cx: &Lowering<'_>, count: &ffi::Tensor, shifted: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    if width(dtype) == 64 {
        return shifted.clone();
    }
    let out = graph.greater_than_or_equal_to(count, &cx.constant(width(dtype) as f64, dtype));
    graph.select(&out, &cx.constant(0.0, dtype), shifted)
}

/// `base` to the power of the unsigned number in the lowest `bits` of `exponent` (i32), wrapping, by squaring.
pub(super) fn power(
    cx: &Lowering<'_>,
    base: &ffi::Tensor,
    exponent: &ffi::Tensor,
    dtype: DType,
    bits: u32,
) -> ffi::Tensor {
    let graph = cx.graph();
    let one = cx.constant(1.0, dtype);
    let zero = cx.constant(0.0, DType::I32);
    let mut square = base.clone();
    let mut result: Option<ffi::Tensor> = None;
    for bit in 0..bits {
        let mask = cx.constant((1u32 << bit).cast_signed().into(), DType::I32);
        let set = graph.not_equal(&graph.bitwise_and(exponent, &mask), &zero);
        let factor = graph.select(&set, &square, &one);
        result = Some(match result {
            Some(product) => graph.multiplication(&product, &factor),
            None => factor,
        });
        if bit + 1 < bits {
            square = graph.multiplication(&square, &square);
        }
    }
    result.unwrap_or_else(|| unreachable!("an exponent has bits"))
}

/// Bits of an element.
pub(super) fn width(dtype: DType) -> u32 {
    dtype.size() as u32 * 8
}
