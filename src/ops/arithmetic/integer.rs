//! Integer arithmetic where MPSGraph lacks an op for a dtype or Apple does not document its result. Nothing here
//! converts integers to floats.

use burn_backend::DType;

use crate::dtype::BOOL;
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

/// -1, 0 or 1. MPSGraph has no sign of i64 (pytorch/pytorch, UnaryOps.mm), so this composes it.
pub(super) fn sign(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let zero = cx.constant(0.0, dtype);
    let as_number = |condition| convert(cx, &condition, BOOL, dtype);
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
    if width(dtype) == 64 {
        return quotient_and_rest(cx, a, b)[0].clone();
    }
    graph.division(&graph.subtraction(a, &graph.modulo(a, b)), b)
}

/// `a / b` toward zero and what is left, of i64. Nobody has reported that `modulo` has a kernel for it, so this
/// corrects a quotient that is rounded in another direction.
fn quotient_and_rest(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor) -> [ffi::Tensor; 2] {
    let graph = cx.graph();
    let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|x| cx.constant(x, DType::I64));
    let is_negative = |x: &ffi::Tensor| graph.less_than(x, &zero);
    let quotient = graph.division(a, b);
    let rest = graph.subtraction(a, &graph.multiplication(&quotient, b));
    let signs_differ = graph.logical_xor(&is_negative(&rest), &is_negative(a));
    let is_far = graph.logical_and(&signs_differ, &graph.not_equal(&rest, &zero));
    let toward_zero = graph.select(&graph.logical_xor(&is_negative(a), &is_negative(b)), &one, &minus_one);
    let step = graph.select(&is_far, &toward_zero, &zero);
    [graph.addition(&quotient, &step), graph.subtraction(&rest, &graph.multiplication(&step, b))]
}

/// Remainder with the sign of `b`. `floorModulo` would floor, and MPSGraph has no kernel that floors i64
/// (pytorch/pytorch#84995).
pub(super) fn remainder(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let rest = if dtype == DType::I64 {
        let [_, rest] = quotient_and_rest(cx, a, b);
        rest
    } else {
        graph.modulo(a, b)
    };
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

/// `a >> count`, filling signed integers with copies of the sign bit. If the count, taken modulo 64, is the dtype's
/// width or more, only copies of the sign bit (or zeros) are left.
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

/// `a >> count` filling with zeros, of a signed dtype; 0 if the count, taken modulo 64, is the dtype's width or more.
pub(super) fn shift_right_logical(
    cx: &Lowering<'_>,
    a: &ffi::Tensor,
    count: &ffi::Tensor,
    dtype: DType,
) -> ffi::Tensor {
    let graph = cx.graph();
    let number = |number: f64| cx.constant(number, dtype);
    let last = number(f64::from(width(dtype)) - 1.0);
    let count = graph.bitwise_and(count, &number(63.0));
    let near = graph.minimum(&count, &last);
    // Ones in the places that are not filled.
    let rest = graph.subtraction(&last, &near);
    let kept =
        graph.bitwise_not(&graph.bitwise_left_shift(&graph.bitwise_left_shift(&number(-1.0), &rest), &number(1.0)));
    let shifted = graph.bitwise_and(&graph.bitwise_right_shift(a, &near), &kept);
    beyond_width(cx, &count, &shifted, dtype)
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

/// `a * b` of one shape, which may be one value, wrapping.
///
/// MPSGraph makes a square of a product of equal values. Of that 64-bit integers have no kernel, and the run ends the
/// process (ChanLumerico/lucid's OpEmitters/elementwise/Math.mm; for square roots pytorch/pytorch#166216).
pub(in crate::ops) fn multiply(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype != DType::I64 {
        return graph.multiplication(a, b);
    }
    let less = graph.subtraction(a, &cx.constant(1.0, dtype));
    graph.addition(&graph.multiplication(&less, b), b)
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
            Some(product) => multiply(cx, &product, &factor, dtype),
            None => factor,
        });
        if bit + 1 < bits {
            square = multiply(cx, &square, &square, dtype);
        }
    }
    result.unwrap_or_else(|| unreachable!("an exponent has bits"))
}

/// Bits of an element.
pub(super) fn width(dtype: DType) -> u32 {
    dtype.size() as u32 * 8
}
