//! Arithmetic of u16, u32 and u64, for which few of MPSGraph's elementwise kernels have been seen.
//!
//! What does not depend on the sign is computed on the same bits as signed integers. Quotients of u16 and u32, and the
//! order of u16, are computed in wider signed integers; the order of u32 and u64 is that of bits moved by half the
//! range, and quotients of u64 are composed.

use burn_backend::DType;

use super::pairs::{Bits, Shaped};
use super::{ArithmeticOp, BinaryOp, CompareOp, UnaryOp, cast, integer};
use crate::dtype::{BOOL, stored};
use crate::ffi::{self, DataType};
use crate::lowering::conversion::{comparable, convert, from_comparable, low_bits, moved_by_half, signed};
use crate::lowering::{Lowering, Operand};
use crate::tensor_type::TensorType;

/// Adds an operation on such integers to a graph.
pub(super) fn lower(op: &ArithmeticOp, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
    let graph = cx.graph();
    let (x, shape, dtype) = (&inputs[0].tensor, &inputs[0].ty.shape[..], inputs[0].ty.dtype);
    let bits = signed(dtype);
    let to_bits = |x: &ffi::Tensor| low_bits(graph, x, dtype, bits);
    let from_bits = |x: &ffi::Tensor| low_bits(graph, x, bits, dtype);
    let scalar = |index: usize| from_bits(&cx.scalar(index, bits));
    match op {
        ArithmeticOp::Unary(UnaryOp::Abs) => x.clone(),
        ArithmeticOp::Unary(UnaryOp::Sign) => convert(cx, &convert(cx, x, dtype, BOOL), BOOL, dtype),
        ArithmeticOp::Unary(op) => from_bits(&op.lower(cx, &to_bits(x), bits)),
        ArithmeticOp::Binary(op) => {
            let [a, b] = [&inputs[0], &inputs[1]].map(|x| (&x.tensor, &x.ty.shape[..]));
            binary(cx, *op, a, b, dtype)
        }
        ArithmeticOp::BinaryScalar(op) => binary(cx, *op, (x, shape), (&scalar(0), &[1]), dtype),
        ArithmeticOp::PowerScalar { bits: count } => {
            let exponent = cx.scalar(0, DType::I32);
            from_bits(&integer::power(cx, &to_bits(x), &exponent, bits, *count))
        }
        ArithmeticOp::Compare(op) => compare(cx, *op, x, &inputs[1].tensor, dtype),
        ArithmeticOp::CompareScalar(op) => compare(cx, *op, x, &scalar(0), dtype),
        ArithmeticOp::Cast => cast::lower(cx, x, dtype, output.dtype),
        ArithmeticOp::MaskWhere => {
            from_bits(&graph.select(&inputs[1].tensor, &to_bits(&inputs[2].tensor), &to_bits(x)))
        }
        ArithmeticOp::MaskFill => from_bits(&graph.select(&inputs[1].tensor, &cx.scalar(0, bits), &to_bits(x))),
        ArithmeticOp::Clamp { min, max } => {
            let mut result = comparable(cx, x, dtype);
            if *max {
                result = graph.minimum(&result, &comparable(cx, &scalar(usize::from(*min)), dtype));
            }
            if *min {
                result = graph.maximum(&result, &comparable(cx, &scalar(0), dtype));
            }
            from_comparable(cx, &result, dtype)
        }
        ArithmeticOp::Test(_) | ArithmeticOp::PowerOf(_) => unreachable!("{op:?} is of floats"),
    }
}

fn compare(cx: &Lowering<'_>, op: CompareOp, a: &ffi::Tensor, b: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let [a, b] = match op {
        CompareOp::Equal | CompareOp::NotEqual => [a, b].map(|x| low_bits(cx.graph(), x, dtype, signed(dtype))),
        CompareOp::Greater | CompareOp::GreaterEqual | CompareOp::Lower | CompareOp::LowerEqual => {
            [a, b].map(|x| comparable(cx, x, dtype))
        }
    };
    op.lower(cx.graph(), &a, &b, signed(dtype))
}

fn binary(
    cx: &Lowering<'_>,
    op: BinaryOp,
    (a, shape_a): Shaped<'_>,
    (b, shape_b): Shaped<'_>,
    dtype: DType,
) -> ffi::Tensor {
    let (graph, bits) = (cx.graph(), signed(dtype));
    let [x, y] = [a, b].map(|x| low_bits(graph, x, dtype, bits));
    let in_wider = |function: fn(&Lowering<'_>, &ffi::Tensor, &ffi::Tensor, DType) -> ffi::Tensor| {
        let wide = if dtype == DType::U16 { DType::I32 } else { DType::I64 };
        let [x, y] = [a, b].map(|x| graph.cast(x, stored(wide)));
        graph.cast(&function(cx, &x, &y, wide), stored(dtype))
    };
    let result = match op {
        BinaryOp::Div if dtype == DType::U64 => divide_64(cx, &x, &y),
        BinaryOp::Div => return in_wider(integer::divide),
        BinaryOp::Remainder if dtype == DType::U64 => remainder_64(cx, &x, &y),
        BinaryOp::Remainder => return in_wider(integer::remainder),
        BinaryOp::RightShift if dtype == DType::U64 => {
            Bits::RightShift { is_unsigned: true }.lower(cx, (&x, shape_a), (&y, shape_b))
        }
        BinaryOp::RightShift => integer::shift_right_logical(cx, &x, &y, bits),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::BitwiseAnd
        | BinaryOp::BitwiseOr
        | BinaryOp::BitwiseXor
        | BinaryOp::LeftShift
        | BinaryOp::LogicalAnd
        | BinaryOp::LogicalOr
        | BinaryOp::LogicalXor => op.lower(cx, (&x, shape_a), (&y, shape_b), bits),
    };
    low_bits(graph, &result, bits, dtype)
}

/// `a / b` of u64 given as i64.
pub(in crate::ops) fn divide_64(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let [zero, one, two] = [0.0, 1.0, 2.0].map(|x| cx.constant(x, DType::I64));
    let at_least = |x: &ffi::Tensor, y: &ffi::Tensor| {
        let [x, y] = [x, y].map(|x| moved_by_half(cx, x, DType::U64));
        graph.select(&graph.greater_than_or_equal_to(&x, &y), &one, &zero)
    };
    // Half of `a`, rounded down, has no sign bit.
    let quarter = graph.constant_with_data(&(1i64 << 62).to_ne_bytes(), &[1], DataType::I64);
    let low = graph.division(&graph.select(&graph.less_than(a, &zero), &moved_by_half(cx, a, DType::U64), a), &two);
    let high = graph.select(&graph.less_than(a, &zero), &quarter, &zero);
    let near = graph.multiplication(&graph.division(&graph.addition(&low, &high), b), &two);
    let rest = graph.subtraction(a, &graph.multiplication(&near, b));
    let quotient = graph.addition(&near, &at_least(&rest, b));
    // A divisor with the highest bit set goes into `a` once or not at all.
    graph.select(&graph.less_than(b, &zero), &at_least(a, b), &quotient)
}

/// `a % b` of u64 given as i64.
fn remainder_64(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    graph.subtraction(a, &graph.multiplication(&divide_64(cx, a, b), b))
}
