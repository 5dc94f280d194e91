//! `MPSGraphScatterNDOps.h`. Indices out of range are skipped along an axis and fail the command buffer in the other
//! forms, for which Apple documents nothing. With duplicates the order is unspecified on hardware, so setting an
//! element twice to different values fails it too.
//!
//! The forms without data begin with zeros for the modes add, subtract and set; what the others begin with is not
//! documented for all of them, so they are refused.

use super::gather::{equal_but_for, indices, moved, same_batch};
use crate::ir::{DType, Op, ScatterMode, TensorType, ValueId};
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, method5, method6};

/// The selectors of the header, but for those with an axis tensor.
pub const METHODS: &[Method] = &[
    method6(
        "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:",
        nd_on_data,
    )
    .since(12, 0),
    method6(
        "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:",
        nd_with_mode,
    ),
    method5(
        "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:name:",
        nd,
    ),
    method6(
        "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:",
        axis_on_data,
    )
    .since(12, 0),
    method6(
        "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:",
        axis_on_zeros,
    )
    .since(12, 0),
    method6(
        "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:",
        along_on_data,
    )
    .since(12, 3),
    method6(
        "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:",
        along_on_zeros,
    )
    .since(12, 3),
];

const ADD: isize = 0;

fn mode_of(builder: &Builder, mode: isize) -> ScatterMode {
    match mode {
        0 => ScatterMode::Add,
        1 => ScatterMode::Sub,
        2 => ScatterMode::Mul,
        3 => ScatterMode::Div,
        4 => ScatterMode::Min,
        5 => ScatterMode::Max,
        6 => ScatterMode::Set,
        _ => refuse!(builder, "{mode} is no MPSGraphScatterMode"),
    }
}

/// The mode of a scatter into this.
fn mode_for(builder: &Builder, data: ValueId, mode: isize) -> ScatterMode {
    let mode = mode_of(builder, mode);
    if builder.dtype(data) == DType::Bool && mode != ScatterMode::Set {
        refuse!(
            builder,
            "mode {mode:?} of Bool: what it makes of truth values is not documented; cast them"
        );
    }
    mode
}

/// Zeros of this shape, for the forms without data.
fn zeros(builder: &mut Builder, updates: ValueId, shape: Id, mode: ScatterMode) -> ValueId {
    if !matches!(mode, ScatterMode::Add | ScatterMode::Sub | ScatterMode::Set) {
        refuse!(
            builder,
            "what a scatter in mode {mode:?} begins with is not documented: use the form with data"
        );
    }
    let ty = TensorType {
        dtype: builder.dtype(updates),
        shape: builder.fixed_shape(shape),
    };
    builder.emit(Op::Splat([0; 8]), [], ty)
}

/// The indices of an ND scatter must lead into `data`, and `updates` have what they lead to.
fn emit_nd(
    builder: &mut Builder,
    data: ValueId,
    updates: ValueId,
    indices: ValueId,
    batch: usize,
    mode: ScatterMode,
) -> Id {
    builder.same_dtype(data, updates);
    same_batch(builder, data, indices, batch);
    let (into, from, at) = (
        builder.shape(data),
        builder.shape(updates),
        builder.shape(indices),
    );
    let (&coordinates, places) = at.split_last().expect("indices have a rank");
    if batch > places.len() || coordinates > into.len() - batch {
        refuse!(
            builder,
            "indices {at:?} with {batch} batch dimensions have too many coordinates for {into:?}"
        );
    }
    let wanted = [places, &into[batch + coordinates..]].concat();
    if from != wanted {
        refuse!(
            builder,
            "updates {from:?} at indices {at:?} into {into:?} must have the shape {wanted:?}: it asserts"
        );
    }
    let ty = builder.ty(data).clone();
    let value = builder.emit(Op::ScatterNd { batch, mode }, [data, updates, indices], ty);
    builder.tensor(value)
}

extern "C-unwind" fn nd_on_data(
    this: Id,
    cmd: Sel,
    data: Id,
    updates: Id,
    at: Id,
    batch: usize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let data = moved(&builder, data, "data");
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    emit_nd(&mut builder, data, updates, at, batch, mode)
}

extern "C-unwind" fn nd_with_mode(
    this: Id,
    cmd: Sel,
    updates: Id,
    at: Id,
    shape: Id,
    batch: usize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    let data = zeros(&mut builder, updates, shape, mode);
    emit_nd(&mut builder, data, updates, at, batch, mode)
}

extern "C-unwind" fn nd(
    this: Id,
    cmd: Sel,
    updates: Id,
    at: Id,
    shape: Id,
    batch: usize,
    name: Id,
) -> Id {
    nd_with_mode(this, cmd, updates, at, shape, batch, ADD, name)
}

fn emit_axis(
    builder: &mut Builder,
    data: ValueId,
    updates: ValueId,
    indices: ValueId,
    axis: isize,
    mode: ScatterMode,
) -> Id {
    builder.same_dtype(data, updates);
    let axis = builder.axis(axis as i64, builder.rank(data));
    equal_but_for(builder, data, updates, axis);
    if builder.shape(indices) != [builder.shape(updates)[axis]] {
        let (from, at) = (builder.shape(updates), builder.shape(indices));
        refuse!(
            builder,
            "indices {at:?} for updates {from:?}: rank 1 is needed, with the updates' extent on axis {axis}"
        );
    }
    let ty = builder.ty(data).clone();
    let value = builder.emit(Op::Scatter { axis, mode }, [data, updates, indices], ty);
    builder.tensor(value)
}

extern "C-unwind" fn axis_on_data(
    this: Id,
    cmd: Sel,
    data: Id,
    updates: Id,
    at: Id,
    axis: isize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let data = moved(&builder, data, "data");
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    emit_axis(&mut builder, data, updates, at, axis, mode)
}

extern "C-unwind" fn axis_on_zeros(
    this: Id,
    cmd: Sel,
    updates: Id,
    at: Id,
    shape: Id,
    axis: isize,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    let data = zeros(&mut builder, updates, shape, mode);
    emit_axis(&mut builder, data, updates, at, axis, mode)
}

fn emit_along(
    builder: &mut Builder,
    data: ValueId,
    updates: ValueId,
    indices: ValueId,
    axis: isize,
    mode: ScatterMode,
) -> Id {
    builder.same_dtype(data, updates);
    let axis = builder.axis(axis as i64, builder.rank(data));
    equal_but_for(builder, data, updates, axis);
    if builder.shape(updates) != builder.shape(indices) {
        let (from, at) = (builder.shape(updates), builder.shape(indices));
        refuse!(
            builder,
            "updates {from:?} and indices {at:?} must have one shape: it asserts"
        );
    }
    let ty = builder.ty(data).clone();
    let value = builder.emit(
        Op::ScatterAlongAxis { axis, mode },
        [data, updates, indices],
        ty,
    );
    builder.tensor(value)
}

extern "C-unwind" fn along_on_data(
    this: Id,
    cmd: Sel,
    axis: isize,
    data: Id,
    updates: Id,
    at: Id,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let data = moved(&builder, data, "data");
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    emit_along(&mut builder, data, updates, at, axis, mode)
}

extern "C-unwind" fn along_on_zeros(
    this: Id,
    cmd: Sel,
    axis: isize,
    updates: Id,
    at: Id,
    shape: Id,
    mode: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let updates = moved(&builder, updates, "updates");
    let at = indices(&builder, at);
    let mode = mode_for(&builder, updates, mode);
    let data = zeros(&mut builder, updates, shape, mode);
    emit_along(&mut builder, data, updates, at, axis, mode)
}
