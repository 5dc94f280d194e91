//! How reductions become nodes.

use burn_backend::DType;

use super::{Extreme, Kind, ReductionOp};
use crate::dtype::BOOL;
use crate::ffi;
use crate::lowering::conversion::{comparable, convert, from_comparable, low_bits, signed, summed_in};
use crate::lowering::rank::{reshaped, within_rank};
use crate::lowering::{Lowering, Operand};
use crate::ops::arithmetic::{divide_integers, divide_u64};
use crate::tensor_type::TensorType;

/// The result of `op`, of the output's type.
pub(super) fn reduced(cx: &Lowering<'_>, op: &ReductionOp, input: &Operand, output: &TensorType) -> ffi::Tensor {
    let TensorType { dtype, shape } = &input.ty;
    let (view, axis) = within_rank(shape, op.dim);
    let x = reshaped(cx, &input.tensor, shape, &view);
    let axes: Vec<isize> = std::iter::once(axis).chain(op.axes()[1..].iter().map(|&other| other as isize)).collect();
    let graph = cx.graph();
    let result = match op.kind {
        Kind::Sum => {
            let wide = summed_in(*dtype);
            let sum = graph.reduction_sum(&convert(cx, &x, *dtype, wide), &axes);
            convert(cx, &sum, wide, *dtype)
        }
        Kind::Prod => {
            let wide = summed_in(*dtype);
            let result = product(cx, &convert(cx, &x, *dtype, wide), &view, axis);
            convert(cx, &result, wide, *dtype)
        }
        Kind::Mean => mean_of(cx, &x, *dtype, shape.num_elements() / output.elements(), &axes),
        Kind::Extreme(extreme) => extreme_of(cx, &x, *dtype, extreme, axis),
        Kind::Arg(extreme) => position_of(cx, (&x, &view), (*dtype, output.dtype), extreme, axis),
        Kind::Any => truth_of(cx, &x, *dtype, |truths| graph.reduction_or(truths, &[axis])),
        Kind::All => truth_of(cx, &x, *dtype, |truths| graph.reduction_and(truths, &[axis])),
    };
    let mut reduced = view;
    axes.iter().for_each(|&axis| reduced[axis as usize] = 1);
    reshaped(cx, &result, &reduced, &output.shape)
}

/// The product along `axis`, which becomes the last one first, because products along others have been far slower.
fn product(cx: &Lowering<'_>, x: &ffi::Tensor, view: &[usize], axis: isize) -> ffi::Tensor {
    let graph = cx.graph();
    let axis = axis as usize;
    let last = view.len() - 1;
    if view[axis + 1..].iter().all(|&extent| extent == 1) {
        return graph.reduction_product(x, &[axis as isize]);
    }
    let mut permutation: Vec<usize> = (0..view.len()).collect();
    permutation.swap(axis, last);
    let product = graph.reduction_product(&graph.transpose(x, &permutation), &[last as isize]);
    graph.transpose(&product, &permutation)
}

/// The mean along axes of `count` elements together.
pub(in crate::ops) fn mean_of(
    cx: &Lowering<'_>,
    x: &ffi::Tensor,
    dtype: DType,
    count: usize,
    axes: &[isize],
) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype.is_float() {
        let sum = graph.reduction_sum(&convert(cx, x, dtype, DType::F32), axes);
        let mean = graph.division(&sum, &cx.constant(count as f64, DType::F32));
        return convert(cx, &mean, DType::F32, dtype);
    }
    let sum = graph.reduction_sum(&low_bits(graph, x, dtype, DType::I64), axes);
    // A sum of u64 is right modulo 2^64 either way, but its quotient depends on how the bits are read.
    let count = cx.constant(count as f64, DType::I64);
    let is_u64 = dtype == DType::U64;
    let mean = if is_u64 { divide_u64(cx, &sum, &count) } else { divide_integers(cx, &sum, &count, DType::I64) };
    low_bits(graph, &mean, DType::I64, dtype)
}

fn extreme_of(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, extreme: Extreme, axis: isize) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype.is_float() {
        // The plain forms skip NaN (MPSGraphReductionOps.h).
        let x = convert(cx, x, dtype, DType::F32);
        let value = match extreme {
            Extreme::Max => graph.reduction_maximum_propagate_nan(&x, &[axis]),
            Extreme::Min => graph.reduction_minimum_propagate_nan(&x, &[axis]),
        };
        return convert(cx, &value, DType::F32, dtype);
    }
    let x = comparable(cx, x, dtype);
    let value = match extreme {
        Extreme::Max => graph.reduction_maximum(&x, &[axis]),
        Extreme::Min => graph.reduction_minimum(&x, &[axis]),
    };
    from_comparable(cx, &value, dtype)
}

/// The first position of the extreme in `x`, which has this shape.
///
/// MPSGraph's argmax never chooses NaN (of NaN alone it is -1), has been wrong for 64-bit integers
/// (pytorch/pytorch#92311), and for others in a beta of macOS 27, since when PyTorch has a kernel of its own
/// (pytorch/pytorch#187280). So the graph compares each element with the extreme, and takes the least position of those
/// that are equal.
fn position_of(
    cx: &Lowering<'_>,
    (x, shape): (&ffi::Tensor, &[usize]),
    (dtype, out): (DType, DType),
    extreme: Extreme,
    axis: isize,
) -> ffi::Tensor {
    let graph = cx.graph();
    let value = extreme_of(cx, x, dtype, extreme, axis);
    let bits = |x: &ffi::Tensor| low_bits(graph, x, dtype, signed(dtype));
    let mut hit = graph.equal(&bits(x), &bits(&value));
    if dtype.is_float() {
        hit = graph.logical_or(&hit, &graph.is_nan(x));
    }
    let extent = shape[axis as usize];
    let mut along = vec![1; shape.len()];
    along[axis as usize] = extent;
    let places =
        graph.select(&hit, &graph.coordinate_along_axis(axis, &along), &cx.constant(extent as f64, DType::I32));
    convert(cx, &graph.reduction_minimum(&places, &[axis]), DType::I32, out)
}

/// What `reduce` makes of whether elements differ from 0. Only 32-bit numbers reduce on every system (pytorch/pytorch,
/// OperationUtils.mm).
fn truth_of(
    cx: &Lowering<'_>,
    x: &ffi::Tensor,
    dtype: DType,
    reduce: impl FnOnce(&ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let truths = convert(cx, x, dtype, BOOL);
    convert(cx, &reduce(&cx.graph().cast(&truths, ffi::DataType::I32)), DType::I32, BOOL)
}
