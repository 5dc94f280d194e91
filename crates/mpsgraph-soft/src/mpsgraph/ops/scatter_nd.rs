//! `MPSGraphScatterNDOps.h`. Indices out of range are skipped along an axis and fail the command buffer in the other
//! forms, for which Apple documents nothing. With duplicates the order is unspecified on hardware, so setting an
//! element twice to different values fails the command buffer too.
//!
//! The forms without data begin with zeros for the modes add, subtract and set; Apple does not document what all of the
//! others begin with, so the others are refused.

use super::gather::{equal_but_for, indices_of, moved, no_lone_extent, same_batch};
use crate::ir::{DType, Leaf, TensorType, ValueId};
use crate::kernels::rows::Indexing;
use crate::kernels::scatter::{self, ScatterMode};
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, This, method6};

/// The selectors of the header, except those with an axis tensor.
pub const METHODS: &[Method] = &[
    method6("scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:", nd_on_data).since(12, 0),
    method6("scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:", nd_with_mode),
    method6("scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:", axis_on_data).since(12, 0),
    method6("scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:", axis_on_zeros).since(12, 0),
    method6("scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:", along_on_data).since(12, 3),
    method6("scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:", along_on_zeros).since(12, 3),
];

fn mode_of(builder: &Builder, mode: isize) -> ScatterMode {
    match mode {
        0 => ScatterMode::Add,
        1 => ScatterMode::Sub,
        2 => ScatterMode::Mul,
        3 => ScatterMode::Div,
        4 => ScatterMode::Min,
        5 => ScatterMode::Max,
        6 => ScatterMode::Set,
        _ => refuse!(builder, "{mode} is not an MPSGraphScatterMode"),
    }
}

/// The mode of a scatter into this.
fn mode_for(builder: &Builder, data: ValueId, mode: isize) -> ScatterMode {
    let mode = mode_of(builder, mode);
    if builder.dtype(data) == DType::Bool && mode != ScatterMode::Set {
        refuse!(builder, "mode {mode:?} of Bool: what it makes of truth values is not documented; cast them");
    }
    mode
}

/// Zeros of this shape, for the forms without data.
fn zeros(builder: &mut Builder, updates: ValueId, shape: Id, mode: ScatterMode) -> ValueId {
    if !matches!(mode, ScatterMode::Add | ScatterMode::Sub | ScatterMode::Set) {
        refuse!(builder, "what a scatter in mode {mode:?} begins with is not documented: use the form with data");
    }
    let ty = TensorType { dtype: builder.dtype(updates), shape: builder.fixed_shape(shape) };
    builder.emit(Leaf::Splat([0; 8]), [], ty)
}

/// The operands of a scatter, after the checks that all forms have in common.
struct Scatter {
    data: ValueId,
    updates: ValueId,
    indices: ValueId,
    mode: ScatterMode,
}

impl Scatter {
    fn on_data(builder: &Builder, data: Id, updates: Id, at: Id, mode: isize) -> Self {
        let data = moved(builder, data, "data");
        let updates = moved(builder, updates, "updates");
        builder.same_dtype(data, updates);
        Self { data, updates, indices: indices_of(builder, at), mode: mode_for(builder, updates, mode) }
    }

    fn on_zeros(builder: &mut Builder, updates: Id, at: Id, shape: Id, mode: isize) -> Self {
        let updates = moved(builder, updates, "updates");
        let indices = indices_of(builder, at);
        let mode = mode_for(builder, updates, mode);
        Self { data: zeros(builder, updates, shape, mode), updates, indices, mode }
    }

    fn emit(&self, builder: &mut Builder, indexing: Indexing) -> Id {
        let op = scatter::Scatter { indexing, mode: self.mode };
        let ty = builder.ty(self.data).clone();
        // The kernel begins with zeros itself, so that nobody writes and reads them in memory first.
        let data = (!builder.is_zero(self.data)).then_some(self.data);
        let operands: Vec<ValueId> = data.into_iter().chain([self.updates, self.indices]).collect();
        let value = builder.emit(op, operands, ty);
        builder.tensor(value)
    }

    /// The indices must lead into the data, and the updates have what they lead to.
    fn emit_nd(self, builder: &mut Builder, batch: usize) -> Id {
        same_batch(builder, self.data, self.indices, batch);
        let [into, from, at] = [self.data, self.updates, self.indices].map(|value| builder.shape(value));
        let (&coordinates, places) = at.split_last().expect("indices have a rank");
        if batch > places.len() || coordinates > into.len() - batch {
            refuse!(builder, "indices {at:?} with {batch} batch dimensions have too many coordinates for {into:?}");
        }
        let wanted = [places, &into[batch + coordinates..]].concat();
        if from != wanted {
            refuse!(
                builder,
                "updates {from:?} at indices {at:?} into {into:?} must have the shape {wanted:?}: MPSGraph asserts"
            );
        }
        self.emit(builder, Indexing::Nd { batch })
    }

    fn axis(&self, builder: &Builder, axis: isize) -> usize {
        let axis = builder.axis(axis as i64, builder.rank(self.data));
        equal_but_for(builder, self.data, self.updates, axis);
        axis
    }

    fn emit_axis(self, builder: &mut Builder, axis: isize) -> Id {
        let axis = self.axis(builder, axis);
        let [from, at] = [self.updates, self.indices].map(|value| builder.shape(value));
        if at != [from[axis]] {
            refuse!(
                builder,
                "indices {at:?} for updates {from:?}: rank 1 is needed, with the updates' extent on axis {axis}"
            );
        }
        self.emit(builder, Indexing::Axis { axis, batch: 0 })
    }

    fn emit_along(self, builder: &mut Builder, axis: isize) -> Id {
        let axis = self.axis(builder, axis);
        let [from, at] = [self.updates, self.indices].map(|value| builder.shape(value));
        if from != at {
            refuse!(builder, "updates {from:?} and indices {at:?} must have one shape: MPSGraph asserts");
        }
        no_lone_extent(builder, self.data);
        self.emit(builder, Indexing::Along { axis })
    }
}

extern "C-unwind" fn nd_on_data(
    this: This<'_>,
    cmd: Sel,
    data: Id,
    updates: Id,
    at: Id,
    batch: usize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_data(&builder, data, updates, at, mode).emit_nd(&mut builder, batch)
}

extern "C-unwind" fn nd_with_mode(
    this: This<'_>,
    cmd: Sel,
    updates: Id,
    at: Id,
    shape: Id,
    batch: usize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_zeros(&mut builder, updates, at, shape, mode).emit_nd(&mut builder, batch)
}

extern "C-unwind" fn axis_on_data(
    this: This<'_>,
    cmd: Sel,
    data: Id,
    updates: Id,
    at: Id,
    axis: isize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_data(&builder, data, updates, at, mode).emit_axis(&mut builder, axis)
}

extern "C-unwind" fn axis_on_zeros(
    this: This<'_>,
    cmd: Sel,
    updates: Id,
    at: Id,
    shape: Id,
    axis: isize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_zeros(&mut builder, updates, at, shape, mode).emit_axis(&mut builder, axis)
}

extern "C-unwind" fn along_on_data(
    this: This<'_>,
    cmd: Sel,
    axis: isize,
    data: Id,
    updates: Id,
    at: Id,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_data(&builder, data, updates, at, mode).emit_along(&mut builder, axis)
}

extern "C-unwind" fn along_on_zeros(
    this: This<'_>,
    cmd: Sel,
    axis: isize,
    updates: Id,
    at: Id,
    shape: Id,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    Scatter::on_zeros(&mut builder, updates, at, shape, mode).emit_along(&mut builder, axis)
}
