//! Values made of nothing: constants, a number of the caller everywhere, and ranges.

use std::ops::Range;

use burn_backend::{DType, Shape};

use super::arithmetic::{convert, number};
use crate::bridge::{Lowering, Operand, ScalarInput, record};
use crate::dtype::{data_type, require};
use crate::error::invalid;
use crate::ffi;
use crate::ops::Op;
use crate::tensor::{MpsGraphTensor, TensorType};

/// A value without operands, of the output's shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemoryOp {
    Zeros,
    Ones,
    /// The node's number everywhere.
    Full,
    /// 0, 1, 2, … along the only axis.
    Coordinates,
    /// The node's two numbers are the first element and the step.
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
    make(MemoryOp::Full, &[number(value, dtype)], shape, dtype)
}

/// Every `step`-th number of `range`, shape \[n\]; numbers that `dtype` cannot hold wrap.
pub(crate) fn arange(range: Range<i64>, step: usize, dtype: DType) -> MpsGraphTensor {
    if step == 0 {
        invalid("arange", format!("the step of {range:?} is 0"));
    }
    // In i128, because a range may be longer than i64 has numbers.
    let length = (i128::from(range.end) - i128::from(range.start)).max(0);
    let count = usize::try_from((length + step as i128 - 1) / step as i128).unwrap_or(usize::MAX);
    let shape = Shape::new([count]);
    if range.start == 0 && step == 1 {
        return make(MemoryOp::Coordinates, &[], shape, dtype);
    }
    let numbers = [ScalarInput::Int(range.start), ScalarInput::UInt(step as u64)];
    make(MemoryOp::Range, &numbers, shape, dtype)
}

fn make(op: MemoryOp, numbers: &[ScalarInput], shape: Shape, dtype: DType) -> MpsGraphTensor {
    require(op.name(), dtype);
    record(Op::Memory(op), &[], numbers, TensorType::new(dtype, shape))
}

impl MemoryOp {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Ones => "ones",
            Self::Full => "full",
            Self::Coordinates | Self::Range => "arange",
        }
    }

    pub fn lower(&self, cx: &mut Lowering<'_>, _inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let TensorType { dtype, shape } = output;
        // Integer constants that are reshaped and then gathered from or scattered into are folded wrongly, and bool
        // ones have been 255 (MetalHLO's MPSGraphCompiler.swift; pytorch's Fill): made as f32 and converted, they are
        // neither.
        let everywhere = |cx: &Lowering<'_>, value| {
            let stored = data_type("full", *dtype).unwrap_or_else(|error| unreachable!("checked by make: {error}"));
            let g = cx.graph();
            if dtype.is_float() {
                return g.constant_with_scalar(value, shape, stored);
            }
            let constant = g.constant_with_scalar(value, shape, ffi::DataType::F32);
            if dtype.is_bool() {
                g.not_equal(&constant, &cx.constant(0.0, DType::F32))
            } else {
                g.cast(&constant, stored)
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
                let (start, step) = (cx.scalar(0, *dtype), cx.scalar(1, *dtype));
                let g = cx.graph();
                g.addition(&g.multiplication(&coordinates(cx, output), &step), &start)
            }
        }
    }
}

/// The index of each element in the output's dtype; MPSGraph counts in i32, which a tensor never exceeds.
fn coordinates(cx: &Lowering<'_>, output: &TensorType) -> ffi::Tensor {
    let index = cx.graph().coordinate_along_axis(0, &output.shape);
    convert(cx, &index, DType::I32, output.dtype)
}
