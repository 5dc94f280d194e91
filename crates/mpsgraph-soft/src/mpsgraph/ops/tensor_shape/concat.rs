//! Concatenation and stacking.

use crate::ir::ValueId;
use crate::kernels::movement::Movement;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, method3, method4};

/// Concatenating selectors.
pub const METHODS: &[Method] = &[
    method4("concatTensor:withTensor:dimension:name:", concat_two),
    method3("concatTensors:dimension:name:", concat),
    method4("concatTensors:dimension:interleave:name:", concat_interleaved),
    method3("stackTensors:axis:name:", stack).since(12, 3),
];

/// Refuses tensors of different types or ranks, or with different extents off the axis.
fn check(builder: &Builder, values: &[ValueId], axis: Option<usize>) {
    let first = values[0];
    let from = builder.shape(first);
    for &value in values {
        builder.same_dtype(first, value);
        let shape = builder.shape(value);
        let same = shape.len() == from.len() && (0..from.len()).all(|at| Some(at) == axis || shape[at] == from[at]);
        if !same {
            refuse!(builder, "{from:?} and {shape:?} do not fit side by side: it aborts");
        }
    }
}

/// Appends the concatenation of values that were checked.
pub(super) fn emit(builder: &mut Builder, values: &[ValueId], axis: usize) -> ValueId {
    let mut ty = builder.ty(values[0]).clone();
    ty.shape[axis] = values.iter().map(|&value| builder.shape(value)[axis]).sum();
    builder.emit(Movement::Concat { axis }, values, ty)
}

fn some_values(builder: &Builder, tensors: Id) -> Vec<ValueId> {
    let values = builder.values(tensors);
    if values.is_empty() {
        refuse!(builder, "no tensors: the result is nil, or it aborts");
    }
    values
}

fn checked_axis(builder: &Builder, values: &[ValueId], dimension: isize) -> usize {
    builder.ranked(values[0], "first");
    let axis = builder.axis(dimension as i64, builder.rank(values[0]));
    check(builder, values, Some(axis));
    axis
}

extern "C-unwind" fn concat_two(this: Id, cmd: Sel, a: Id, b: Id, dimension: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let values = [builder.value(a, "first"), builder.value(b, "second")];
    let axis = checked_axis(&builder, &values, dimension);
    let value = emit(&mut builder, &values, axis);
    builder.tensor(value)
}

extern "C-unwind" fn concat(this: Id, cmd: Sel, tensors: Id, dimension: isize, name: Id) -> Id {
    concat_interleaved(this, cmd, tensors, dimension, false, name)
}

extern "C-unwind" fn concat_interleaved(
    this: Id,
    cmd: Sel,
    tensors: Id,
    dimension: isize,
    interleave: bool,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let values = some_values(&builder, tensors);
    let axis = checked_axis(&builder, &values, dimension);
    let value = if interleave {
        check(&builder, &values, None);
        let mut shape = builder.shape(values[0]).to_vec();
        let stacked = emit_stack(&mut builder, &values, axis + 1);
        shape[axis] *= values.len();
        builder.reshape(stacked, shape)
    } else {
        emit(&mut builder, &values, axis)
    };
    builder.tensor(value)
}

fn emit_stack(builder: &mut Builder, values: &[ValueId], axis: usize) -> ValueId {
    let mut shape = builder.shape(values[0]).to_vec();
    shape.insert(axis, 1);
    let raised: Vec<ValueId> = values.iter().map(|&value| builder.reshape(value, shape.clone())).collect();
    emit(builder, &raised, axis)
}

extern "C-unwind" fn stack(this: Id, cmd: Sel, tensors: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let values = some_values(&builder, tensors);
    check(&builder, &values, None);
    let axis = builder.axis(axis as i64, builder.rank(values[0]) + 1);
    let value = emit_stack(&mut builder, &values, axis);
    builder.tensor(value)
}
