//! Functions of one operand.

use burn_backend::DType;

use super::{ArithmeticOp, integer};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::conversion::{computed_in, convert};
use crate::tensor::MpsGraphTensor;

/// A function of one operand; the result has its shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnaryOp {
    /// Floats and integers; the smallest signed integer stays as it is.
    Abs,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    /// Integers.
    BitwiseNot,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Exp,
    Floor,
    Log,
    /// `log(1 + x)`, precise near 0.
    Log1p,
    /// Bools.
    LogicalNot,
    /// Floats and integers.
    Neg,
    Recip,
    /// Halves to even.
    Round,
    /// Floats (NaN stays NaN) and integers.
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
}

/// Applies `op` to each element.
pub(crate) fn unary(op: UnaryOp, x: MpsGraphTensor) -> MpsGraphTensor {
    op.elements().require(op.name(), &x);
    if op == UnaryOp::Abs && x.dtype().is_uint() {
        return x;
    }
    let output = x.ty();
    record(ArithmeticOp::Unary(op).into(), &[&x], &[], output)
}

impl UnaryOp {
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Acos => "acos",
            Self::Acosh => "acosh",
            Self::Asin => "asin",
            Self::Asinh => "asinh",
            Self::Atan => "atan",
            Self::Atanh => "atanh",
            Self::BitwiseNot => "bitwise_not",
            Self::Ceil => "ceil",
            Self::Cos => "cos",
            Self::Cosh => "cosh",
            Self::Erf => "erf",
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::Log => "log",
            Self::Log1p => "log1p",
            Self::LogicalNot => "bool_not",
            Self::Neg => "neg",
            Self::Recip => "recip",
            Self::Round => "round",
            Self::Sign => "sign",
            Self::Sin => "sin",
            Self::Sinh => "sinh",
            Self::Sqrt => "sqrt",
            Self::Tan => "tan",
            Self::Tanh => "tanh",
            Self::Trunc => "trunc",
        }
    }

    /// What Burn defines the op for.
    fn elements(self) -> Elements {
        match self {
            Self::Abs | Self::Neg | Self::Sign => Elements::Numbers,
            Self::BitwiseNot => Elements::Integers,
            Self::LogicalNot => Elements::Bools,
            Self::Acos
            | Self::Acosh
            | Self::Asin
            | Self::Asinh
            | Self::Atan
            | Self::Atanh
            | Self::Ceil
            | Self::Cos
            | Self::Cosh
            | Self::Erf
            | Self::Exp
            | Self::Floor
            | Self::Log
            | Self::Log1p
            | Self::Recip
            | Self::Round
            | Self::Sin
            | Self::Sinh
            | Self::Sqrt
            | Self::Tan
            | Self::Tanh
            | Self::Trunc => Elements::Floats,
        }
    }

    pub(super) fn lower(self, cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
        let graph = cx.graph();
        match self {
            Self::Abs if !dtype.is_float() => integer::absolute(cx, x, dtype),
            Self::Neg if !dtype.is_float() => integer::negative(cx, x, dtype),
            Self::Sign if !dtype.is_float() => integer::sign(cx, x, dtype),
            Self::Abs => graph.absolute(x),
            Self::Acos => graph.acos(x),
            Self::Acosh => graph.acosh(x),
            Self::Asin => graph.asin(x),
            Self::Asinh => graph.asinh(x),
            Self::Atan => graph.atan(x),
            Self::Atanh => graph.atanh(x),
            // Bitwise kernels for 64 bits have not been seen.
            Self::BitwiseNot if dtype == DType::I64 => graph.subtraction(&cx.constant(-1.0, dtype), x),
            Self::BitwiseNot => graph.bitwise_not(x),
            Self::Ceil => graph.ceil(x),
            Self::Cos => graph.cos(x),
            Self::Cosh => graph.cosh(x),
            Self::Erf => graph.erf(x),
            Self::Exp => graph.exponent(x),
            Self::Floor => graph.floor(x),
            Self::Log => graph.logarithm(x),
            Self::Log1p => {
                let wide = computed_in(dtype);
                let result = log1p(cx, &convert(cx, x, dtype, wide));
                convert(cx, &result, wide, dtype)
            }
            Self::LogicalNot => graph.not(x),
            Self::Neg => graph.negative(x),
            Self::Recip => graph.reciprocal(x),
            // `round` takes halves away from zero (MPSGraphArithmeticOps.h).
            Self::Round => graph.rint(x),
            // MPSGraph's sign of NaN is 0, seen on macOS 27.
            Self::Sign => graph.select(&graph.is_nan(x), x, &graph.sign(x)),
            Self::Sin => graph.sin(x),
            Self::Sinh => graph.sinh(x),
            Self::Sqrt => graph.square_root(x),
            Self::Tan => graph.tan(x),
            Self::Tanh => graph.tanh(x),
            Self::Trunc => graph.truncate(x),
        }
    }
}

/// `log(1 + x)` of f32.
///
/// MPSGraph has no such op. With `u = 1 + x` rounded, `log(u) + (x - (u - 1)) / u` corrects the rounding of `u`. Where
/// `u` is 1 the result is `x`; where `u` is `x`, infinity included, it is `log(u)`.
pub(in crate::ops) fn log1p(cx: &Lowering<'_>, x: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let one = cx.constant(1.0, DType::F32);
    let u = graph.addition(x, &one);
    let log = graph.logarithm(&u);
    let rest = graph.subtraction(x, &graph.subtraction(&u, &one));
    // Where `u` is 0 nothing is left; it is 2^-24 at least where it is more.
    let correction = graph.division(&rest, &graph.maximum(&u, &cx.constant(1e-8, DType::F32)));
    let compensated = graph.select(&graph.equal(&u, x), &log, &graph.addition(&log, &correction));
    graph.select(&graph.equal(&u, &one), x, &compensated)
}
