//! What can be recorded: the op families, each named after Apple's header.
//!
//! A family's file holds its variant with attributes, the functions that check shapes and dtypes and record it, and
//! its lowering to MPSGraph nodes, side by side. Nothing here touches a raw pointer, a buffer or a host copy.

pub(crate) mod activation;
pub(crate) mod arithmetic;
pub(crate) mod barrier;
pub(crate) mod gather;
pub(crate) mod matrix_multiplication;
pub(crate) mod memory;
pub(crate) mod normalization;
pub(crate) mod random;
pub(crate) mod reduction;
pub(crate) mod scatter_nd;
pub(crate) mod tensor_shape;

use crate::bridge::{Lowering, Operand};
use crate::ffi;
use crate::tensor::TensorType;

/// One recorded operation with its attributes: everything that a program's identity needs besides operand types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Activation(activation::ActivationOp),
    Arithmetic(arithmetic::ArithmeticOp),
    Gather(gather::GatherOp),
    MatrixMultiplication(matrix_multiplication::MatrixMultiplicationOp),
    Memory(memory::MemoryOp),
    Random(random::RandomOp),
    Reduction(reduction::ReductionOp),
    ScatterNd(scatter_nd::ScatterNdOp),
    TensorShape(tensor_shape::TensorShapeOp),
}

impl Op {
    /// Name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Activation(op) => op.name(),
            Op::Arithmetic(op) => op.name(),
            Op::Gather(op) => op.name(),
            Op::MatrixMultiplication(op) => op.name(),
            Op::Memory(op) => op.name(),
            Op::Random(op) => op.name(),
            Op::Reduction(op) => op.name(),
            Op::ScatterNd(op) => op.name(),
            Op::TensorShape(op) => op.name(),
        }
    }

    /// Adds the op to a graph; the tensor has exactly `output`'s shape and dtype.
    pub fn lower(&self, cx: &mut Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        match self {
            Op::Activation(op) => op.lower(cx, inputs, output),
            Op::Arithmetic(op) => op.lower(cx, inputs, output),
            Op::Gather(op) => op.lower(cx, inputs, output),
            Op::MatrixMultiplication(op) => op.lower(cx, inputs, output),
            Op::Memory(op) => op.lower(cx, inputs, output),
            Op::Random(op) => op.lower(cx, inputs, output),
            Op::Reduction(op) => op.lower(cx, inputs, output),
            Op::ScatterNd(op) => op.lower(cx, inputs, output),
            Op::TensorShape(op) => op.lower(cx, inputs, output),
        }
    }
}
