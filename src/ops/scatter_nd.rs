//! Writing elements and rows by index.
//!
//! As with reads there are two forms: along the middle axis of `[outer, axis, inner]` (`scatterAlongAxis:`), where an
//! index out of range is skipped, as Apple documents, and whole rows (`scatterWithDataTensor:`), where it changes the
//! nearest row. Floats are combined in f32, integers are not: see [`integer`].

mod integer;
mod nd;
mod update;

use burn_backend::{BoolStore, DType, Shape, TensorMetadata};

pub(crate) use nd::scatter_nd;
pub(crate) use update::{scatter, select_assign};

use super::Operation;
use super::arithmetic::{self, BinaryOp, CompareOp};
use super::gather::{clamp, index, rows};
use super::memory;
use crate::bridge::record;
use crate::dtype::stored;
use crate::error::{invalid, unsupported};
use crate::ffi::{self, DataType, ScatterMode};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// How an update is combined with the element that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Combine {
    Add,
    Mul,
    /// The smaller of the two; an update that is NaN is ignored, data that is NaN stays.
    Min,
    /// The larger of the two, with the same rule for NaN.
    Max,
}

/// A recorded write by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScatterNdOp {
    /// `[data (outer, n, inner), indices (outer, k, inner), updates (outer, k, inner)]`: sums.
    AddAlongAxis,
    /// `[data (n, inner) or (outer, n, inner), indices (k), updates]`. For `Min` and `Max` of floats the first scalar
    /// is the infinity that changes nothing.
    Rows { axis: usize, combine: Combine },
    /// `[indices (k)]` to i32 `(n)`: the last place among the indices that names each row, -1 for none.
    LastWriter,
}

impl Operation for ScatterNdOp {
    fn name(&self) -> &'static str {
        match self {
            ScatterNdOp::AddAlongAxis => "scatter_add",
            ScatterNdOp::Rows { combine: Combine::Add, .. } => "select_add",
            ScatterNdOp::Rows { combine: Combine::Mul | Combine::Min | Combine::Max, .. } | ScatterNdOp::LastWriter => {
                "scatter_nd"
            }
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        match self {
            ScatterNdOp::AddAlongAxis => {
                let indices = index(cx, &inputs[1], inputs[0].ty.shape[1]);
                if !output.dtype.is_float() {
                    let along = integer::Place::AlongAxis(&inputs[1].ty.shape);
                    return integer::add(cx, &inputs[0], &indices, &inputs[2], along);
                }
                in_f32(cx.graph(), output.dtype, [&inputs[0], &inputs[2]], |graph, data, updates| match data {
                    None => graph.scatter_along_axis_into_shape(1, updates, &indices, &output.shape, ScatterMode::Add),
                    Some(data) => graph.scatter_along_axis(1, data, updates, &indices, ScatterMode::Add),
                })
            }
            ScatterNdOp::Rows { axis, combine } => {
                let extent = inputs[0].ty.shape[*axis];
                let indices = clamp(cx, index(cx, &inputs[1], extent), extent);
                if !output.dtype.is_float() {
                    return match combine {
                        Combine::Add => integer::add(cx, &inputs[0], &indices, &inputs[2], integer::Place::Rows(*axis)),
                        Combine::Mul => integer::mul(cx, &inputs[0], &indices, &inputs[2]),
                        Combine::Min => integer::extreme(cx, &inputs[0], &indices, &inputs[2], ScatterMode::Min),
                        Combine::Max => integer::extreme(cx, &inputs[0], &indices, &inputs[2], ScatterMode::Max),
                    };
                }
                let mode = match combine {
                    Combine::Add => ScatterMode::Add,
                    Combine::Mul => ScatterMode::Mul,
                    Combine::Min => ScatterMode::Min,
                    Combine::Max => ScatterMode::Max,
                };
                let neutral = match combine {
                    Combine::Add | Combine::Mul => None,
                    Combine::Min | Combine::Max => Some(cx.scalar(0, DType::F32)),
                };
                let axis = *axis as isize;
                let zeros = || cx.graph().constant_with_scalar(0.0, &output.shape, DataType::F32);
                in_f32(cx.graph(), output.dtype, [&inputs[0], &inputs[2]], |graph, data, updates| {
                    match (&neutral, data) {
                        (None, None) if *combine == Combine::Add => {
                            graph.scatter_into_shape(updates, &indices, &output.shape, axis, mode)
                        }
                        (None, data) => {
                            graph.scatter(&data.cloned().unwrap_or_else(zeros), updates, &indices, axis, mode)
                        }
                        // Apple does not document what the kernels make of NaN, so NaN does not reach them.
                        (Some(neutral), data) => {
                            let data = &data.cloned().unwrap_or_else(zeros);
                            let updates = graph.select(&graph.is_nan(updates), neutral, updates);
                            let nan = graph.is_nan(data);
                            let known = graph.select(&nan, neutral, data);
                            let found = graph.scatter(&known, &updates, &indices, axis, mode);
                            graph.select(&nan, data, &found)
                        }
                    }
                })
            }
            ScatterNdOp::LastWriter => {
                let graph = cx.graph();
                let count = inputs[0].ty.shape[0];
                let places = graph.cast(&graph.coordinate_along_axis(0, &[count]), DataType::F32);
                let none = graph.constant_with_scalar(-1.0, &output.shape, DataType::F32);
                let indices = index(cx, &inputs[0], output.shape[0]);
                let last = graph.scatter_along_axis(0, &none, &places, &indices, ScatterMode::Max);
                graph.cast(&last, DataType::I32)
            }
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::AnyShape
    }
}

/// Runs `scatter` on the operands as f32: sums of 16-bit floats would be rounded at every step.
///
/// It gets no data if they are zeros, as for the gradient of an embedding: a constant of the table's size would be a
/// buffer that the executable keeps, and a copy of it in every run.
fn in_f32(
    graph: &ffi::Graph,
    dtype: DType,
    [data, updates]: [&Operand; 2],
    scatter: impl FnOnce(&ffi::Graph, Option<&ffi::Tensor>, &ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let as_f32 = |operand: &Operand| match dtype {
        DType::F32 => operand.tensor.clone(),
        _ => graph.cast(&operand.tensor, DataType::F32),
    };
    let data = (!data.is_zeros).then(|| as_f32(data));
    let sums = scatter(graph, data.as_ref(), &as_f32(updates));
    if dtype == DType::F32 { sums } else { graph.cast(&sums, stored(dtype)) }
}

/// `tensor` with `value` added along `dim` at `indices`, both of the tensor's shape except for their extent along
/// `dim`.
///
/// Every dtype but bool; integers wrap around. An index out of range is skipped.
pub(crate) fn scatter_add(
    dim: usize,
    tensor: MpsGraphTensor,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
) -> MpsGraphTensor {
    check_along("scatter_add", dim, &tensor, &indices, &value);
    let shape = tensor.shape.clone();
    require_dtype("scatter_add", &tensor, &value);
    if value.shape.num_elements() == 0 {
        return tensor;
    }
    require_elements("scatter_add", &tensor);
    require_exact("scatter_add", tensor.dtype(), indices.shape[dim]);
    require_room("scatter_add", &tensor, &value, indices.shape[dim]);
    let at = outer_axis_inner(&indices.shape, dim);
    let tensor = tensor.with_shape(outer_axis_inner(&shape, dim).into());
    let (indices, value) = (indices.with_shape(at.into()), value.with_shape(at.into()));
    let output = tensor.ty();
    record(ScatterNdOp::AddAlongAxis.into(), &[&tensor, &indices, &value], &[], output).with_shape(shape)
}

/// `tensor` with the slices of `value` along `dim` added to those that the rank-1 `indices` name.
///
/// Every dtype but bool; integers wrap around. An index out of range meets the nearest slice.
fn select_add(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor, value: MpsGraphTensor) -> MpsGraphTensor {
    require_dtype("select_add", &tensor, &value);
    write_rows("select_add", tensor, dim, indices, value, Combine::Add)
}

/// [`scatter_add`] for bools: true where the tensor or one of the values is.
pub(crate) fn scatter_or(
    dim: usize,
    tensor: MpsGraphTensor,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
) -> MpsGraphTensor {
    or_where(tensor, value, |none, ones| scatter_add(dim, none, indices, ones))
}

/// [`select_add`] for bools: true where the tensor or one of the values is.
pub(crate) fn select_or(
    tensor: MpsGraphTensor,
    dim: usize,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
) -> MpsGraphTensor {
    or_where(tensor, value, |none, ones| select_add(none, dim, indices, ones))
}

/// True where `tensor` is, or where `add` adds one of the values to zeros.
fn or_where(
    tensor: MpsGraphTensor,
    value: MpsGraphTensor,
    add: impl FnOnce(MpsGraphTensor, MpsGraphTensor) -> MpsGraphTensor,
) -> MpsGraphTensor {
    let none = memory::zeros(tensor.shape.clone(), DType::F32);
    let hits = add(none, arithmetic::cast(value, DType::F32));
    arithmetic::binary(BinaryOp::LogicalOr, tensor, positive(hits))
}

/// Gradient of [`embedding`](super::gather::embedding) for a table of `weights`' shape.
pub(crate) fn embedding_backward(
    weights: MpsGraphTensor,
    output_grad: MpsGraphTensor,
    indices: MpsGraphTensor,
) -> MpsGraphTensor {
    let (table, grad) = (weights.shape, output_grad.shape.clone());
    if table.num_dims() != 2 || grad.num_dims() != 3 || indices.shape.as_slice() != &grad[..2] || grad[2] != table[1] {
        let at = &indices.shape;
        invalid("embedding_backward", format!("gradient {grad:?} for indices {at:?} into weights {table:?}"));
    }
    let count = grad[0] * grad[1];
    let none = memory::zeros(table, output_grad.dtype());
    let updates = output_grad.with_shape([count, grad[2]].into());
    select_add(none, 0, indices.with_shape([count].into()), updates)
}

fn write_rows(
    name: &'static str,
    tensor: MpsGraphTensor,
    dim: usize,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
    combine: Combine,
) -> MpsGraphTensor {
    check_rows(name, dim, &tensor, &indices, &value);
    let shape = tensor.shape.clone();
    if value.shape.num_elements() == 0 {
        return tensor;
    }
    require_elements(name, &tensor);
    require_exact(name, tensor.dtype(), indices.shape[0]);
    if combine == Combine::Add {
        require_room(name, &tensor, &value, indices.shape[0]);
    }
    let neutral: &[ScalarInput] = match combine {
        _ if !tensor.dtype().is_float() => &[],
        Combine::Add | Combine::Mul => &[],
        // Fed, because a graph constant of -inf has been reported to crash the compiler.
        Combine::Min => &[ScalarInput::Float(f64::INFINITY)],
        Combine::Max => &[ScalarInput::Float(f64::NEG_INFINITY)],
    };
    let (axis, data) = rows(&shape, dim);
    let value_shape = rows(&value.shape, dim).1;
    let (tensor, value) = (tensor.with_shape(data), value.with_shape(value_shape));
    let output = tensor.ty();
    record(ScatterNdOp::Rows { axis, combine }.into(), &[&tensor, &indices, &value], neutral, output).with_shape(shape)
}

/// Ends an op whose indices are not one for each value along `dim`.
fn check_along(
    name: &'static str,
    dim: usize,
    tensor: &MpsGraphTensor,
    indices: &MpsGraphTensor,
    value: &MpsGraphTensor,
) {
    let (shape, at, new) = (&tensor.shape, &indices.shape, &value.shape);
    let rank = shape.num_dims();
    let same = |axis: usize| axis == dim || shape[axis] == at[axis];
    if dim >= rank || at.num_dims() != rank || !(0..rank).all(same) || new != at {
        invalid(name, format!("values of shape {new:?} at indices of shape {at:?}, axis {dim} of {shape:?}"));
    }
}

/// Ends an op whose indices are not one for each slice of `value` along `dim`.
fn check_rows(
    name: &'static str,
    dim: usize,
    tensor: &MpsGraphTensor,
    indices: &MpsGraphTensor,
    value: &MpsGraphTensor,
) {
    let (shape, at, new) = (&tensor.shape, &indices.shape, &value.shape);
    let fits = dim < shape.num_dims() && at.num_dims() == 1 && {
        let mut expected = shape.to_vec();
        expected[dim] = at[0];
        new.as_slice() == expected
    };
    if !fits {
        invalid(name, format!("values of shape {new:?} at indices of shape {at:?}, axis {dim} of {shape:?}"));
    }
}

fn positive(hits: MpsGraphTensor) -> MpsGraphTensor {
    arithmetic::compare_scalar(CompareOp::Greater, hits, ScalarInput::Float(0.0), DType::Bool(BoolStore::Native))
}

fn require_dtype(name: &'static str, data: &MpsGraphTensor, value: &MpsGraphTensor) {
    if data.dtype() != value.dtype() || data.dtype().is_bool() {
        invalid(name, format!("values of {:?} into {:?}", value.dtype(), data.dtype()));
    }
}

fn require_elements(name: &'static str, data: &MpsGraphTensor) {
    if data.shape.num_elements() == 0 {
        invalid(name, format!("every index is out of range for data of shape {:?}", data.shape));
    }
}

/// Refuses more updates than f32 counts exactly (up to 2^24), because the integer scatters rely on that.
fn require_exact(name: &'static str, dtype: DType, updates: usize) {
    if !dtype.is_float() && updates >= 1 << 24 {
        unsupported(name, format!("{updates} updates of {dtype:?}: at most 2^24 - 1; update fewer at a time"));
    }
}

/// Refuses updates whose digits do not fit one tensor: integers are summed digit by digit, side by side.
fn require_room(name: &'static str, data: &MpsGraphTensor, value: &MpsGraphTensor, count: usize) {
    let dtype = data.dtype();
    if dtype.is_float() {
        return;
    }
    let digits = integer::digits(dtype, count);
    let elements = [data, value].map(|tensor| tensor.shape.num_elements());
    if elements.into_iter().any(|elements| elements * digits >= 1 << 31) {
        unsupported(
            name,
            format!(
                "{count} updates in {:?} of {dtype:?} take {digits} digits for each of {elements:?} elements: 2^31 or \
                 more; split the tensor",
                data.shape
            ),
        );
    }
}

/// Extents of a packed shape with the last multiplied by `times`.
fn widened(shape: &Shape, times: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last *= times;
    }
    shape
}
