//! Values without operands: constants, one number of the caller in every element, and ranges.

use std::ops::Range;

use burn_backend::{DType, Shape};

use super::Operation;
use super::arithmetic::scalar_for;
use crate::bridge::record;
use crate::dtype::{require, stored};
use crate::error::invalid;
use crate::ffi;
use crate::lowering::conversion::{convert, low_bits, signed};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A value without operands, of the output's shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemoryOp {
    Zeros,
    Ones,
    /// The node's scalar in every element.
    Full,
    /// 0, 1, 2, … along the only axis.
    Coordinates,
    /// The node's two scalars are the first element and the step.
    Range,
}

/// Zeros, or false.
pub(crate) fn zeros(shape: Shape, dtype: DType) -> MpsGraphTensor {
    make(MemoryOp::Zeros, &[], shape, dtype)
}

/// Ones, or true.
pub(crate) fn ones(shape: Shape, dtype: DType) -> MpsGraphTensor {
    make(MemoryOp::Ones, &[], shape, dtype)
}

/// `value` as `dtype` everywhere.
pub(crate) fn full(shape: Shape, value: ScalarInput, dtype: DType) -> MpsGraphTensor {
    make(MemoryOp::Full, &[scalar_for(value, dtype)], shape, dtype)
}

/// Every `step`-th number of `range`, shape \[n\]; numbers that `dtype` cannot hold wrap.
pub(crate) fn arange(range: Range<i64>, step: usize, dtype: DType) -> MpsGraphTensor {
    if step == 0 {
        invalid("arange", format!("the step of {range:?} is 0"));
    }
    // In i128, because a range of i64 may be longer than `i64::MAX`.
    let length = (i128::from(range.end) - i128::from(range.start)).max(0);
    let count = usize::try_from((length + step as i128 - 1) / step as i128).unwrap_or(usize::MAX);
    let shape = Shape::new([count]);
    if range.start == 0 && step == 1 {
        // Fewer bits may not hold the last ones.
        let counts_from_zero = dtype.size() >= size_of::<i32>();
        return MpsGraphTensor { counts_from_zero, ..make(MemoryOp::Coordinates, &[], shape, dtype) };
    }
    let scalars = [ScalarInput::Int(range.start), ScalarInput::UInt(step as u64)];
    make(MemoryOp::Range, &scalars, shape, dtype)
}

fn make(op: MemoryOp, scalars: &[ScalarInput], shape: Shape, dtype: DType) -> MpsGraphTensor {
    require(op.name(), dtype, &shape);
    record(op.into(), &[], scalars, TensorType::new(dtype, shape))
}

impl Operation for MemoryOp {
    fn name(&self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
            Self::Full => "full",
            Self::Coordinates | Self::Range => "arange",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, _inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let TensorType { dtype, shape } = output;
        // MPSGraph folds integer constants wrongly that are reshaped and then gathered from or scattered into, and bool
        // constants have been 255 (MetalHLO's MPSGraphCompiler.swift; pytorch's Fill). Constants that are made as f32
        // and converted have neither fault.
        let everywhere = |cx: &Lowering<'_>, value| {
            let graph = cx.graph();
            if dtype.is_float() {
                return graph.constant_with_scalar(value, shape, stored(*dtype));
            }
            let constant = graph.constant_with_scalar(value, shape, ffi::DataType::F32);
            if dtype.is_bool() {
                graph.not_equal(&constant, &cx.constant(0.0, DType::F32))
            } else {
                graph.cast(&constant, stored(*dtype))
            }
        };
        match self {
            Self::Zeros => everywhere(cx, 0.0),
            Self::Ones => everywhere(cx, 1.0),
            Self::Full => {
                let value = cx.scalar(0, *dtype);
                if shape.as_slice() == [1] { value } else { cx.graph().broadcast(&value, shape) }
            }
            Self::Coordinates => coordinates(cx, output),
            Self::Range => {
                let bits = signed(*dtype);
                let (start, step) = (cx.scalar(0, bits), cx.scalar(1, bits));
                let graph = cx.graph();
                let places = coordinates(cx, &TensorType::new(bits, shape.clone()));
                let range = graph.addition(&graph.multiplication(&places, &step), &start);
                low_bits(graph, &range, bits, *dtype)
            }
        }
    }

    fn widest(&self, _operands: &[&MpsGraphTensor], output: &TensorType) -> usize {
        match self {
            Self::Zeros | Self::Ones if output.dtype.is_float() => 0,
            Self::Full => 0,
            Self::Zeros | Self::Ones | Self::Coordinates | Self::Range => 4,
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        match self {
            // One number, which may be kept as such.
            Self::Full | Self::Zeros | Self::Ones => Provenance::REPEATED,
            Self::Coordinates | Self::Range => Provenance::NONE,
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::Nothing
    }
}

/// The index of each element in the output's dtype; MPSGraph counts in i32, which a tensor never exceeds.
fn coordinates(cx: &Lowering<'_>, output: &TensorType) -> ffi::Tensor {
    let index = cx.graph().coordinate_along_axis(0, &output.shape);
    convert(cx, &index, DType::I32, output.dtype)
}
