//! Comparisons and tests: bool results.

use burn_backend::{DType, TensorMetadata};

use super::{ArithmeticOp, broadcast, common_dtype, scalar_for};
use crate::bridge::record;
use crate::dtype::{Elements, require};
use crate::ffi::{self, Graph};
use crate::lowering::scalar::ScalarInput;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A comparison of two operands. A comparison with NaN is false, except `NotEqual`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CompareOp {
    /// Bools too.
    Equal,
    /// Bools too.
    NotEqual,
    Greater,
    GreaterEqual,
    Lower,
    LowerEqual,
}

/// A test of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TestOp {
    IsNan,
    IsInf,
}

/// Compares two tensors of one dtype; `out` is the bool dtype of the result.
pub(crate) fn compare(op: CompareOp, lhs: MpsGraphTensor, rhs: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    require(op.name(), out, lhs.dims());
    common_dtype(op.name(), &lhs, &rhs);
    op.check(op.name(), &lhs);
    let output = TensorType::new(out, broadcast(op.name(), &lhs.shape, &rhs.shape));
    record(ArithmeticOp::Compare(op).into(), &[&lhs, &rhs], &[], output)
}

/// Compares each element with a scalar, which takes the tensor's dtype; `out` is the bool dtype of the result.
pub(crate) fn compare_scalar(op: CompareOp, lhs: MpsGraphTensor, rhs: ScalarInput, out: DType) -> MpsGraphTensor {
    require(op.scalar_name(), out, lhs.dims());
    op.check(op.scalar_name(), &lhs);
    let output = TensorType::new(out, lhs.shape());
    record(ArithmeticOp::CompareScalar(op).into(), &[&lhs], &[scalar_for(rhs, lhs.dtype())], output)
}

/// Whether each element is NaN.
pub(crate) fn is_nan(x: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    test(TestOp::IsNan, x, out)
}

/// Whether each element is infinite.
pub(crate) fn is_inf(x: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    test(TestOp::IsInf, x, out)
}

fn test(op: TestOp, x: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    require(op.name(), out, x.dims());
    // MPSGraph raises an exception for the tests of integers.
    Elements::Floats.require(op.name(), &x);
    let output = TensorType::new(out, x.shape());
    record(ArithmeticOp::Test(op).into(), &[&x], &[], output)
}

impl CompareOp {
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::NotEqual => "not_equal",
            Self::Greater => "greater",
            Self::GreaterEqual => "greater_equal",
            Self::Lower => "lower",
            Self::LowerEqual => "lower_equal",
        }
    }

    pub fn scalar_name(self) -> &'static str {
        match self {
            Self::Equal => "equal_elem",
            Self::NotEqual => "not_equal_elem",
            Self::Greater => "greater_elem",
            Self::GreaterEqual => "greater_equal_elem",
            Self::Lower => "lower_elem",
            Self::LowerEqual => "lower_equal_elem",
        }
    }

    #[track_caller]
    fn check(self, name: &'static str, lhs: &MpsGraphTensor) {
        match self {
            Self::Equal | Self::NotEqual => {}
            Self::Greater | Self::GreaterEqual | Self::Lower | Self::LowerEqual => Elements::Numbers.require(name, lhs),
        }
    }

    pub(super) fn lower(self, graph: &Graph, lhs: &ffi::Tensor, rhs: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
        match self {
            Self::Equal if dtype.is_bool() => graph.logical_xnor(lhs, rhs),
            Self::NotEqual if dtype.is_bool() => graph.logical_xor(lhs, rhs),
            Self::Equal => graph.equal(lhs, rhs),
            Self::NotEqual => graph.not_equal(lhs, rhs),
            Self::Greater => graph.greater_than(lhs, rhs),
            Self::GreaterEqual => graph.greater_than_or_equal_to(lhs, rhs),
            Self::Lower => graph.less_than(lhs, rhs),
            Self::LowerEqual => graph.less_than_or_equal_to(lhs, rhs),
        }
    }
}

impl TestOp {
    pub fn name(self) -> &'static str {
        match self {
            Self::IsNan => "is_nan",
            Self::IsInf => "is_inf",
        }
    }

    pub(super) fn lower(self, graph: &Graph, x: &ffi::Tensor) -> ffi::Tensor {
        match self {
            Self::IsNan => graph.is_nan(x),
            Self::IsInf => graph.is_infinite(x),
        }
    }
}
