//! Functions of one operand.

use burn_backend::{DType, TensorMetadata};

use super::{ArithmeticOp, computed_in, convert, integer};
use crate::bridge::{Lowering, record};
use crate::error::unsupported;
use crate::ffi;
use crate::ops::Op;
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
    let dtype = x.dtype();
    if !op.accepts(dtype) {
        unsupported(op.name(), format!("dtype {dtype:?}, shape {:?}", x.dims()));
    }
    if op == UnaryOp::Abs && dtype.is_uint() {
        return x;
    }
    let output = x.ty();
    record(Op::Arithmetic(ArithmeticOp::Unary(op)), &[&x], &[], output)
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

    fn accepts(self, dtype: DType) -> bool {
        match self {
            Self::Abs | Self::Neg | Self::Sign => !dtype.is_bool(),
            Self::BitwiseNot => dtype.is_int() || dtype.is_uint(),
            Self::LogicalNot => dtype.is_bool(),
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
            | Self::Trunc => dtype.is_float(),
        }
    }

    pub(super) fn lower(self, cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
        let g = cx.graph();
        match self {
            Self::Abs if !dtype.is_float() => integer::absolute(cx, x, dtype),
            Self::Neg if !dtype.is_float() => integer::negative(cx, x, dtype),
            Self::Sign if !dtype.is_float() => integer::sign(cx, x, dtype),
            Self::Abs => g.absolute(x),
            Self::Acos => g.acos(x),
            Self::Acosh => g.acosh(x),
            Self::Asin => g.asin(x),
            Self::Asinh => g.asinh(x),
            Self::Atan => g.atan(x),
            Self::Atanh => g.atanh(x),
            Self::BitwiseNot => g.bitwise_not(x),
            Self::Ceil => g.ceil(x),
            Self::Cos => g.cos(x),
            Self::Cosh => g.cosh(x),
            Self::Erf => g.erf(x),
            Self::Exp => g.exponent(x),
            Self::Floor => g.floor(x),
            Self::Log => g.logarithm(x),
            Self::Log1p => {
                let wide = computed_in(dtype);
                let result = log1p(cx, &convert(cx, x, dtype, wide));
                convert(cx, &result, wide, dtype)
            }
            Self::LogicalNot => g.not(x),
            Self::Neg => g.negative(x),
            Self::Recip => g.reciprocal(x),
            // `round` takes halves away from zero (MPSGraphArithmeticOps.h).
            Self::Round => g.rint(x),
            // MPSGraph's sign of NaN is 0, seen on macOS 27.
            Self::Sign => g.select(&g.is_nan(x), x, &g.sign(x)),
            Self::Sin => g.sin(x),
            Self::Sinh => g.sinh(x),
            Self::Sqrt => g.square_root(x),
            Self::Tan => g.tan(x),
            Self::Tanh => g.tanh(x),
            Self::Trunc => g.truncate(x),
        }
    }
}

/// `log(1 + x)` of f32.
///
/// MPSGraph has no such op. With `u = 1 + x` rounded, `log(u) * x / (u - 1)` makes up for the rounding of `u`. Where
/// `u` is 1 the result is `x`; where `u` is `x`, infinity included, it is `log(u)`.
pub(in crate::ops) fn log1p(cx: &Lowering<'_>, x: &ffi::Tensor) -> ffi::Tensor {
    let g = cx.graph();
    let one = cx.constant(1.0, DType::F32);
    let u = g.addition(x, &one);
    let log = g.logarithm(&u);
    let ratio = g.division(x, &g.subtraction(&u, &one));
    let compensated = g.select(&g.equal(&u, x), &log, &g.multiplication(&log, &ratio));
    g.select(&g.equal(&u, &one), x, &compensated)
}
