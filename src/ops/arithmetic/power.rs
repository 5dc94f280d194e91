//! Powers of floats, and Burn's choice among them for a fixed exponent.

use burn_backend::{DType, Scalar, TensorMetadata};

use super::{ArithmeticOp, BinaryOp, UnaryOp, binary, binary_scalar, unary};
use crate::bridge::record;
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::scalar::ScalarInput;
use crate::ops::memory;
use crate::tensor::MpsGraphTensor;

/// Each float to the power of `exponent`.
pub(crate) fn powf_scalar(x: MpsGraphTensor, exponent: Scalar) -> MpsGraphTensor {
    // Burn's conversion to an integer panics beyond i64.
    let fits = exponent.elem::<f64>().abs() < i64::MAX as f64;
    match exponent {
        Scalar::Float(_) if !fits => binary_scalar(BinaryOp::Pow, x, exponent.into()),
        Scalar::Float(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) => match exponent.try_as_integer() {
            Some(integer) => powi_scalar(x, integer),
            None => binary_scalar(BinaryOp::Pow, x, exponent.into()),
        },
    }
}

/// Each element to the power of an integer; integers wrap and take the exponent modulo 2^32.
///
/// The exponents for which Burn's own definition has a special case get ops of their own. Any other exponent is fed;
/// for integers, the program depends on the exponent's number of bits.
pub(crate) fn powi_scalar(x: MpsGraphTensor, exponent: Scalar) -> MpsGraphTensor {
    let is_float = x.dtype().is_float();
    // A square in 16 bits overflows or has few digits where its reciprocal still has all.
    let square_is_precise = x.dtype() == DType::F32;
    match exponent.elem::<i64>() {
        0 => memory::ones(x.shape(), x.dtype()),
        1 => x,
        2 => binary(BinaryOp::Mul, x.clone(), x),
        -1 if is_float => unary(UnaryOp::Recip, x),
        -2 if square_is_precise => unary(UnaryOp::Recip, binary(BinaryOp::Mul, x.clone(), x)),
        _ if is_float => binary_scalar(BinaryOp::Pow, x, exponent.into()),
        wide => {
            let exponent = wide as u32;
            if exponent == 0 {
                return memory::ones(x.shape(), x.dtype());
            }
            let op = ArithmeticOp::PowerScalar { bits: u32::BITS - exponent.leading_zeros() };
            let output = x.ty();
            record(op.into(), &[&x], &[ScalarInput::Int(exponent.into())], output)
        }
    }
}

/// `base ^ exponent` of f32, as C's `powf` defines it.
///
/// Apple does not document MPSGraph's power of a negative base, and Metal's gives NaN for some, so MPSGraph's power
/// gets `|base|`. The result is negative for an odd exponent and NaN for a fraction.
pub(super) fn power(cx: &Lowering<'_>, base: &ffi::Tensor, exponent: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let [zero, one, two] = [0.0, 1.0, 2.0].map(|x| cx.constant(x, DType::F32));
    let size = graph.power(&graph.absolute(base), exponent);
    let odd = graph.equal(&graph.absolute(&graph.modulo(exponent, &two)), &one);
    // The sign bit and not `< 0`: the odd powers of -0 are -0 and -infinity.
    let negative = graph.not_equal(&graph.signbit(base), &zero);
    let signed = graph.select(&graph.logical_and(&odd, &negative), &graph.negative(&size), &size);
    let fraction = graph.not_equal(&graph.truncate(exponent), exponent);
    let below_zero = graph.logical_and(&graph.less_than(base, &zero), &graph.is_finite(base));
    // The square root of a negative number gives the NaN: a graph constant of NaN does not work on every system.
    graph.select(&graph.logical_and(&fraction, &below_zero), &graph.square_root(base), &signed)
}
