//! Elementwise operations: functions of one and two operands, comparison, selection and conversion.
//!
//! Operands of one node have one dtype; shapes have one rank and broadcast extents of 1. Scalars of the caller are fed
//! and take the operand's dtype. Integer results are exact and wrap, in every dtype. An op of more than one node is
//! computed in f32 for 16-bit floats, and its result is rounded once.

mod binary;
mod cast;
mod comparison;
mod cross;
pub(in crate::ops) mod integer;
mod pairs;
mod power;
mod selection;
mod unary;
mod unsigned;

use burn_backend::{DType, Shape};

pub(crate) use binary::{BinaryOp, binary, binary_scalar};
pub(crate) use cast::cast;
pub(crate) use comparison::{CompareOp, TestOp, compare, compare_scalar, is_inf, is_nan};
pub(crate) use cross::cross;
pub(in crate::ops) use integer::divide as divide_integers;
pub(in crate::ops) use pairs::upper_product;
pub(crate) use power::{Exponent, powf_scalar, powi_scalar};
pub(crate) use selection::{clamp, mask_fill, mask_where};
pub(in crate::ops) use unary::log1p as log1p_f32;
pub(crate) use unary::{UnaryOp, unary};
pub(in crate::ops) use unsigned::divide_64 as divide_u64;

use super::Operation;
use crate::error::invalid;
use crate::ffi;
use crate::lowering::conversion::{computed_in, signed};
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{self, TensorType, shape};

/// An elementwise operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ArithmeticOp {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// The right operand is the node's scalar.
    BinaryScalar(BinaryOp),
    /// An integer to the power of the node's scalar, of which only the lowest `bits` can be set.
    PowerScalar {
        bits: u32,
    },
    /// A float to the power of a number of which something is known.
    PowerOf(Exponent),
    Compare(CompareOp),
    /// The right operand is the node's scalar.
    CompareScalar(CompareOp),
    Test(TestOp),
    /// To the output's dtype.
    Cast,
    /// `[tensor, mask, value]`
    MaskWhere,
    /// `[tensor, mask]` and the value as a scalar.
    MaskFill,
    /// The lower and the upper bound, if the op has them, are the node's scalars.
    Clamp {
        min: bool,
        max: bool,
    },
}

impl Operation for ArithmeticOp {
    fn name(&self) -> &'static str {
        match self {
            Self::Unary(op) => op.name(),
            Self::Binary(op) => op.name(),
            Self::BinaryScalar(op) => op.scalar_name(),
            Self::PowerScalar { .. } => "powi_scalar",
            Self::PowerOf(_) => BinaryOp::Pow.scalar_name(),
            Self::Compare(op) => op.name(),
            Self::CompareScalar(op) => op.scalar_name(),
            Self::Test(op) => op.name(),
            Self::Cast => "cast",
            Self::MaskWhere => "mask_where",
            Self::MaskFill => "mask_fill",
            Self::Clamp { .. } => "clamp",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let x = &inputs[0].tensor;
        let (dtype, shape) = (inputs[0].ty.dtype, &inputs[0].ty.shape[..]);
        if dtype != signed(dtype) {
            return unsigned::lower(self, cx, inputs, output);
        }
        match self {
            Self::Unary(op) => op.lower(cx, x, dtype),
            Self::Binary(op) => op.lower(cx, (x, shape), (&inputs[1].tensor, &inputs[1].ty.shape), dtype),
            Self::BinaryScalar(op) => {
                let rhs = cx.scalar(0, dtype);
                op.lower(cx, (x, shape), (&rhs, &[1]), dtype)
            }
            Self::PowerScalar { bits } => {
                let exponent = cx.scalar(0, DType::I32);
                integer::power(cx, x, &exponent, dtype, *bits)
            }
            Self::PowerOf(exponent) => exponent.lower(cx, x, dtype, || cx.scalar(0, DType::F32)),
            Self::Compare(op) => op.lower(cx.graph(), x, &inputs[1].tensor, dtype),
            Self::CompareScalar(op) => {
                let rhs = cx.scalar(0, dtype);
                op.lower(cx.graph(), x, &rhs, dtype)
            }
            Self::Test(op) => op.lower(cx.graph(), x),
            Self::Cast => cast::lower(cx, x, dtype, output.dtype),
            Self::MaskWhere => cx.graph().select(&inputs[1].tensor, &inputs[2].tensor, x),
            Self::MaskFill => {
                let value = cx.scalar(0, dtype);
                cx.graph().select(&inputs[1].tensor, &value, x)
            }
            Self::Clamp { min, max } => selection::lower_clamp(cx, x, dtype, *min, *max),
        }
    }

    fn widest(&self, operands: &[&MpsGraphTensor], output: &TensorType) -> usize {
        let dtype = operands[0].dtype();
        match self {
            Self::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
            | Self::BinaryScalar(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
            | Self::Compare(_)
            | Self::CompareScalar(_)
            | Self::MaskWhere
            | Self::MaskFill
                if dtype.is_float() =>
            {
                0
            }
            Self::Binary(BinaryOp::Div | BinaryOp::Remainder)
            | Self::BinaryScalar(BinaryOp::Div | BinaryOp::Remainder)
                if dtype == DType::U32 =>
            {
                8
            }
            Self::Cast if dtype.is_float() && output.dtype == DType::U32 => 8,
            Self::Compare(_)
            | Self::CompareScalar(_)
            | Self::MaskWhere
            | Self::MaskFill
            | Self::Unary(_)
            | Self::Binary(_)
            | Self::BinaryScalar(_)
            | Self::PowerScalar { .. }
            | Self::PowerOf(_)
            | Self::Test(_)
            | Self::Cast
            | Self::Clamp { .. } => 4,
        }
    }

    /// Functions of a softmax that a model may put before the product (masks, dropout, a scale) keep it a softmax.
    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        let kept = Provenance::union_of(inputs).without(Provenance::VIEW);
        match self {
            // The compiler moves casts past views.
            Self::Cast => Provenance::union_of(inputs),
            Self::Unary(UnaryOp::Exp) => Provenance::EXPONENTIALS,
            Self::Unary(UnaryOp::Recip) if kept.has(Provenance::TOTALS) => Provenance::RECIPROCALS,
            Self::Binary(BinaryOp::Div)
                if inputs[0].has(Provenance::EXPONENTIALS) && inputs[1].has(Provenance::TOTALS) =>
            {
                Provenance::SOFTMAX
            }
            Self::Binary(BinaryOp::Mul) if kept.has(Provenance::EXPONENTIALS.with(Provenance::RECIPROCALS)) => {
                Provenance::SOFTMAX
            }
            Self::Binary(_) | Self::BinaryScalar(_) | Self::MaskWhere | Self::MaskFill | Self::Clamp { .. } => kept,
            Self::Unary(_)
            | Self::PowerScalar { .. }
            | Self::PowerOf(_)
            | Self::Compare(_)
            | Self::CompareScalar(_)
            | Self::Test(_) => Provenance::NONE,
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn is_cast(&self) -> bool {
        matches!(self, Self::Cast)
    }

    fn widens(&self, dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        let is_in_f32 = match self {
            Self::Unary(op) => *op == UnaryOp::Log1p,
            Self::Binary(op) | Self::BinaryScalar(op) => matches!(op, BinaryOp::Remainder | BinaryOp::Pow),
            Self::PowerOf(_) => true,
            Self::PowerScalar { .. }
            | Self::Compare(_)
            | Self::CompareScalar(_)
            | Self::Test(_)
            | Self::Cast
            | Self::MaskWhere
            | Self::MaskFill
            | Self::Clamp { .. } => false,
        };
        is_in_f32 && computed_in(dtype) != dtype
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        match self {
            Self::Cast => Reshapes::SeenThrough,
            Self::Binary(op) | Self::BinaryScalar(op) => op.reshapes(),
            Self::Unary(_)
            | Self::PowerScalar { .. }
            | Self::PowerOf(_)
            | Self::Compare(_)
            | Self::CompareScalar(_)
            | Self::Test(_)
            | Self::MaskWhere
            | Self::MaskFill
            | Self::Clamp { .. } => Reshapes::Nothing,
        }
    }
}

/// `value` in the form that a tensor of `dtype` needs: a float for floats, a whole number for integers. So the program
/// is the same for `2` and `2.0`.
pub(in crate::ops) fn scalar_for(value: ScalarInput, dtype: DType) -> ScalarInput {
    match value {
        ScalarInput::Float(x) if dtype == DType::U64 => ScalarInput::UInt(x as u64),
        ScalarInput::Float(x) if dtype.is_int() || dtype.is_uint() => ScalarInput::Int(x as i64),
        ScalarInput::Int(x) if dtype.is_float() => ScalarInput::Float(x as f64),
        ScalarInput::UInt(x) if dtype.is_float() => ScalarInput::Float(x as f64),
        ScalarInput::Float(_) | ScalarInput::Int(_) | ScalarInput::UInt(_) => value,
        ScalarInput::RandomState(_) => {
            unreachable!("a generator's state is not an operand of arithmetic")
        }
    }
}

/// The dtype that two operands share.
#[track_caller]
fn common_dtype(op: &'static str, lhs: &MpsGraphTensor, rhs: &MpsGraphTensor) -> DType {
    if lhs.dtype() != rhs.dtype() {
        let ([one, other], [ours, theirs]) = ([lhs.dtype(), rhs.dtype()], [lhs.dims(), rhs.dims()]);
        let dtypes = format!("the dtypes {one:?} and {other:?}");
        invalid(op, format!("operands have {dtypes}, and the shapes {ours:?} and {theirs:?}; cast one of them"));
    }
    lhs.dtype()
}

/// The shape that two shapes of one rank broadcast to.
#[track_caller]
fn broadcast(op: &'static str, lhs: &Shape, rhs: &Shape) -> Shape {
    if lhs == rhs {
        return shape(lhs);
    }
    if lhs.num_dims() != rhs.num_dims() {
        invalid(op, format!("shapes {:?} and {:?} differ in rank", lhs.as_slice(), rhs.as_slice()));
    }
    tensor_type::broadcast(lhs, rhs).unwrap_or_else(|dim| {
        invalid(
            op,
            format!(
                "incompatible size at dimension '{dim}' => '{} != {}', which can't be broadcasted; lhs shape {:?}, rhs \
                 shape {:?}",
                lhs[dim],
                rhs[dim],
                lhs.as_slice(),
                rhs.as_slice()
            ),
        )
    })
}
