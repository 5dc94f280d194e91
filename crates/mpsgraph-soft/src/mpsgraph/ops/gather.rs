//! `MPSGraphGatherOps.h`. Indices are not wrapped: negative ones are out of range. Along an axis an index out of range
//! reads 0; Apple does not document what the other forms read, so there it fails the command buffer.
//!
//! Apple's kernels carry integers through 32-bit floats, so numbers beyond 2^24 come out changed. Integers wider than
//! 16 bits are refused; to move them, a caller reinterprets them as floats.

use crate::ir::{DType, TensorType, ValueId};
use crate::kernels::gather::Gather;
use crate::kernels::rows::Indexing;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, This, method4, method5};

/// The selectors of the header, except those with an axis tensor.
pub const METHODS: &[Method] = &[
    method5("gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:", gather),
    method4("gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:", gather_nd),
    method4("gatherAlongAxis:withUpdatesTensor:indicesTensor:name:", gather_along_axis).since(12, 3),
];

/// A tensor of data that a gather or scatter moves.
pub(super) fn moved(builder: &Builder, tensor: Id, role: &str) -> ValueId {
    let value = builder.value(tensor, role);
    builder.ranked(value, role);
    let dtype = builder.dtype(value);
    if dtype.is_int() && dtype.size() >= 4 {
        let shown = Shown(builder.ty(value));
        refuse!(
            builder,
            "the {role} tensor is {shown}: integers go through Float32 and are corrupted beyond 2^24; reinterpret \
             them as Float32 to move them"
        );
    }
    not_folded(builder, value, role);
    value
}

/// Refuses a reshaped integer constant, which the optimiser folds wrongly.
fn not_folded(builder: &Builder, value: ValueId, role: &str) {
    if builder.is_reshaped_integer_constant(value) {
        refuse!(
            builder,
            "the {role} tensor is a reshaped integer constant; MPSGraph folds it wrongly: make it in its final \
             shape, or of floats and cast it"
        );
    }
}

/// A tensor of indices.
pub(super) fn indices_of(builder: &Builder, tensor: Id) -> ValueId {
    let value = builder.value(tensor, "indices");
    builder.ranked(value, "indices");
    if !matches!(builder.dtype(value), DType::I32 | DType::I64) {
        refuse!(builder, "the indices tensor is {}; it must be Int32 or Int64", Shown(builder.ty(value)));
    }
    not_folded(builder, value, "indices");
    value
}

/// Refuses leading extents that differ.
pub(super) fn same_batch(builder: &Builder, a: ValueId, b: ValueId, batch: usize) {
    let (a, b) = (builder.shape(a), builder.shape(b));
    if batch > a.len() || batch > b.len() || a[..batch] != b[..batch] {
        refuse!(builder, "the {batch} batch dimensions of {a:?} and {b:?} are not the same: MPSGraph aborts");
    }
}

extern "C-unwind" fn gather(
    this: This<'_>,
    cmd: Sel,
    updates: Id,
    indices_tensor: Id,
    axis: usize,
    batch: usize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let indices = indices_of(&builder, indices_tensor);
    let axis = builder.unsigned_axis(axis, builder.rank(updates));
    if batch > axis {
        refuse!(builder, "{batch} batch dimensions for axis {axis}; it can be as many as the axis at most");
    }
    same_batch(&builder, updates, indices, batch);
    let from = builder.shape(updates);
    let shape = [&from[..axis], &builder.shape(indices)[batch..], &from[axis + 1..]].concat();
    let ty = TensorType { dtype: builder.dtype(updates), shape };
    let value = builder.emit(Gather(Indexing::Axis { axis, batch }), [updates, indices], ty);
    builder.tensor(value)
}

extern "C-unwind" fn gather_nd(
    this: This<'_>,
    cmd: Sel,
    updates: Id,
    indices_tensor: Id,
    batch: usize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let indices = indices_of(&builder, indices_tensor);
    same_batch(&builder, updates, indices, batch);
    let (from, at) = (builder.shape(updates), builder.shape(indices));
    let (&coordinates, places) = at.split_last().expect("indices have a rank");
    if batch > places.len() || coordinates > from.len() - batch {
        refuse!(builder, "indices {at:?} with {batch} batch dimensions have too many coordinates for {from:?}");
    }
    let shape = [places, &from[batch + coordinates..]].concat();
    if shape.is_empty() {
        refuse!(builder, "indices {at:?} into {from:?} would give rank 0, which is refused");
    }
    let ty = TensorType { dtype: builder.dtype(updates), shape };
    let value = builder.emit(Gather(Indexing::Nd { batch }), [updates, indices], ty);
    builder.tensor(value)
}

extern "C-unwind" fn gather_along_axis(
    this: This<'_>,
    cmd: Sel,
    axis: isize,
    updates: Id,
    indices_tensor: Id,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let indices = indices_of(&builder, indices_tensor);
    let axis = builder.axis(axis as i64, builder.rank(updates));
    equal_but_for(&builder, updates, indices, axis);
    no_lone_extent(&builder, updates);
    let ty = TensorType { dtype: builder.dtype(updates), shape: builder.shape(indices).to_vec() };
    let value = builder.emit(Gather(Indexing::Along { axis }), [updates, indices], ty);
    builder.tensor(value)
}

/// Refuses data with an extent of 1 beside others, for reads and writes along an axis. Their kernels count the axes
/// without some of these: it is not known of all of them which.
pub(super) fn no_lone_extent(builder: &Builder, data: ValueId) {
    let shape = builder.shape(data);
    if shape.len() > 1 && shape.contains(&1) {
        refuse!(
            builder,
            "data {shape:?} has an extent of 1, with which reads and writes along an axis have ended the process: \
             leave such axes out"
        );
    }
}

/// Refuses shapes that differ in another axis than this one.
pub(super) fn equal_but_for(builder: &Builder, a: ValueId, b: ValueId, axis: usize) {
    let (a, b) = (builder.shape(a), builder.shape(b));
    let same = a.len() == b.len() && (0..a.len()).all(|at| at == axis || a[at] == b[at]);
    if !same {
        refuse!(builder, "shapes {a:?} and {b:?} must be the same but for axis {axis}: MPSGraph asserts");
    }
}
