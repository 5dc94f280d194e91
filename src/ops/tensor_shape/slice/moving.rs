//! Regions whose starts are fed, for programs that run with other starts each time.
//!
//! Slices take their bounds at compile time only; fed bounds end the process. So rows are gathered at fed positions,
//! and replaced where a row's position is in the region (a fed start of `sliceUpdateDataTensor:` is reported to trap on
//! macOS 27).

use burn_backend::{DType, Shape};

use super::{AxisRange, lower_slice, put};
use crate::ffi::{self, DataType};
use crate::lowering::conversion::{low_bits, signed};
use crate::lowering::{Lowering, Operand};
use crate::ops::gather::carrier::Carrier;
use crate::tensor_type::TensorType;

/// The axes whose starts are fed, in the order of the node's scalars.
pub(super) fn axes(region: &[AxisRange]) -> impl Iterator<Item = usize> + '_ {
    (0..region.len()).filter(|&axis| region[axis].moving)
}

/// The rows of `x` along `axis` that `range` takes from the fed start on.
pub(super) fn take(cx: &Lowering<'_>, x: &Operand, axis: usize, range: AxisRange, scalar: usize) -> Operand {
    let graph = cx.graph();
    let offsets = scaled(cx, &positions(cx, range.count), range.step);
    let at = graph.addition(&offsets, &cx.scalar(scalar, DType::I32));
    let mut shape = x.ty.shape.clone();
    shape[axis] = range.count;
    Operand { tensor: gathered(cx, x, axis, &at, &shape), ty: TensorType::new(x.ty.dtype, shape), is_zeros: false }
}

/// The rows of `x` along `axis` at these positions: `shape`. There is no reshape that a product which reads them would
/// have to be hidden from, except in 64-bit integers.
fn gathered(cx: &Lowering<'_>, x: &Operand, axis: usize, at: &ffi::Tensor, shape: &Shape) -> ffi::Tensor {
    let (graph, carrier) = (cx.graph(), Carrier::of_rows(x.ty.dtype));
    if carrier.floats() == 1 || axis + 1 < shape.num_dims() {
        let taken = graph.gather(&carrier.load(graph, &x.tensor), at, axis, 0);
        return carrier.store(graph, &taken, x.ty.dtype);
    }
    // The floats of an element stay together behind the axis.
    let mut apart = x.ty.shape.to_vec();
    apart.push(1);
    let data = carrier.load(graph, &graph.reshape(&x.tensor, &apart));
    let taken = carrier.store(graph, &graph.gather(&data, at, axis, 0), x.ty.dtype);
    graph.reshape(&taken, shape)
}

/// `data` with `update` in a region of which at least one start is fed.
pub(super) fn assign(cx: &Lowering<'_>, data: &Operand, update: ffi::Tensor, region: &[AxisRange]) -> ffi::Tensor {
    put_from(cx, data, update, region, &axes(region).collect::<Vec<_>>(), 0)
}

/// Replaces along the moving axes from the `scalar`-th on, then along the others.
fn put_from(
    cx: &Lowering<'_>,
    data: &Operand,
    update: ffi::Tensor,
    region: &[AxisRange],
    moving: &[usize],
    scalar: usize,
) -> ffi::Tensor {
    let extent = |axis: usize| data.ty.shape[axis];
    let Some(&axis) = moving.get(scalar) else {
        let fixed: Vec<AxisRange> = region
            .iter()
            .enumerate()
            .map(|(axis, range)| if range.moving { AxisRange::full(extent(axis)) } else { *range })
            .collect();
        let whole = (0..fixed.len()).all(|axis| fixed[axis].covers(extent(axis)));
        return if whole { update } else { put(cx.graph(), data, update, &fixed) };
    };
    let range = region[axis];
    let rest = (0..region.len()).any(|other| other != axis && !region[other].covers(extent(other)));
    let rows = if rest {
        let inner = take(cx, data, axis, range, scalar);
        put_from(cx, &inner, update, region, moving, scalar + 1)
    } else {
        update
    };
    put_rows(cx, data, rows, axis, range, scalar)
}

/// `data` with `rows` at the positions along `axis` that `range` takes from the fed start on.
fn put_rows(
    cx: &Lowering<'_>,
    data: &Operand,
    rows: ffi::Tensor,
    axis: usize,
    range: AxisRange,
    scalar: usize,
) -> ffi::Tensor {
    let (graph, shape) = (cx.graph(), &data.ty.shape);
    let constant = |value: usize| cx.constant(value as f64, DType::I32);
    // How far each position is behind the start.
    let behind = graph.subtraction(&positions(cx, shape[axis]), &cx.scalar(scalar, DType::I32));
    let end = constant((range.count - 1) * range.step + 1);
    let mut inside =
        graph.logical_and(&graph.greater_than_or_equal_to(&behind, &constant(0)), &graph.less_than(&behind, &end));
    let near = graph.minimum(&graph.maximum(&behind, &constant(0)), &graph.subtraction(&end, &constant(1)));
    let mut row = near.clone();
    if range.step > 1 {
        // Exact: both are below 2^31, and the quotient of integers truncates.
        row = graph.division(&near, &constant(range.step));
        let meets = graph.equal(&graph.multiplication(&row, &constant(range.step)), &near);
        inside = graph.logical_and(&inside, &meets);
    }
    let spread = if range.count == 1 {
        rows
    } else {
        let mut given = shape.clone();
        given[axis] = range.count;
        let rows = Operand { tensor: rows, ty: TensorType::new(data.ty.dtype, given), is_zeros: false };
        gathered(cx, &rows, axis, &row, shape)
    };
    let mut along: Vec<usize> = vec![1; shape.num_dims()];
    along[axis] = shape[axis];
    let inside = graph.reshape(&inside, &along);
    // Of the integers, only the signed ones are known to have kernels for this.
    let bits = signed(data.ty.dtype);
    let [new, old] = [&spread, &data.tensor].map(|x| low_bits(graph, x, data.ty.dtype, bits));
    low_bits(graph, &graph.select(&inside, &new, &old), bits, data.ty.dtype)
}

/// 0, 1, 2, … in i32.
fn positions(cx: &Lowering<'_>, count: usize) -> ffi::Tensor {
    let positions = cx.graph().coordinate_along_axis(0, &[count]);
    cx.graph().cast(&positions, DataType::I32)
}

fn scaled(cx: &Lowering<'_>, x: &ffi::Tensor, factor: usize) -> ffi::Tensor {
    if factor == 1 { x.clone() } else { cx.graph().multiplication(x, &cx.constant(factor as f64, DType::I32)) }
}

/// The region's elements, some of whose starts are fed. A gather copies, so what can only be cut out is cut out first,
/// and axes of which little is taken are gathered before others.
pub(super) fn slice(cx: &Lowering<'_>, x: &Operand, region: &[AxisRange]) -> ffi::Tensor {
    let extent = |axis: usize| x.ty.shape[axis];
    let fixed = |(axis, range): (usize, &AxisRange)| match range.moving {
        true => AxisRange::full(extent(axis)),
        false => AxisRange { reversed: false, ..*range },
    };
    let fixed: Vec<AxisRange> = region.iter().enumerate().map(fixed).collect();
    let cut: Shape = fixed.iter().map(|range| range.count).collect();
    let mut x = Operand { tensor: lower_slice(cx, x, &fixed), ty: TensorType::new(x.ty.dtype, cut), is_zeros: false };
    let mut moving: Vec<(usize, usize)> = axes(region).enumerate().collect();
    moving.sort_by(|&(_, a), &(_, b)| (region[a].count * extent(b)).cmp(&(region[b].count * extent(a))));
    for (scalar, axis) in moving {
        x = take(cx, &x, axis, region[axis], scalar);
    }
    let taken: Vec<AxisRange> = region.iter().map(|range| range.taken()).collect();
    lower_slice(cx, &x, &taken)
}
