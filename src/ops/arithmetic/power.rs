//! Powers of floats, and Burn's choice among them for a fixed exponent.

use burn_backend::{DType, Scalar, TensorMetadata};

use super::{ArithmeticOp, BinaryOp, UnaryOp, binary, binary_scalar, unary};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::error::invalid;
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::conversion::{computed_in, convert};
use crate::lowering::scalar::ScalarInput;
use crate::ops::memory;
use crate::tensor::MpsGraphTensor;

/// Each float to the power of `exponent`.
pub(crate) fn powf_scalar(x: MpsGraphTensor, exponent: Scalar) -> MpsGraphTensor {
    match exponent {
        Scalar::Float(number) if number.is_finite() && number.fract() != 0.0 => to_the(x, exponent),
        Scalar::Float(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) => powi_scalar(x, exponent),
    }
}

/// The part of an exponent before the point, if i64 has it.
fn whole(exponent: Scalar) -> Option<i64> {
    match exponent {
        Scalar::Float(number) => (number.abs() < i64::MAX as f64).then_some(number as i64),
        Scalar::Int(number) => Some(number),
        Scalar::UInt(number) => i64::try_from(number).ok(),
        Scalar::Bool(number) => Some(number.into()),
    }
}

/// What is known of a float's exponent when it is recorded. Each kind takes fewer nodes than a power of any exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Exponent {
    /// The node's scalar, a whole even number.
    Even,
    /// The node's scalar, a whole odd number.
    Odd,
    /// The node's scalar, a fraction.
    Fraction,
    /// -1/2, in the gradient of every square root.
    MinusHalf,
    /// 3, in the tanh form of GELU: a product.
    Three,
    /// 4, a product.
    Four,
}

impl Exponent {
    /// The kind of an exponent, which is fed as f32. A 16-bit tensor rounds it further, and that can change its kind.
    /// So there only -1/2 and whole numbers up to 256 have one, which f16 and bf16 hold exactly.
    fn of(exponent: f32, dtype: DType) -> Option<Self> {
        match exponent {
            _ if !exponent.is_finite() => None,
            -0.5 => Some(Self::MinusHalf),
            3.0 => Some(Self::Three),
            4.0 => Some(Self::Four),
            _ if dtype != DType::F32 && (exponent.fract() != 0.0 || exponent.abs() > 256.0) => None,
            _ if exponent.fract() != 0.0 => Some(Self::Fraction),
            _ if exponent % 2.0 == 0.0 => Some(Self::Even),
            _ => Some(Self::Odd),
        }
    }

    /// Adds the power to a graph. `exponent` is the node's scalar in f32.
    pub(super) fn lower(
        self,
        cx: &Lowering<'_>,
        base: &ffi::Tensor,
        dtype: DType,
        exponent: impl Fn() -> ffi::Tensor,
    ) -> ffi::Tensor {
        let (graph, wide) = (cx.graph(), computed_in(dtype));
        let base = &convert(cx, base, dtype, wide);
        let size = |exponent: &ffi::Tensor| graph.power(&graph.absolute(base), exponent);
        let power = match self {
            Self::Even => size(&exponent()),
            Self::Odd => {
                let size = size(&exponent());
                graph.select(&is_negative(cx, base), &graph.negative(&size), &size)
            }
            Self::Fraction => nan_below_zero(cx, base, &size(&exponent())),
            Self::MinusHalf => nan_below_zero(cx, base, &size(&cx.constant(-0.5, DType::F32))),
            // Where the square overflows or is 0 in f32, so does the power.
            Self::Three => graph.multiplication(&graph.square(base), base),
            Self::Four => graph.square(&graph.square(base)),
        };
        convert(cx, &power, wide, dtype)
    }
}

/// Each float to the power of a number.
fn to_the(x: MpsGraphTensor, exponent: Scalar) -> MpsGraphTensor {
    let number = exponent.elem::<f64>();
    let Some(known) = Exponent::of(number as f32, x.dtype()).filter(|_| x.dtype().is_float()) else {
        return binary_scalar(BinaryOp::Pow, x, exponent.into());
    };
    let output = x.ty();
    let scalars = [ScalarInput::Float(number)];
    let scalars = match known {
        Exponent::Even | Exponent::Odd | Exponent::Fraction => &scalars[..],
        Exponent::MinusHalf | Exponent::Three | Exponent::Four => &[],
    };
    record(ArithmeticOp::PowerOf(known).into(), &[&x], scalars, output)
}

/// Each element to the power of an integer; integers wrap and take the exponent modulo 2^32.
///
/// The exponents for which Burn's own definition has a special case get ops of their own, and so do 3 and 4. Any other
/// exponent is fed; for integers, the program depends on the exponent's number of bits.
pub(crate) fn powi_scalar(x: MpsGraphTensor, exponent: Scalar) -> MpsGraphTensor {
    Elements::Numbers.require("powi_scalar", &x);
    let is_float = x.dtype().is_float();
    let whole = match (whole(exponent), exponent) {
        (Some(whole), _) => whole,
        (None, _) if is_float => return binary_scalar(BinaryOp::Pow, x, exponent.into()),
        (None, Scalar::UInt(number)) => number.cast_signed(),
        (None, Scalar::Float(_) | Scalar::Int(_) | Scalar::Bool(_)) => {
            invalid("powi_scalar", format!("exponent {exponent:?} for dtype {:?}: i64 must hold it", x.dtype()))
        }
    };
    // A quotient in 16 bits is rounded, and may have few digits, before it is divided again.
    let divides_precisely = x.dtype() == DType::F32;
    match whole {
        0 => memory::ones(x.shape(), x.dtype()),
        1 => x,
        2 => squared(x),
        3 if !is_float => binary(BinaryOp::Mul, squared(x.clone()), x),
        4 if !is_float => squared(squared(x)),
        -1 if is_float => unary(UnaryOp::Recip, x),
        // Not the square's reciprocal: the square may be flushed to 0 where the power is still a number.
        -2 if divides_precisely => binary(BinaryOp::Div, unary(UnaryOp::Recip, x.clone()), x),
        _ if is_float => to_the(x, Scalar::Int(whole)),
        _ => {
            let exponent = whole as u32;
            if exponent == 0 {
                return memory::ones(x.shape(), x.dtype());
            }
            let op = ArithmeticOp::PowerScalar { bits: u32::BITS - exponent.leading_zeros() };
            let output = x.ty();
            record(op.into(), &[&x], &[ScalarInput::Int(exponent.into())], output)
        }
    }
}

fn squared(x: MpsGraphTensor) -> MpsGraphTensor {
    binary(BinaryOp::Mul, x.clone(), x)
}

/// `base ^ exponent` of f32, as C's `powf` defines it.
///
/// Apple does not document MPSGraph's power of a negative base, and Metal's gives NaN for some, so MPSGraph's power
/// gets `|base|`. The result is negative for an odd exponent and NaN for a fraction.
pub(super) fn power(cx: &Lowering<'_>, base: &ffi::Tensor, exponent: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let [one, two] = [1.0, 2.0].map(|x| cx.constant(x, DType::F32));
    let size = graph.power(&graph.absolute(base), exponent);
    let odd = graph.equal(&graph.absolute(&graph.modulo(exponent, &two)), &one);
    let signed = graph.select(&graph.logical_and(&odd, &is_negative(cx, base)), &graph.negative(&size), &size);
    let fraction = graph.not_equal(&graph.truncate(exponent), exponent);
    graph.select(&fraction, &nan_below_zero(cx, base, &signed), &signed)
}

/// Whether the sign bit is set: the odd powers of -0 are -0 and -infinity.
fn is_negative(cx: &Lowering<'_>, x: &ffi::Tensor) -> ffi::Tensor {
    cx.graph().not_equal(&cx.graph().signbit(x), &cx.constant(0.0, DType::F32))
}

/// `value`, but NaN where `x` is below zero and finite.
fn nan_below_zero(cx: &Lowering<'_>, x: &ffi::Tensor, value: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let below_zero = graph.logical_and(&graph.less_than(x, &cx.constant(0.0, DType::F32)), &graph.is_finite(x));
    // The square root of a negative number gives the NaN: a graph constant of NaN does not work on every system.
    graph.select(&below_zero, &graph.square_root(x), value)
}
