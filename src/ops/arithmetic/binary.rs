//! Functions of two operands; the second is a tensor or a scalar.

use burn_backend::DType;

use super::pairs::{Bits, Shaped};
use super::{ArithmeticOp, broadcast, common_dtype, integer, power, scalar_for};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::conversion::{computed_in, convert};
use crate::lowering::provenance::Reshapes;
use crate::lowering::scalar::ScalarInput;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A function of two operands of one dtype, which is the result's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Integers toward zero.
    Div,
    /// With the sign of the divisor.
    Remainder,
    /// Floats as C's `powf`; integers wrap and take the exponent modulo 2^32.
    Pow,
    /// Floats: the angle of the point (right, left).
    Atan2,
    /// Integers.
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    /// Integers; the count is taken modulo 64.
    LeftShift,
    /// Integers, arithmetic for signed ones; the count is taken modulo 64.
    RightShift,
    /// Bools.
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

/// Applies `op` to two tensors, broadcasting extents of 1.
pub(crate) fn binary(op: BinaryOp, lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
    let dtype = common_dtype(op.name(), &lhs, &rhs);
    op.elements().require(op.name(), &lhs);
    let output = TensorType::new(dtype, broadcast(op.name(), &lhs.shape, &rhs.shape));
    record(ArithmeticOp::Binary(op).into(), &[&lhs, &rhs], &[], output)
}

/// Applies `op` to each element and a scalar, which takes the tensor's dtype.
pub(crate) fn binary_scalar(op: BinaryOp, lhs: MpsGraphTensor, rhs: ScalarInput) -> MpsGraphTensor {
    op.elements().require(op.scalar_name(), &lhs);
    let output = lhs.ty();
    let rhs = scalar_for(rhs, output.dtype);
    let (op, rhs) = as_multiplication(op, rhs).unwrap_or((op, rhs));
    record(ArithmeticOp::BinaryScalar(op).into(), &[&lhs], &[rhs], output)
}

/// The multiplication that shifts integers to the left by a number of places, modulo 64: one node, where the shift
/// itself looks for counts beyond the dtype's width, or at halves of 64 bits. Narrower dtypes take the factor's low
/// bits.
fn as_multiplication(op: BinaryOp, places: ScalarInput) -> Option<(BinaryOp, ScalarInput)> {
    if op != BinaryOp::LeftShift {
        return None;
    }
    let places = match places {
        ScalarInput::Int(places) => places as u32,
        ScalarInput::UInt(places) => places as u32,
        ScalarInput::Float(_) | ScalarInput::RandomState(_) => return None,
    };
    Some((BinaryOp::Mul, ScalarInput::Int(1_i64.wrapping_shl(places))))
}

impl BinaryOp {
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Remainder => "remainder",
            Self::Pow => "pow",
            Self::Atan2 => "atan2",
            Self::BitwiseAnd => "bitwise_and",
            Self::BitwiseOr => "bitwise_or",
            Self::BitwiseXor => "bitwise_xor",
            Self::LeftShift => "bitwise_left_shift",
            Self::RightShift => "bitwise_right_shift",
            Self::LogicalAnd => "bool_and",
            Self::LogicalOr => "bool_or",
            Self::LogicalXor => "bool_xor",
        }
    }

    pub fn scalar_name(self) -> &'static str {
        match self {
            Self::Add => "add_scalar",
            Self::Sub => "sub_scalar",
            Self::Mul => "mul_scalar",
            Self::Div => "div_scalar",
            Self::Remainder => "remainder_scalar",
            Self::Pow => "pow_scalar",
            Self::Atan2 => "atan2_scalar",
            Self::BitwiseAnd => "bitwise_and_scalar",
            Self::BitwiseOr => "bitwise_or_scalar",
            Self::BitwiseXor => "bitwise_xor_scalar",
            Self::LeftShift => "bitwise_left_shift_scalar",
            Self::RightShift => "bitwise_right_shift_scalar",
            Self::LogicalAnd => "bool_and_scalar",
            Self::LogicalOr => "bool_or_scalar",
            Self::LogicalXor => "bool_xor_scalar",
        }
    }

    /// Of 64 bits a shift to the right ends in a reshape. What the bitwise functions end in is none: they give the
    /// halves of each element another dtype.
    pub(super) fn reshapes(self) -> Reshapes {
        match self {
            Self::RightShift => Reshapes::AnyShape,
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Remainder
            | Self::Pow
            | Self::Atan2
            | Self::BitwiseAnd
            | Self::BitwiseOr
            | Self::BitwiseXor
            | Self::LeftShift
            | Self::LogicalAnd
            | Self::LogicalOr
            | Self::LogicalXor => Reshapes::Nothing,
        }
    }

    /// What Burn defines the op for.
    fn elements(self) -> Elements {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Remainder | Self::Pow => Elements::Numbers,
            Self::Atan2 => Elements::Floats,
            Self::BitwiseAnd | Self::BitwiseOr | Self::BitwiseXor | Self::LeftShift | Self::RightShift => {
                Elements::Integers
            }
            Self::LogicalAnd | Self::LogicalOr | Self::LogicalXor => Elements::Bools,
        }
    }

    /// Adds the function of two tensors, each with its shape, to a graph. Not for u16, u32 and u64.
    pub(super) fn lower(self, cx: &Lowering<'_>, left: Shaped<'_>, right: Shaped<'_>, dtype: DType) -> ffi::Tensor {
        let (graph, a, b) = (cx.graph(), left.0, right.0);
        match self {
            Self::Add => graph.addition(a, b),
            Self::Sub => graph.subtraction(a, b),
            Self::Mul if left.1 == right.1 => integer::multiply(cx, a, b, dtype),
            Self::Mul => graph.multiplication(a, b),
            Self::Div if dtype.is_float() => graph.division(a, b),
            Self::Div => integer::divide(cx, a, b, dtype),
            Self::Remainder if dtype.is_float() => in_f32(cx, a, b, dtype, remainder),
            Self::Remainder => integer::remainder(cx, a, b, dtype),
            Self::Pow if dtype.is_float() => in_f32(cx, a, b, dtype, power::power),
            Self::Pow => {
                let exponent = convert(cx, b, dtype, DType::I32);
                // An exponent modulo 2^width gives the same power modulo 2^width.
                integer::power(cx, a, &exponent, dtype, integer::width(dtype).min(32))
            }
            Self::Atan2 => graph.atan2(a, b),
            Self::BitwiseAnd | Self::BitwiseOr | Self::BitwiseXor if dtype == DType::I64 => {
                Bits::Bitwise(self).lower(cx, left, right)
            }
            Self::LeftShift if dtype == DType::I64 => Bits::LeftShift.lower(cx, left, right),
            Self::RightShift if dtype == DType::I64 => Bits::RightShift { is_unsigned: false }.lower(cx, left, right),
            Self::BitwiseAnd => graph.bitwise_and(a, b),
            Self::BitwiseOr => graph.bitwise_or(a, b),
            Self::BitwiseXor => graph.bitwise_xor(a, b),
            Self::LeftShift => integer::shift_left(cx, a, b, dtype),
            Self::RightShift => integer::shift_right(cx, a, b, dtype),
            Self::LogicalAnd => graph.logical_and(a, b),
            Self::LogicalOr => graph.logical_or(a, b),
            Self::LogicalXor => graph.logical_xor(a, b),
        }
    }
}

/// A function of f32 applied to operands of any float dtype.
fn in_f32(
    cx: &Lowering<'_>,
    a: &ffi::Tensor,
    b: &ffi::Tensor,
    dtype: DType,
    function: impl Fn(&Lowering<'_>, &ffi::Tensor, &ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let wide = computed_in(dtype);
    let result = function(cx, &convert(cx, a, dtype, wide), &convert(cx, b, dtype, wide));
    convert(cx, &result, wide, dtype)
}

/// PyTorch's remainder of f32: C's, plus `b` where their signs differ. `floorModulo`, which is `a - floor(a / b) * b`,
/// loses a small `a`.
///
/// A number smaller than `b` is its own remainder. Metal's specification defines `fmod` as `a - b * trunc(a / b)`,
/// which is NaN for an infinite `b`.
fn remainder(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let zero = cx.constant(0.0, DType::F32);
    let is_small = graph.less_than(&graph.absolute(a), &graph.absolute(b));
    let rest = graph.select(&is_small, a, &graph.modulo(a, b));
    let signs_differ = graph.logical_xor(&graph.less_than(&rest, &zero), &graph.less_than(b, &zero));
    let moved = graph.logical_and(&signs_differ, &graph.not_equal(&rest, &zero));
    graph.select(&moved, &graph.addition(&rest, b), &rest)
}
