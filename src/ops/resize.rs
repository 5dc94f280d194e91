//! Resizing of images `[batch, channels, height, width]`, and its gradient: one axis after the other, each element a
//! weighted sum of a few of the old ones. Composed of recorded ops: rows are read by index, multiplied and summed.
//! Nearest pixels are read, and their gradients written, along both axes at once: by slices and repetitions where the
//! factors are whole numbers, else by index.
//!
//! MPSGraph's own resizing is not used. It has neither bicubic nor Lanczos, and for the other two modes its choice of
//! the neighbour where f32 rounds the coordinate is not published (plain `resizeTensor:` takes another one than Burn,
//! see ChanLumerico/lucid). Products with matrices of weights would be fewer ops, but one NaN or infinity would spread
//! over its whole row and column.

mod taps;
mod weights;

use burn_backend::ops::InterpolateOptions;
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{DType, Shape, Slice, TensorMetadata};

use self::taps::Taps;
pub(crate) use self::weights::Filter;
use self::weights::{AxisResize, Direction};
use super::arithmetic::{self, BinaryOp};
use super::{gather, memory, reduction, scatter_nd, tensor_shape};
use crate::bridge::check_size;
use crate::burn::filter_of;
use crate::dtype::Elements;
use crate::error::{Call, invalid, unsupported};
use crate::lowering::MOST_BYTES;
use crate::lowering::conversion::computed_in;
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::scalar::ScalarInput;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `x` with `output_size` as its height and width. An extent that stays keeps its elements as they are.
pub(crate) fn interpolate(x: MpsGraphTensor, output_size: [usize; 2], options: InterpolateOptions) -> MpsGraphTensor {
    const NAME: &str = "interpolate";
    let _call = Call::begin(NAME, [x.typed()]);
    let [batch, channels, height, width] = extents(NAME, &x, output_size);
    let shape = Shape::new([batch, channels, output_size[0], output_size[1]]);
    if shape.contains(&0) {
        return memory::zeros(shape, x.dtype());
    }
    // Before the tables are made, which are as long as the new axes.
    check_size(NAME, &TensorType::new(x.dtype(), shape.clone()));
    resize(NAME, x, axes([height, width], output_size, &options), Direction::Forward)
}

/// Gradient of [`interpolate`] for `x`, of which only the shape matters, from the gradient of its result.
pub(crate) fn interpolate_backward(
    x: MpsGraphTensor,
    grad: MpsGraphTensor,
    output_size: [usize; 2],
    options: InterpolateOptions,
) -> MpsGraphTensor {
    const NAME: &str = "interpolate_backward";
    let _call = Call::begin(NAME, [x.typed(), grad.typed()]);
    let [batch, channels, height, width] = extents(NAME, &x, output_size);
    let expected = [batch, channels, output_size[0], output_size[1]];
    if grad.dims() != expected || grad.dtype() != x.dtype() {
        let (own, other) = (x.typed(), grad.typed());
        let rule = format!("it must have the shape {expected:?} and the same dtype");
        invalid(NAME, format!("a gradient {other:?} for {own:?} resized to {output_size:?}: {rule}"));
    }
    if grad.shape.num_elements() == 0 || x.shape.num_elements() == 0 {
        return memory::zeros(x.shape(), x.dtype());
    }
    resize(NAME, grad, axes([height, width], output_size, &options), Direction::Backward)
}

/// The extents of images that can be resized to `output_size`.
fn extents(op: &'static str, x: &MpsGraphTensor, output_size: [usize; 2]) -> [usize; 4] {
    let &[batch, channels, height, width] = x.dims() else {
        invalid(op, format!("shape {:?}; [batch, channels, height, width] is expected", x.dims()));
    };
    Elements::Floats.require(op, x);
    if height == 0 || width == 0 {
        invalid(op, format!("shape {:?} has no pixels to make {output_size:?} of", x.dims()));
    }
    [batch, channels, height, width]
}

/// Height and width, each with its place in the shape.
fn axes(from: [usize; 2], to: [usize; 2], options: &InterpolateOptions) -> [(usize, AxisResize); 2] {
    let filter = filter_of(&options.mode);
    // Nearest neighbours do not depend on it: one table for both.
    let align_corners = options.align_corners && !filter.picks();
    [0, 1].map(|i| (i + 2, AxisResize { filter, align_corners, from: from[i], to: to[i] }))
}

/// Both axes, in the order that takes less work; 16-bit floats in f32.
///
/// Indices and weights depend on the extents only: [`weights`] computes them exactly, and they are uploaded once,
/// because constants would make a program large and computing them in the program takes a dozen ops for each axis.
fn resize(
    op: &'static str,
    x: MpsGraphTensor,
    mut axes: [(usize, AxisResize); 2],
    direction: Direction,
) -> MpsGraphTensor {
    let dtype = x.dtype();
    if axes[0].1.filter.picks() && axes.iter().all(|(_, resize)| resize.from != resize.to) {
        let plane = axes.map(|(_, resize)| resize);
        match direction {
            Direction::Forward => return nearest(op, x, plane),
            Direction::Backward if plane.iter().all(|resize| resize.to < resize.from) => return placed(op, x, plane),
            Direction::Backward => {}
        }
    }
    if work(direction, [axes[1], axes[0]]) < work(direction, axes) {
        axes.reverse();
    }
    let mut x = x;
    for (axis, resize) in axes {
        if resize.from == resize.to {
            continue;
        }
        if let (Direction::Backward, Some(times)) = (direction, resize.repeats()) {
            x = added(arithmetic::cast(x, computed_in(dtype)), axis, times);
            continue;
        }
        let terms = direction.result(resize).saturating_mul(direction.reads(resize));
        check_terms(op, terms, DType::F32, &x.shape);
        let taps = taps::of(op, resize, direction);
        if !taps.copies() {
            x = arithmetic::cast(x, computed_in(dtype));
        }
        x = along(op, x, axis, &taps, direction.result(resize));
    }
    arithmetic::cast(x, dtype)
}

/// How many elements of a row that is read as a whole take as long as one that is read by itself, along the width.
const BY_ITSELF: usize = 4;

/// How long resizing the two axes in this order takes: the elements that each reads.
fn work(direction: Direction, [first, second]: [(usize, AxisResize); 2]) -> usize {
    let reads = |(axis, resize): (usize, AxisResize), across: usize| {
        let cost = if axis == 2 || resize.from == resize.to { 1 } else { BY_ITSELF };
        let factors = [direction.result(resize), across, direction.reads(resize), cost];
        factors.into_iter().fold(1, usize::saturating_mul)
    };
    reads(first, direction.operand(second.1)).saturating_add(reads(second, direction.result(first.1)))
}

/// Nearest pixels along both axes: each repeated, every few of them, or read by index from images of one axis.
fn nearest(op: &'static str, x: MpsGraphTensor, axes: [AxisResize; 2]) -> MpsGraphTensor {
    let [height, width] = axes;
    let mut shape = x.shape();
    let images = shape[0] * shape[1];
    (shape[2], shape[3]) = (height.to, width.to);
    if let [Some(rows), Some(columns)] = axes.map(AxisResize::repeats) {
        let lines = images * height.from;
        let x = x.with_shape([lines, 1, width.from, 1].into());
        return tensor_shape::expand(x, [lines, rows, width.from, columns].into()).with_shape(shape);
    }
    if axes.iter().all(|axis| axis.from.is_multiple_of(axis.to)) {
        let every = |axis: AxisResize| {
            let step = axis.from / axis.to;
            let start = if axis.filter == (Filter::Nearest { middle: true }) { step / 2 } else { 0 };
            Slice::new(start as isize, None, step as isize)
        };
        return tensor_shape::slice(x, &[Slice::full(), Slice::full(), every(height), every(width)]);
    }
    let x = x.with_shape([images, height.from * width.from].into());
    gather::select_inside(x, 1, places(op, axes)).with_shape(shape)
}

/// The gradients of nearest pixels of a smaller image at their places, and zeros between them. No two have one place.
fn placed(op: &'static str, grad: MpsGraphTensor, axes: [AxisResize; 2]) -> MpsGraphTensor {
    let [height, width] = axes;
    let mut shape = grad.shape();
    let images = shape[0] * shape[1];
    (shape[2], shape[3]) = (height.from, width.from);
    let none = memory::zeros([images, height.from * width.from].into(), grad.dtype());
    let grad = grad.with_shape([images, height.to * width.to].into());
    scatter_nd::select_assign(none, 1, places(op, axes), grad, IndexingUpdateOp::Add).with_shape(shape)
}

/// The place of each new pixel's nearest one in an image of one axis: a table, unless it would be large.
fn places(op: &'static str, axes: [AxisResize; 2]) -> MpsGraphTensor {
    if let Some(table) = taps::places(op, axes) {
        return table;
    }
    let [height, width] = axes;
    let [rows, columns] = axes.map(|axis| taps::of(op, axis, Direction::Forward).indices);
    let rows = arithmetic::binary_scalar(BinaryOp::Mul, rows, ScalarInput::Int(width.from as i64));
    let places = arithmetic::binary(
        BinaryOp::Add,
        rows.with_shape([height.to, 1].into()),
        columns.with_shape([1, width.to].into()),
    );
    places.with_shape([height.to * width.to].into())
}

/// Sums of each `times` elements along `axis`.
fn added(x: MpsGraphTensor, axis: usize, times: usize) -> MpsGraphTensor {
    let mut shape = x.shape();
    let [outer, extent, inner] = outer_axis_inner(&shape, axis);
    shape[axis] = extent / times;
    reduction::sum_dim(x.with_shape([outer, extent / times, times, inner].into()), 2).with_shape(shape)
}

/// `axis` of `x` with `count` elements instead, which `taps` says how to make.
fn along(op: &'static str, x: MpsGraphTensor, axis: usize, taps: &Taps, count: usize) -> MpsGraphTensor {
    let mut shape = x.shape();
    let [outer, extent, inner] = outer_axis_inner(&shape, axis);
    shape[axis] = count;
    check_terms(op, outer * taps.slots * count * inner, x.dtype(), &shape);
    let mut x = x.with_shape([outer, extent, inner].into());
    if taps.reads_zero {
        let zeros = memory::zeros([outer, 1, inner].into(), x.dtype());
        x = tensor_shape::cat(vec![x, zeros], 1);
    }
    let read = gather::select_inside(x, 1, taps.indices.clone());
    if taps.copies() {
        return read.with_shape(shape);
    }
    // The terms of a slot are consecutive, so that long rows are added.
    let mut result = read.with_shape([outer, taps.slots, count, inner].into());
    if let Some(weights) = &taps.weights {
        let weights = weights.clone().with_shape([1, taps.slots, count, 1].into());
        result = arithmetic::binary(BinaryOp::Mul, result, weights);
    }
    reduction::sum_dim(result, 1).with_shape(shape)
}

/// Ends what takes more terms of this dtype for a result of this shape than a tensor may have.
fn check_terms(op: &'static str, terms: usize, dtype: DType, shape: &Shape) {
    let most = MOST_BYTES / dtype.size();
    if terms > most {
        let shape = &shape[..];
        let given = format!("{terms} terms of {dtype:?} for a result of shape {shape:?}, more than {most}");
        unsupported(op, format!("{given}; resize fewer images at a time"));
    }
}
