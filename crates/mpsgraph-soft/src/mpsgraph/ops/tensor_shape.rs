//! `MPSGraphTensorShapeOps.h`: other views of a tensor, and coordinates; casts, slices, concatenations and padding are
//! in files of their own.
//!
//! The forms whose shape or axes are tensors are left out: MPSGraph aborts if such a tensor is fed.

pub mod cast;
pub mod concat;
pub mod pad;
pub mod slice;

use crate::ir::{DType, TensorType, ViewOp};
use crate::kernels::iota::Iota;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::{self, Shown};
use crate::objc::{Id, Method, Sel, This, method3};

/// The selectors of the header that are not in a file of their own.
pub const METHODS: &[Method] = &[
    method3("reshapeTensor:withShape:name:", reshape),
    method3("transposeTensor:permutation:name:", permute).since(13, 0),
    method3("reverseTensor:axes:name:", reverse).since(12, 0),
    method3("broadcastTensor:toShape:name:", broadcast).since(12, 0),
    method3("coordinateAlongAxis:withShape:name:", coordinate).since(12, 3),
];

extern "C-unwind" fn reshape(this: This<'_>, cmd: Sel, tensor: Id, shape: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let extents = builder.integers(shape, "shape");
    let elements = builder.ty(x).elements();
    if extents.is_empty() || extents.iter().any(|&extent| extent == 0 || extent < -1) {
        refuse!(builder, "the shape {extents:?} is empty or has a zero or negative extent: MPSGraph aborts");
    }
    let volume = |product: i64, &extent: &i64| {
        if extent > 0 { product.checked_mul(extent) } else { Some(product) }
    };
    let known = extents.iter().try_fold(1, volume).unwrap_or(i64::MAX);
    let open = extents.iter().filter(|&&extent| extent == -1).count();
    let fits = match open {
        0 => known == elements as i64,
        1 => elements as i64 % known == 0,
        _ => refuse!(builder, "the shape {extents:?} leaves two extents open: MPSGraph aborts"),
    };
    if !fits {
        refuse!(builder, "{} has another volume than the shape {extents:?}: MPSGraph aborts", Shown(builder.ty(x)));
    }
    let extent = |&extent: &i64| {
        if extent == -1 { elements / known as usize } else { extent as usize }
    };
    let shape: Vec<usize> = extents.iter().map(extent).collect();
    let value = builder.reshape(x, shape);
    builder.tensor(value)
}

fn emit_transpose(mut builder: Builder, x: crate::ir::ValueId, perm: Vec<usize>) -> Id {
    let from = builder.ty(x);
    let ty = TensorType { dtype: from.dtype, shape: perm.iter().map(|&axis| from.shape[axis]).collect() };
    let value = builder.emit(ViewOp::Transpose { perm }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn permute(this: This<'_>, cmd: Sel, tensor: Id, permutation: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let rank = builder.rank(x);
    let numbers = builder.integers_per_axis(permutation, "permutation", rank);
    let perm: Vec<usize> = numbers.iter().map(|&axis| usize::try_from(axis).unwrap_or(rank)).collect();
    let mut seen = vec![false; rank];
    if !perm.iter().all(|&axis| axis < rank && !std::mem::replace(&mut seen[axis], true)) {
        refuse!(builder, "{numbers:?} is not a permutation of {rank} dimensions: MPSGraph aborts");
    }
    emit_transpose(builder, x, perm)
}

fn emit_reverse(mut builder: Builder, x: crate::ir::ValueId, axes: Vec<usize>) -> Id {
    let ty = builder.ty(x).clone();
    let value = builder.emit(ViewOp::Reverse { axes }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn reverse(this: This<'_>, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let rank = builder.rank(x);
    let mut axes = distinct_axes(&builder, axes, rank);
    // Unlike a reduction, which leaves out none.
    if axes.is_empty() {
        axes = (0..rank).collect();
    }
    emit_reverse(builder, x, axes)
}

/// The axes of an array, sorted; duplicates are refused.
fn distinct_axes(builder: &Builder, array: Id, rank: usize) -> Vec<usize> {
    let numbers = builder.integers(array, "axes");
    let mut axes: Vec<usize> = numbers.iter().map(|&axis| builder.axis(axis, rank)).collect();
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        refuse!(builder, "axes {numbers:?} name a dimension twice: they must be unique");
    }
    axes
}

extern "C-unwind" fn broadcast(this: This<'_>, cmd: Sel, tensor: Id, shape: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let shape = builder.fixed_shape(shape);
    let from = builder.ty(x);
    if shape::broadcast(&from.shape, &shape).as_ref() != Some(&shape) {
        refuse!(
            builder,
            "{} to {shape:?}: an extent that is neither 1 nor equal is silently filled with 0",
            Shown(from)
        );
    }
    let ty = TensorType { dtype: from.dtype, shape };
    let value = builder.emit(ViewOp::Broadcast, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn coordinate(this: This<'_>, cmd: Sel, axis: isize, shape: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let shape = builder.fixed_shape(shape);
    let axis = builder.axis(axis as i64, shape.len());
    let value = builder.emit(Iota { axis }, [], TensorType { dtype: DType::I32, shape });
    builder.tensor(value)
}
