//! Concatenation.

use crate::ir::ValueId;
use crate::kernels::movement::Movement;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, This, method3};

/// Concatenating selectors.
pub const METHODS: &[Method] = &[method3("concatTensors:dimension:name:", concat)];

/// Refuses tensors of different types or ranks, or with different extents off the axis.
fn check(builder: &Builder, values: &[ValueId], axis: usize) {
    let first = values[0];
    let from = builder.shape(first);
    for &value in values {
        builder.same_dtype(first, value);
        let shape = builder.shape(value);
        let same = shape.len() == from.len() && (0..from.len()).all(|at| at == axis || shape[at] == from[at]);
        if !same {
            refuse!(builder, "{from:?} and {shape:?} do not fit side by side: MPSGraph aborts");
        }
    }
}

/// Appends the concatenation of values that were checked.
pub(super) fn emit(builder: &mut Builder, values: &[ValueId], axis: usize) -> ValueId {
    let mut ty = builder.ty(values[0]).clone();
    ty.shape[axis] = values.iter().map(|&value| builder.shape(value)[axis]).sum();
    builder.emit(Movement::Concat { axis }, values, ty)
}

extern "C-unwind" fn concat(this: This<'_>, cmd: Sel, tensors: Id, dimension: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let values = builder.values(tensors);
    if values.is_empty() {
        refuse!(builder, "no tensors: the result is nil, or MPSGraph aborts");
    }
    builder.ranked(values[0], "first");
    let axis = builder.axis(dimension as i64, builder.rank(values[0]));
    check(&builder, &values, axis);
    let value = emit(&mut builder, &values, axis);
    builder.tensor(value)
}
