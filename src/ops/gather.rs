//! Reading elements and rows by index.
//!
//! Every form is brought to one of two: along one axis of at most three (`gatherAlongAxis:`, see [`along`]), or whole
//! rows (`gatherWithUpdatesTensor:`). The host could report an index out of range only after reading the indices back,
//! so it is not reported, unless `select` is by indices that count from 0: that is a slice. `gather` reads 0, as Apple
//! documents for `gatherAlongAxis:`, and the row forms clamp the index and read the nearest row, because Apple does not
//! document what their kernels read.

pub(in crate::ops) mod carrier;

use burn_backend::{DType, Shape, TensorMetadata};

use self::carrier::Carrier;
use super::arithmetic::{self, CompareOp};
use super::{Operation, check_dim, memory, tensor_shape};
use crate::bridge::record;
use crate::dtype::{BOOL, Elements};
use crate::error::{Call, invalid};
use crate::ffi::{self, DataType};
use crate::lowering::axis::part;
use crate::lowering::conversion::low_bits;
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::rank::{along, outer_axis_inner};
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, MOST_BYTES, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A recorded read by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GatherOp {
    /// `[data, indices]` of shapes that are [`along`] one axis, and differ in its extent, to the shape of the indices.
    AlongAxis { axis: usize },
    /// `[data (n, inner) or (outer, n, inner), indices (k)]`: `n` becomes `k`.
    /// `inside` tells that no index can be out of range.
    Rows { axis: usize, inside: bool },
    /// `[coordinates (k, extents.len())]` to the i32 row-major positions `(k)` in a tensor of these extents.
    Position { extents: Vec<usize> },
}

impl Operation for GatherOp {
    fn name(&self) -> &'static str {
        match self {
            GatherOp::AlongAxis { .. } => "gather",
            GatherOp::Rows { .. } => "select",
            GatherOp::Position { .. } => "gather_nd",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let graph = cx.graph();
        match self {
            GatherOp::AlongAxis { axis } => {
                let at = index(cx, &inputs[1], inputs[0].ty.shape[*axis]);
                read_along(graph, *axis, &inputs[0], (&at, &output.shape))
            }
            GatherOp::Rows { axis, inside } => {
                let carrier = Carrier::of_rows(output.dtype);
                let data = carrier.load(graph, &inputs[0].tensor);
                let extent = inputs[0].ty.shape[*axis];
                let indices = index(cx, &inputs[1], extent);
                let indices = if *inside { indices } else { clamp(cx, indices, extent) };
                carrier.store(graph, &graph.gather(&data, &indices, *axis, 0), output.dtype)
            }
            GatherOp::Position { extents } => {
                // Horner's rule in i32: positions are below 2^31.
                let column = |axis: usize| {
                    let Operand { tensor, ty, .. } = &inputs[0];
                    let tensor = part(graph, tensor, &ty.shape, 1, [axis, axis + 1]);
                    let ty = TensorType::new(ty.dtype, [ty.shape[0], 1].into());
                    let coordinates = Operand { tensor, ty, is_zeros: false };
                    index(cx, &coordinates, extents[axis])
                };
                let position = (1..extents.len()).fold(column(0), |before, axis| {
                    let extent = cx.constant(extents[axis] as f64, DType::I32);
                    graph.addition(&graph.multiplication(&before, &extent), &column(axis))
                });
                graph.reshape(&position, &output.shape)
            }
        }
    }

    fn widest(&self, operands: &[&MpsGraphTensor], output: &TensorType) -> usize {
        let carrier = match self {
            GatherOp::AlongAxis { .. } => Carrier::of(output.dtype),
            GatherOp::Rows { .. } => Carrier::of_rows(output.dtype),
            GatherOp::Position { .. } => return widest_index(operands[0]).max(4),
        };
        let carried = if carrier.keeps_width() { 0 } else { 4 };
        widest_index(operands[1]).max(carried)
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    /// Elements are moved as they are.
    fn widens(&self, _dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        match self {
            // 64-bit integers, which are reshaped along an axis, are in no product.
            GatherOp::AlongAxis { .. } | GatherOp::Rows { .. } => Reshapes::Nothing,
            GatherOp::Position { .. } => Reshapes::AnyShape,
        }
    }
}

/// Elements of `tensor` along `dim` at `indices`, which has the tensor's shape except for its extent along `dim`.
///
/// `indices` may be of any integer dtype; an index out of range reads 0.
pub(crate) fn gather(dim: usize, tensor: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
    let _call = Call::begin("gather", [tensor.typed(), indices.typed()]);
    let (data, at) = (tensor.dims(), indices.dims());
    let same = |axis: usize| axis == dim || data[axis] == at[axis];
    if dim >= data.len() || at.len() != data.len() || !(0..data.len()).all(same) {
        invalid(
            "gather",
            format!("indices of shape {at:?} along dim {dim} of shape {data:?}: they must have its other dims"),
        );
    }
    require_indices("gather", &indices);
    let shape = indices.shape.clone();
    if shape.num_elements() == 0 {
        return memory::zeros(shape, tensor.dtype());
    }
    require_elements("gather", &tensor);
    if tensor.shape[dim] == 1 {
        return at_zero(tensor_shape::expand(tensor, shape), indices);
    }
    let ((axis, data), (_, at)) = (along(&tensor.shape, dim), along(&shape, dim));
    let output = TensorType::new(tensor.dtype(), at.clone());
    let (tensor, indices) = (tensor.with_shape(data), indices.with_shape(at));
    record(GatherOp::AlongAxis { axis }.into(), &[&tensor, &indices], &[], output).with_shape(shape)
}

/// `values` where `indices`, of their shape, are 0, else 0: what a gather reads along an axis of one element, and a
/// scatter writes there, of which no node is given less than two ([`along`]).
pub(super) fn at_zero(values: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
    let outside = arithmetic::compare_scalar(CompareOp::NotEqual, indices, ScalarInput::Int(0), BOOL);
    arithmetic::mask_fill(values, outside, ScalarInput::Int(0))
}

/// Ends an op whose indices are no integers.
pub(super) fn require_indices(op: &'static str, indices: &MpsGraphTensor) {
    if !Elements::Integers.has(indices.dtype()) {
        let (dtype, shape) = (indices.dtype(), indices.dims());
        invalid(op, format!("indices of dtype {dtype:?}, shape {shape:?}: they must be integers; cast them"));
    }
}

/// The slices of `tensor` along `dim` that the rank-1 `indices` name.
///
/// `indices` may be of any integer dtype; an index out of range reads the nearest slice. Those that are known to count
/// from 0, as in Burn's `topk_with_indices`, are refused instead.
pub(crate) fn select(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
    slices_at(tensor, dim, indices, false)
}

/// [`select`] by indices that we have made ourselves, so that none is out of range.
pub(super) fn select_inside(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
    slices_at(tensor, dim, indices, true)
}

fn slices_at(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor, inside: bool) -> MpsGraphTensor {
    let mut shape = tensor.shape.clone();
    check_dim("select", dim, &shape);
    require_indices("select", &indices);
    if indices.rank() != 1 {
        let (at, shape) = (indices.dims(), &shape[..]);
        invalid(
            "select",
            format!("indices of shape {at:?} along dim {dim} of shape {shape:?}: they must have one dim"),
        );
    }
    let count = indices.shape[0];
    if indices.counts_from_zero && count > shape[dim] {
        let (extent, shape) = (shape[dim], &shape[..]);
        invalid(
            "select",
            format!("the first {count} slices along dim {dim} of shape {shape:?}, which has {extent}: ask for fewer"),
        );
    }
    shape[dim] = count;
    if shape.num_elements() == 0 {
        return memory::zeros(shape, tensor.dtype());
    }
    if indices.counts_from_zero {
        return tensor_shape::narrow(tensor, dim, [0, count]);
    }
    require_elements("select", &tensor);
    let (axis, data) = rows(&tensor.shape, dim);
    let output = TensorType::new(tensor.dtype(), rows(&shape, dim).1);
    let tensor = tensor.with_shape(data);
    record(GatherOp::Rows { axis, inside }.into(), &[&tensor, &indices], &[], output).with_shape(shape)
}

/// Slices of `data` at coordinates: `indices` of shape `(…, k)` gives `(…) + data.shape[k..]`.
///
/// `indices` may be of any integer dtype; a position out of range reads the nearest slice.
pub(crate) fn gather_nd(data: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
    let _call = Call::begin("gather_nd", [data.typed(), indices.typed()]);
    let rank = indices.rank();
    let depth = if rank == 0 { usize::MAX } else { indices.shape[rank - 1] };
    if depth > data.rank() {
        let (at, shape, rank) = (indices.dims(), data.dims(), data.rank());
        let rule = format!("their last dim counts coordinates, of which there are at most {rank}");
        invalid("gather_nd", format!("indices of shape {at:?} for data of shape {shape:?}: {rule}"));
    }
    require_indices("gather_nd", &indices);
    let shape: Shape = [&indices.shape[..rank - 1], &data.shape[depth..]].concat().into();
    if shape.num_elements() == 0 {
        return memory::zeros(shape, data.dtype());
    }
    if depth == 0 {
        return tensor_shape::expand(data, shape);
    }
    require_elements("gather_nd", &data);
    let (rows, indices) = positions(&data.shape, indices);
    let width = data.shape.num_elements() / rows;
    select(data.with_shape([rows, width].into()), 0, indices).with_shape(shape)
}

/// Rows of the table `weights (n, width)`: `indices (batch, length)` gives `(batch, length, width)`.
pub(crate) fn embedding(weights: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
    let _call = Call::begin("embedding", [weights.typed(), indices.typed()]);
    if weights.rank() != 2 || indices.rank() != 2 {
        let (table, at) = (weights.dims(), indices.dims());
        invalid("embedding", format!("weights of shape {table:?} and indices of shape {at:?}; both have two axes"));
    }
    require_indices("embedding", &indices);
    let shape = [indices.shape[0], indices.shape[1], weights.shape[1]];
    let count = shape[0] * shape[1];
    select(weights, 0, indices.with_shape([count].into())).with_shape(shape.into())
}

/// The number of positions that the last axis of `indices` (at least 1 long) addresses in `shape`, and the row-major
/// position of each coordinate as a rank-1 i32 tensor. There is at least one coordinate.
pub(crate) fn positions(shape: &Shape, indices: MpsGraphTensor) -> (usize, MpsGraphTensor) {
    let depth = indices.shape[indices.rank() - 1];
    let count = indices.shape.num_elements() / depth;
    let extents = shape[..depth].to_vec();
    let rows = extents.iter().product();
    if depth == 1 {
        return (rows, indices.with_shape([count].into()));
    }
    let output = TensorType::new(DType::I32, [count].into());
    let indices = indices.with_shape([count, depth].into());
    (rows, record(GatherOp::Position { extents }.into(), &[&indices], &[], output))
}

/// `shape` as rows along `dim`: the axis of the rows, and the shape with two axes if nothing is before it, else three.
pub(crate) fn rows(shape: &Shape, dim: usize) -> (usize, Shape) {
    match outer_axis_inner(shape, dim) {
        [1, axis, inner] => (0, [axis, inner].into()),
        whole => (1, whole.into()),
    }
}

/// Indices into an axis of `extent` as i32. Wider indices that are out of range become -1 or `extent` first, because
/// their low 32 bits alone could be in range.
pub(crate) fn index(cx: &Lowering<'_>, indices: &Operand, extent: usize) -> ffi::Tensor {
    let (graph, dtype) = (cx.graph(), indices.ty.dtype);
    if dtype == DType::I32 {
        return indices.tensor.clone();
    }
    if dtype.size() < 4 {
        return graph.cast(&indices.tensor, DataType::I32);
    }
    let number = |number: f64| cx.constant(number, DType::I64);
    let wide = low_bits(graph, &indices.tensor, dtype, DType::I64);
    let wide = if dtype == DType::U64 {
        // Read as i64, those beyond its range are negative.
        graph.select(&graph.less_than(&wide, &number(0.0)), &number(extent as f64), &wide)
    } else {
        graph.maximum(&wide, &number(-1.0))
    };
    graph.cast(&graph.minimum(&wide, &number(extent as f64)), DataType::I32)
}

/// Bytes of an element on the way to these indices as i32, if they are so many that it matters; 0 otherwise.
fn widest_index(indices: &MpsGraphTensor) -> usize {
    let bytes = if indices.dtype() == DType::U32 { 8 } else { 4 };
    if indices.shape.num_elements() * bytes > MOST_BYTES { bytes } else { 0 }
}

/// i32 indices limited to `0..extent`.
pub(crate) fn clamp(cx: &Lowering<'_>, indices: ffi::Tensor, extent: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let low = graph.maximum(&indices, &cx.constant(0.0, DType::I32));
    graph.minimum(&low, &cx.constant((extent - 1) as f64, DType::I32))
}

/// Elements of `data` along `axis` at i32 indices of a shape that differs in its extent.
fn read_along(
    graph: &ffi::Graph,
    axis: usize,
    data: &Operand,
    (indices, shape): (&ffi::Tensor, &Shape),
) -> ffi::Tensor {
    let dtype = data.ty.dtype;
    let carrier = Carrier::of(dtype);
    let read = |data: &ffi::Tensor, indices: &ffi::Tensor| {
        carrier.store(graph, &graph.gather_along_axis(axis as isize, &carrier.load(graph, data), indices), dtype)
    };
    if carrier.floats() == 1 {
        return read(&data.tensor, indices);
    }
    if axis + 1 < shape.num_dims() {
        return read(&data.tensor, &repeated_inside(graph, indices, shape, carrier.floats()));
    }
    // The floats of an element stay together behind the axis.
    let lone = |shape: &Shape| shape.iter().copied().chain([1]).collect::<Shape>();
    let [from, to] = [&data.ty.shape, shape].map(lone);
    let indices = repeated_inside(graph, &graph.reshape(indices, &to), &to, carrier.floats());
    graph.reshape(&read(&graph.reshape(&data.tensor, &from), &indices), shape)
}

/// Each element of `x` `times` times in a row: the last extent is multiplied.
fn repeated_inside(graph: &ffi::Graph, x: &ffi::Tensor, shape: &Shape, times: usize) -> ffi::Tensor {
    let [one, many] = [1, times].map(|times| [shape.as_slice(), &[times]].concat());
    let apart = graph.broadcast(&graph.reshape(x, &one), &many);
    let mut side_by_side = shape.to_vec();
    if let Some(last) = side_by_side.last_mut() {
        *last *= times;
    }
    graph.reshape(&apart, &side_by_side)
}

/// Ends an op on data without elements, in which no index is in range.
pub(super) fn require_elements(name: &'static str, data: &MpsGraphTensor) {
    if data.shape.num_elements() == 0 {
        invalid(name, format!("every index is out of range for data of shape {:?}", data.dims()));
    }
}
