//! Splits, composed of slices.

use crate::ir::{ValueId, ViewOp};
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, method4};

/// Splitting selectors.
pub const METHODS: &[Method] = &[
    method4("splitTensor:splitSizes:axis:name:", split_sizes).since(12, 3),
    method4("splitTensor:numSplits:axis:name:", split_evenly).since(12, 3),
];

extern "C-unwind" fn split_sizes(this: Id, cmd: Sel, tensor: Id, sizes: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let axis = builder.axis(axis as i64, builder.rank(x));
    let sizes = builder.integers(sizes, "split sizes");
    let extent = builder.shape(x)[axis];
    if sizes.is_empty() || sizes.iter().any(|&size| size < 1) {
        refuse!(builder, "split sizes {sizes:?}: zero raises an exception, a negative size crashes");
    }
    let sum = sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size));
    if sum != Some(extent as i64) {
        refuse!(builder, "split sizes {sizes:?} do not sum up to the extent {extent}: it aborts");
    }
    let values = emit(&mut builder, x, axis, sizes.iter().map(|&size| size as usize));
    builder.tensor_array(&values)
}

extern "C-unwind" fn split_evenly(this: Id, cmd: Sel, tensor: Id, count: usize, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let axis = builder.axis(axis as i64, builder.rank(x));
    let extent = builder.shape(x)[axis];
    // Not equal parts, as Apple's header has it: all but the last are rounded up.
    let part = extent.div_ceil(count.max(1));
    let before = part.saturating_mul(count.saturating_sub(1));
    if count == 0 || before >= extent {
        refuse!(builder, "{count} splits of extent {extent}: no split sizes can be inferred, so it aborts");
    }
    let sizes = std::iter::repeat_n(part, count - 1).chain([extent - before]);
    let values = emit(&mut builder, x, axis, sizes);
    builder.tensor_array(&values)
}

fn emit(builder: &mut Builder, x: ValueId, axis: usize, sizes: impl Iterator<Item = usize>) -> Vec<ValueId> {
    let rank = builder.rank(x);
    let mut start = 0;
    let part = |size: usize| {
        let mut ty = builder.ty(x).clone();
        ty.shape[axis] = size;
        let mut starts = vec![0; rank];
        starts[axis] = start;
        start += size;
        builder.emit(ViewOp::Slice { starts, strides: vec![1; rank] }, [x], ty)
    };
    sizes.map(part).collect()
}
