//! `MPSGraphTensorShapeOps.h`: other views of a tensor, and coordinates; casts, slices, concatenations, splits and
//! padding are in files of their own.
//!
//! The forms whose shape or axes are tensors are left out: fed ones abort on a Mac.

pub mod cast;
pub mod concat;
pub mod pad;
pub mod slice;
pub mod split;

use crate::ir::{DType, Leaf, TensorType, ViewOp};
use crate::kernels::iota::Iota;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::{self, Shown};
use crate::objc::{Id, Method, Sel, method2, method3, method4};

/// The selectors of the header that are not in a file of their own.
pub const METHODS: &[Method] = &[
    method3("reshapeTensor:withShape:name:", reshape),
    method3("transposeTensor:permutation:name:", permute).since(13, 0),
    method4("transposeTensor:dimension:withDimension:name:", swap),
    method3("reverseTensor:axes:name:", reverse).since(12, 0),
    method2("reverseTensor:name:", reverse_all).since(12, 0),
    method3("broadcastTensor:toShape:name:", broadcast).since(12, 0),
    method3("tileTensor:withMultiplier:name:", tile),
    method3("expandDimsOfTensor:axis:name:", expand_axis).since(12, 3),
    method3("expandDimsOfTensor:axes:name:", expand_axes).since(12, 3),
    method2("squeezeTensor:name:", squeeze_all).since(12, 3),
    method3("squeezeTensor:axis:name:", squeeze_axis).since(12, 3),
    method3("squeezeTensor:axes:name:", squeeze_axes).since(12, 3),
    method3("flatten2DTensor:axis:name:", flatten_2d).since(12, 0),
    method3("coordinateAlongAxis:withShape:name:", coordinate).since(12, 3),
    method2("shapeOfTensor:name:", shape_of).since(12, 0),
];

extern "C-unwind" fn reshape(this: Id, cmd: Sel, tensor: Id, shape: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let extents = builder.integers(shape, "shape");
    let elements = builder.ty(x).elements();
    if extents.is_empty() || extents.iter().any(|&extent| extent == 0 || extent < -1) {
        refuse!(builder, "the shape {extents:?} is empty or has a zero or negative extent: it aborts");
    }
    let volume = |product: i64, &extent: &i64| {
        if extent > 0 { product.checked_mul(extent) } else { Some(product) }
    };
    let known = extents.iter().try_fold(1, volume).unwrap_or(i64::MAX);
    let open = extents.iter().filter(|&&extent| extent == -1).count();
    let fits = match open {
        0 => known == elements as i64,
        1 => elements as i64 % known == 0,
        _ => refuse!(builder, "the shape {extents:?} leaves two extents open, which aborts"),
    };
    if !fits {
        refuse!(builder, "{} has another volume than the shape {extents:?}: it aborts", Shown(builder.ty(x)));
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

extern "C-unwind" fn permute(this: Id, cmd: Sel, tensor: Id, permutation: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let rank = builder.rank(x);
    let numbers = builder.integers_per_axis(permutation, "permutation", rank);
    let perm: Vec<usize> = numbers.iter().map(|&axis| usize::try_from(axis).unwrap_or(rank)).collect();
    let mut seen = vec![false; rank];
    if !perm.iter().all(|&axis| axis < rank && !std::mem::replace(&mut seen[axis], true)) {
        refuse!(builder, "{numbers:?} is no permutation of {rank} dimensions: it aborts");
    }
    emit_transpose(builder, x, perm)
}

extern "C-unwind" fn swap(this: Id, cmd: Sel, tensor: Id, a: usize, b: usize, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let rank = builder.rank(x);
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(builder.unsigned_axis(a, rank), builder.unsigned_axis(b, rank));
    emit_transpose(builder, x, perm)
}

fn emit_reverse(mut builder: Builder, x: crate::ir::ValueId, axes: Vec<usize>) -> Id {
    let ty = builder.ty(x).clone();
    let value = builder.emit(ViewOp::Reverse { axes }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn reverse(this: Id, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
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

extern "C-unwind" fn reverse_all(this: Id, cmd: Sel, tensor: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let axes = (0..builder.rank(x)).collect();
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

extern "C-unwind" fn broadcast(this: Id, cmd: Sel, tensor: Id, shape: Id, name: Id) -> Id {
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

extern "C-unwind" fn tile(this: Id, cmd: Sel, tensor: Id, multiplier: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let from = builder.ty(x).clone();
    let times = builder.integers_per_axis(multiplier, "multiplier", from.shape.len());
    if times.iter().any(|&times| times < 1) {
        refuse!(builder, "multiplier {times:?}: a factor below 1 gives an empty tensor or aborts");
    }
    let (mut split, mut spread, mut shape) = (Vec::new(), Vec::new(), Vec::new());
    for (&extent, &times) in from.shape.iter().zip(&times) {
        if times > 1 {
            split.push(1);
            spread.push(times as usize);
        }
        split.push(extent);
        spread.push(extent);
        shape.push(extent.saturating_mul(times as usize));
    }
    // The repeated whole must be checked before its broadcast stands in the graph.
    if let Err(reason) = shape::limits(&TensorType { dtype: from.dtype, shape: shape.clone() }) {
        refuse!(builder, "the result {reason}");
    }
    let value = builder.reshape(x, split);
    let value = builder.emit(ViewOp::Broadcast, [value], TensorType { dtype: from.dtype, shape: spread });
    let value = builder.reshape(value, shape);
    builder.tensor(value)
}

fn expand(mut builder: Builder, tensor: Id, added: impl FnOnce(&Builder, usize) -> Vec<usize>) -> Id {
    let x = builder.value(tensor, "input");
    let axes = added(&builder, builder.rank(x));
    let mut shape = builder.shape(x).to_vec();
    for axis in axes {
        shape.insert(axis, 1);
    }
    let value = builder.reshape(x, shape);
    builder.tensor(value)
}

extern "C-unwind" fn expand_axis(this: Id, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    expand(builder, tensor, |builder, rank| vec![builder.axis(axis as i64, rank + 1)])
}

extern "C-unwind" fn expand_axes(this: Id, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    let added = |builder: &Builder, rank: usize| {
        let count = builder.integers(axes, "axes").len();
        distinct_axes(builder, axes, rank + count)
    };
    expand(builder, tensor, added)
}

fn squeeze(mut builder: Builder, tensor: Id, dropped: impl FnOnce(&Builder, &[usize]) -> Vec<usize>) -> Id {
    let x = builder.value(tensor, "input");
    let axes = dropped(&builder, builder.shape(x));
    let from = builder.shape(x);
    if let Some(&axis) = axes.iter().find(|&&axis| from[axis] != 1) {
        refuse!(builder, "axis {axis} of {from:?} has not the extent 1: squeezing it aborts");
    }
    let kept = (0..from.len()).filter(|axis| !axes.contains(axis));
    let shape: Vec<usize> = kept.map(|axis| from[axis]).collect();
    if shape.is_empty() {
        refuse!(builder, "squeezing {from:?} to rank 0, which many operations abort on");
    }
    let value = builder.reshape(x, shape);
    builder.tensor(value)
}

extern "C-unwind" fn squeeze_all(this: Id, cmd: Sel, tensor: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    squeeze(builder, tensor, |_, shape| (0..shape.len()).filter(|&axis| shape[axis] == 1).collect())
}

extern "C-unwind" fn squeeze_axis(this: Id, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    squeeze(builder, tensor, |builder, shape| vec![builder.axis(axis as i64, shape.len())])
}

extern "C-unwind" fn squeeze_axes(this: Id, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
    let builder = Builder::open(this, cmd, name);
    squeeze(builder, tensor, |builder, shape| {
        if axes.is_nil() {
            return Vec::new();
        }
        distinct_axes(builder, axes, shape.len())
    })
}

extern "C-unwind" fn flatten_2d(this: Id, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let from = builder.shape(x);
    let Some((before, after)) = usize::try_from(axis).ok().and_then(|axis| from.split_at_checked(axis)) else {
        refuse!(builder, "axis {axis} of {from:?}: a negative one or one beyond the rank aborts");
    };
    let shape: [usize; 2] = [before.iter().product(), after.iter().product()];
    let value = builder.reshape(x, shape);
    builder.tensor(value)
}

extern "C-unwind" fn coordinate(this: Id, cmd: Sel, axis: isize, shape: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let shape = builder.fixed_shape(shape);
    let axis = builder.axis(axis as i64, shape.len());
    let value = builder.emit(Iota { axis }, [], TensorType { dtype: DType::I32, shape });
    builder.tensor(value)
}

extern "C-unwind" fn shape_of(this: Id, cmd: Sel, tensor: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    builder.ranked(x, "input");
    let rank = builder.rank(x);
    let bytes: Vec<u8> = builder.shape(x).iter().flat_map(|&extent| (extent as i32).to_ne_bytes()).collect();
    let value = builder.emit(Leaf::Constant(bytes.into()), [], TensorType::new(DType::I32, [rank]));
    builder.tensor(value)
}
