//! Padding. Constant and zero padding are one node; the others put together slices of the tensor, axis by axis.
//!
//! Negative padding crops.

use super::concat;
use crate::ir::{DType, TensorType, ValueId, ViewOp};
use crate::kernels::movement::Movement;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::dtype::bytes_of;
use crate::objc::{Id, Method, Sel, This, method6};

/// Padding selectors.
pub const METHODS: &[Method] =
    &[method6("padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:", pad)];

const CONSTANT: isize = 0;
const REFLECT: isize = 1;
const SYMMETRIC: isize = 2;
const CLAMP_TO_EDGE: isize = 3;
const ZERO: isize = 4;

extern "C-unwind" fn pad(
    this: This<'_>,
    cmd: Sel,
    tensor: Id,
    mode: isize,
    left: Id,
    right: Id,
    value: f64,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    builder.ranked(x, "input");
    if !(CONSTANT..=ZERO).contains(&mode) {
        refuse!(builder, "padding mode {mode} is unknown, or periodic: MPSGraph aborts");
    }
    let rank = builder.rank(x);
    let left = builder.integers_per_axis(left, "left padding", rank);
    let right = builder.integers_per_axis(right, "right padding", rank);
    if let Some(count) = left.iter().chain(&right).find(|count| count.unsigned_abs() >= 1 << 31) {
        refuse!(builder, "padding by {count} makes 2^31 elements or more: MPSNDArray asserts");
    }
    let x = crop(&mut builder, x, &left, &right);
    let added = |padding: &[i64]| padding.iter().map(|&count| count.max(0) as usize).collect::<Vec<_>>();
    let (left, right) = (added(&left), added(&right));
    let padded = if mode == CONSTANT || mode == ZERO {
        if builder.dtype(x) == DType::Bool {
            refuse!(builder, "MPSGraph asserts on padding Bool with a constant: cast to Int8 first");
        }
        let fill = if mode == ZERO { 0.0 } else { value };
        builder.not_negative_infinity(fill, builder.dtype(x));
        with_constant(&mut builder, x, left, &right, fill)
    } else {
        (0..rank).fold(x, |x, axis| with_copies(&mut builder, x, axis, left[axis], right[axis], mode))
    };
    builder.tensor(padded)
}

fn crop(builder: &mut Builder, x: ValueId, left: &[i64], right: &[i64]) -> ValueId {
    if left.iter().chain(right).all(|&count| count >= 0) {
        return x;
    }
    let cut = |count: i64| count.min(0).unsigned_abs() as usize;
    let starts: Vec<usize> = left.iter().map(|&count| cut(count)).collect();
    let mut ty = builder.ty(x).clone();
    for (axis, extent) in ty.shape.iter_mut().enumerate() {
        *extent = extent.saturating_sub(starts[axis].saturating_add(cut(right[axis])));
        if *extent == 0 {
            refuse!(builder, "negative padding {left:?} and {right:?} leaves nothing on axis {axis}: MPSGraph aborts");
        }
    }
    let strides = vec![1; starts.len()];
    builder.emit(ViewOp::Slice { starts, strides }, [x], ty)
}

fn with_constant(builder: &mut Builder, x: ValueId, before: Vec<usize>, after: &[usize], fill: f64) -> ValueId {
    let mut ty = builder.ty(x).clone();
    for (axis, extent) in ty.shape.iter_mut().enumerate() {
        *extent += before[axis] + after[axis];
    }
    refuse_overwritten(builder, &ty.shape, &before, after);
    let value = bytes_of(fill, ty.dtype);
    builder.emit(Movement::Pad { before, value }, [x], ty)
}

/// Refuses what overwrites copied elements with the constant (pytorch/pytorch#194922, #194944, #195147): more than four
/// dimensions, whose last has 2^16 elements or more in the result, or so many are behind a padded one.
fn refuse_overwritten(builder: &Builder<'_>, shape: &[usize], before: &[usize], after: &[usize]) {
    if shape.len() <= 4 {
        return;
    }
    for axis in (0..shape.len()).filter(|&axis| before[axis] + after[axis] > 0) {
        let behind = shape[axis + 1..].iter().product::<usize>().max(shape[shape.len() - 1]);
        if behind >= 1 << 16 {
            refuse!(
                builder,
                "{shape:?} by padding axis {axis}: with more than four dimensions, {behind} elements behind it or last \
                 are silently overwritten; reshape to four"
            );
        }
    }
}

/// `count` elements along an axis from `start` on, in steps of `stride`; 0 repeats one.
fn run(builder: &mut Builder, x: ValueId, axis: usize, start: usize, stride: isize, count: usize) -> ValueId {
    let mut ty: TensorType = builder.ty(x).clone();
    let (mut starts, mut strides) = (vec![0; ty.shape.len()], vec![1; ty.shape.len()]);
    starts[axis] = start;
    strides[axis] = if stride == 0 { 1 } else { stride };
    ty.shape[axis] = if stride == 0 { 1 } else { count };
    let part = builder.emit(ViewOp::Slice { starts, strides }, [x], ty.clone());
    if stride != 0 {
        return part;
    }
    ty.shape[axis] = count;
    builder.emit(ViewOp::Broadcast, [part], ty)
}

fn with_copies(builder: &mut Builder, x: ValueId, axis: usize, left: usize, right: usize, mode: isize) -> ValueId {
    let extent = builder.shape(x)[axis];
    // Reflection leaves out the edge, symmetry repeats it.
    let (skipped, stride, most) = match mode {
        REFLECT => (1, -1, extent - 1),
        SYMMETRIC => (0, -1, extent),
        CLAMP_TO_EDGE => (0, 0, usize::MAX),
        _ => unreachable!("constant padding copies nothing"),
    };
    if left.max(right) > most {
        refuse!(
            builder,
            "padding {left} and {right} on axis {axis} of extent {extent}; {most} is the most: MPSGraph aborts"
        );
    }
    let mut parts = Vec::with_capacity(3);
    if left > 0 {
        let first = if stride == 0 { 0 } else { skipped + left - 1 };
        parts.push(run(builder, x, axis, first, stride, left));
    }
    parts.push(x);
    if right > 0 {
        parts.push(run(builder, x, axis, extent - 1 - skipped, stride, right));
    }
    if parts.len() == 1 { x } else { concat::emit(builder, &parts, axis) }
}
