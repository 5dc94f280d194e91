//! Writing elements and rows by index.
//!
//! As with reads there are two forms: along one axis of at most three (`scatterAlongAxis:`), where an index out of
//! range is skipped, as Apple documents, and whole rows (`scatterWithDataTensor:`), where it changes the nearest row.
//! Floats are combined in f32, integers are not: see [`integer`].

mod checks;
mod float;
mod integer;
mod nd;
mod parts;
mod update;

use burn_backend::DType;

pub(crate) use nd::scatter_nd;
pub(crate) use update::{scatter, select_assign};

use self::checks::{check_along, check_rows, require_dtype};
use self::parts::in_parts;
use super::Operation;
use super::arithmetic::{self, BinaryOp, CompareOp, cast};
use super::gather::{at_zero, clamp, index, require_elements, rows};
use super::{memory, reduction};
use crate::bridge::record;
use crate::dtype::BOOL;
use crate::error::{Call, invalid};
use crate::ffi::{self, DataType, ScatterMode};
use crate::lowering::conversion::computed_in;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::along;
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
    /// `[data, indices, updates]` of shapes that are [`along`] one axis, the last two of one shape: sums.
    AddAlongAxis { axis: usize },
    /// `[data (n, inner) or (outer, n, inner), indices (k), updates]`. For `Min` and `Max` of floats the first scalar
    /// is the infinity that changes nothing.
    Rows { axis: usize, combine: Combine },
    /// `[indices (k)]` to i32 `(n)`: the last place among the indices that names each row, -1 for none.
    LastWriter,
}

impl Operation for ScatterNdOp {
    fn name(&self) -> &'static str {
        match self {
            ScatterNdOp::AddAlongAxis { .. } => "scatter_add",
            ScatterNdOp::Rows { combine: Combine::Add, .. } => "select_add",
            ScatterNdOp::Rows { combine: Combine::Mul | Combine::Min | Combine::Max, .. } | ScatterNdOp::LastWriter => {
                "scatter_nd"
            }
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let is_float = output.dtype.is_float();
        let data_indices_updates = || {
            let [data, indices, updates] = inputs else { unreachable!("recorded with three operands") };
            (data, indices, updates)
        };
        match *self {
            ScatterNdOp::AddAlongAxis { axis } => {
                let (data, indices, updates) = data_indices_updates();
                let at = index(cx, indices, data.ty.shape[axis]);
                if is_float {
                    return float::add_along_axis(cx.graph(), [data, updates], (&at, axis), output);
                }
                integer::add(cx, data, &at, updates, integer::Place::AlongAxis(axis))
            }
            ScatterNdOp::Rows { axis, combine } => {
                let (data, indices, updates) = data_indices_updates();
                let extent = data.ty.shape[axis];
                let at = clamp(cx, index(cx, indices, extent), extent);
                if is_float {
                    return float::rows(cx, [data, updates], &at, (axis, combine), output);
                }
                match combine {
                    Combine::Add => integer::add(cx, data, &at, updates, integer::Place::Rows(axis)),
                    Combine::Mul => integer::mul(cx, data, &at, updates),
                    Combine::Min => integer::extreme(cx, data, &at, updates, ScatterMode::Min),
                    Combine::Max => integer::extreme(cx, data, &at, updates, ScatterMode::Max),
                }
            }
            ScatterNdOp::LastWriter => last_writer(cx, &inputs[0], &output.shape),
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

/// The largest of the places whose index names each row.
fn last_writer(cx: &Lowering<'_>, indices: &Operand, rows: &[usize]) -> ffi::Tensor {
    let graph = cx.graph();
    let places = graph.cast(&graph.coordinate_along_axis(0, &[indices.ty.shape[0]]), DataType::F32);
    let none = graph.constant_with_scalar(-1.0, rows, DataType::F32);
    let last = graph.scatter_along_axis(0, &none, &places, &index(cx, indices, rows[0]), ScatterMode::Max);
    graph.cast(&last, DataType::I32)
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
    let _call = Call::begin("scatter_add", [&tensor, &indices, &value].map(MpsGraphTensor::typed));
    check_along("scatter_add", dim, &tensor, &indices, &value);
    let shape = tensor.shape.clone();
    require_dtype("scatter_add", &tensor, &value);
    if value.shape.num_elements() == 0 {
        return tensor;
    }
    require_elements("scatter_add", &tensor);
    let count = indices.shape[dim];
    let most = parts::most("scatter_add", Combine::Add, &tensor, [count, value.shape.num_elements() / count]);
    if most < count {
        return in_parts(tensor, (indices, dim), (value, dim), most, |tensor, indices, value| {
            scatter_add(dim, tensor, indices, value)
        });
    }
    let dtype = tensor.dtype();
    if shape[dim] == 1 {
        let sums = reduction::sum_dim(at_zero(cast(value, computed_in(dtype)), indices), dim);
        return cast(arithmetic::binary(BinaryOp::Add, cast(tensor, computed_in(dtype)), sums), dtype);
    }
    let ((axis, data), (_, at)) = (along(&shape, dim), along(&indices.shape, dim));
    let tensor = tensor.with_shape(data);
    let (indices, value) = (indices.with_shape(at.clone()), value.with_shape(at));
    let output = tensor.ty();
    record(ScatterNdOp::AddAlongAxis { axis }.into(), &[&tensor, &indices, &value], &[], output).with_shape(shape)
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
    let _call = Call::begin("bool_scatter_or", [&tensor, &indices, &value].map(MpsGraphTensor::typed));
    or_where(tensor, value, |none, ones| scatter_add(dim, none, indices, ones))
}

/// [`select_add`] for bools: true where the tensor or one of the values is.
pub(crate) fn select_or(
    tensor: MpsGraphTensor,
    dim: usize,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
) -> MpsGraphTensor {
    let _call = Call::begin("bool_select_or", [&tensor, &indices, &value].map(MpsGraphTensor::typed));
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
    let _call = Call::begin("embedding_backward", [&weights, &output_grad, &indices].map(MpsGraphTensor::typed));
    let (table, grad) = (weights.shape, output_grad.shape.clone());
    if table.num_dims() != 2 || grad.num_dims() != 3 || indices.shape.as_slice() != &grad[..2] || grad[2] != table[1] {
        let (grad, at, table) = (&grad[..], indices.dims(), &table[..]);
        let rule = "they must be [batch, length, width], [batch, length] and [rows, width]";
        invalid("embedding_backward", format!("gradient {grad:?} for indices {at:?} into weights {table:?}: {rule}"));
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
    let count = indices.shape[0];
    let most = parts::most(name, combine, &tensor, [count, value.shape.num_elements() / count]);
    if most < count {
        return in_parts(tensor, (indices, 0), (value, dim), most, |tensor, indices, value| {
            write_rows(name, tensor, dim, indices, value, combine)
        });
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

fn positive(hits: MpsGraphTensor) -> MpsGraphTensor {
    arithmetic::compare_scalar(CompareOp::Greater, hits, ScalarInput::Float(0.0), BOOL)
}
