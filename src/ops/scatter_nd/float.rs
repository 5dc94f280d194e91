//! Writes of floats, which are combined in f32.

use burn_backend::DType;

use super::Combine;
use crate::dtype::stored;
use crate::ffi::{self, DataType, ScatterMode};
use crate::lowering::{Lowering, Operand};
use crate::tensor_type::TensorType;

/// Data with updates added along an axis, each at its own index.
pub(super) fn add_along_axis(
    graph: &ffi::Graph,
    [data, updates]: [&Operand; 2],
    (indices, axis): (&ffi::Tensor, usize),
    output: &TensorType,
) -> ffi::Tensor {
    let axis = axis as isize;
    in_f32(graph, output.dtype, [data, updates], |data, updates| match data {
        None => graph.scatter_along_axis_into_shape(axis, updates, indices, &output.shape, ScatterMode::Add),
        Some(data) => graph.scatter_along_axis(axis, data, updates, indices, ScatterMode::Add),
    })
}

/// Data with the rows along an axis that `indices` name combined with updates.
pub(super) fn rows(
    cx: &Lowering<'_>,
    operands: [&Operand; 2],
    indices: &ffi::Tensor,
    (axis, combine): (usize, Combine),
    output: &TensorType,
) -> ffi::Tensor {
    let (graph, axis) = (cx.graph(), axis as isize);
    let zeros = || graph.constant_with_scalar(0.0, &output.shape, DataType::F32);
    in_f32(graph, output.dtype, operands, |data, updates| match (combine, data) {
        (Combine::Add, None) => graph.scatter_into_shape(updates, indices, &output.shape, axis, ScatterMode::Add),
        (Combine::Add, Some(data)) => graph.scatter(data, updates, indices, axis, ScatterMode::Add),
        (Combine::Mul, data) => {
            graph.scatter(&data.cloned().unwrap_or_else(zeros), updates, indices, axis, ScatterMode::Mul)
        }
        (Combine::Min | Combine::Max, data) => {
            let mode = if combine == Combine::Min { ScatterMode::Min } else { ScatterMode::Max };
            let data = data.cloned().unwrap_or_else(zeros);
            without_nan(cx, [&data, updates], |data, updates| graph.scatter(data, updates, indices, axis, mode))
        }
    })
}

/// Runs `scatter` with the first scalar, which changes nothing, in the place of each NaN. Then data that is NaN stays.
///
/// Apple does not document what the kernels of extremes make of NaN, so NaN does not reach them.
fn without_nan(
    cx: &Lowering<'_>,
    [data, updates]: [&ffi::Tensor; 2],
    scatter: impl FnOnce(&ffi::Tensor, &ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let graph = cx.graph();
    let neutral = cx.scalar(0, DType::F32);
    let updates = graph.select(&graph.is_nan(updates), &neutral, updates);
    let nan = graph.is_nan(data);
    let known = graph.select(&nan, &neutral, data);
    graph.select(&nan, data, &scatter(&known, &updates))
}

/// Runs `scatter` on the operands as f32: sums of 16-bit floats would be rounded at every step.
///
/// It gets no data if they are zeros, as for the gradient of an embedding: a constant of the table's size would be a
/// buffer that the executable keeps, and a copy of it in every run.
fn in_f32(
    graph: &ffi::Graph,
    dtype: DType,
    [data, updates]: [&Operand; 2],
    scatter: impl FnOnce(Option<&ffi::Tensor>, &ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let as_f32 = |operand: &Operand| {
        if dtype == DType::F32 { operand.tensor.clone() } else { graph.cast(&operand.tensor, DataType::F32) }
    };
    let data = (!data.is_zeros).then(|| as_f32(data));
    let sums = scatter(data.as_ref(), &as_f32(updates));
    if dtype == DType::F32 { sums } else { graph.cast(&sums, stored(dtype)) }
}
