//! Bits of 64-bit integers, by 32-bit operations on their halves: MPSGraph's elementwise kernels are a table per dtype
//! with holes, which end the process, and nobody has reported bitwise ones for 64 bits.
//!
//! The halves of a tensor stand along an axis behind its last, the low half first.

use burn_backend::DType;

use super::BinaryOp;
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;
use crate::lowering::axis::part;

/// A 64-bit integer operand and its shape.
pub(super) type Shaped<'a> = (&'a ffi::Tensor, &'a [usize]);

/// And, or, exclusive or of i64.
pub(super) fn bitwise(cx: &Lowering<'_>, op: BinaryOp, a: Shaped<'_>, b: Shaped<'_>) -> ffi::Tensor {
    let (graph, shape) = (cx.graph(), broadcast(a.1, b.1));
    let result = op.lower(cx, (&halves(graph, a), &[]), (&halves(graph, b), &[]), DType::I32);
    whole(graph, &result, &shape)
}

/// `a << count` of i64, the count taken modulo 64.
pub(super) fn shift_left(cx: &Lowering<'_>, a: Shaped<'_>, count: Shaped<'_>) -> ffi::Tensor {
    let graph = cx.graph();
    let [low, high] = apart(graph, a);
    let Count { is_far, near, rest } = Count::of(cx, count);
    let moved_low = graph.bitwise_left_shift(&low, &near);
    // The bits that leave the low half: one first, so that no shift is by 32.
    let half = graph.bitwise_and(&graph.bitwise_right_shift(&low, &number(cx, 1)), &number(cx, i32::MAX));
    let carried = graph.bitwise_right_shift(&half, &rest);
    let moved_high = graph.bitwise_or(&graph.bitwise_left_shift(&high, &near), &carried);
    let result = [graph.select(&is_far, &number(cx, 0), &moved_low), graph.select(&is_far, &moved_low, &moved_high)];
    whole(graph, &joined(graph, &result, &broadcast(a.1, count.1)), &broadcast(a.1, count.1))
}

/// `a >> count` of i64, the count taken modulo 64, filled with copies of the sign or, if `is_unsigned`, with zeros.
pub(super) fn shift_right(cx: &Lowering<'_>, a: Shaped<'_>, count: Shaped<'_>, is_unsigned: bool) -> ffi::Tensor {
    let graph = cx.graph();
    let [low, high] = apart(graph, a);
    let Count { is_far, near, rest } = Count::of(cx, count);
    // Ones in the places that are not filled.
    let above = graph.bitwise_left_shift(&graph.bitwise_left_shift(&number(cx, -1), &rest), &number(cx, 1));
    let kept = graph.bitwise_not(&above);
    let logical = |x: &ffi::Tensor| graph.bitwise_and(&graph.bitwise_right_shift(x, &near), &kept);
    let carried = graph.bitwise_left_shift(&graph.bitwise_left_shift(&high, &rest), &number(cx, 1));
    let moved_low = graph.bitwise_or(&logical(&low), &carried);
    let (moved_high, filled) = if is_unsigned {
        (logical(&high), number(cx, 0))
    } else {
        (graph.bitwise_right_shift(&high, &near), graph.bitwise_right_shift(&high, &number(cx, 31)))
    };
    let result = [graph.select(&is_far, &moved_high, &moved_low), graph.select(&is_far, &filled, &moved_high)];
    whole(graph, &joined(graph, &result, &broadcast(a.1, count.1)), &broadcast(a.1, count.1))
}

/// A count of places, modulo 64.
struct Count {
    /// Whether it is 32 or more.
    is_far: ffi::Tensor,
    /// It modulo 32.
    near: ffi::Tensor,
    /// 31 less `near`.
    rest: ffi::Tensor,
}

impl Count {
    fn of(cx: &Lowering<'_>, count: Shaped<'_>) -> Self {
        let graph = cx.graph();
        let [low, _] = apart(graph, count);
        let near = graph.bitwise_and(&low, &number(cx, 31));
        let is_far = graph.not_equal(&graph.bitwise_and(&low, &number(cx, 32)), &number(cx, 0));
        let rest = graph.subtraction(&number(cx, 31), &near);
        Self { is_far, near, rest }
    }
}

fn number(cx: &Lowering<'_>, number: i32) -> ffi::Tensor {
    cx.constant(number.into(), DType::I32)
}

/// The halves along one more axis, of extent 2.
fn halves(graph: &ffi::Graph, (x, shape): Shaped<'_>) -> ffi::Tensor {
    graph.reshape(&graph.reinterpret_cast(x, DataType::I32), &with(shape, 2))
}

/// The low and the high halves, along one more axis, of extent 1.
fn apart(graph: &ffi::Graph, x: Shaped<'_>) -> [ffi::Tensor; 2] {
    let (both, rank) = (halves(graph, x), x.1.len());
    [0, 1].map(|half| part(graph, &both, &with(x.1, 2), rank, [half, half + 1]))
}

/// The inverse of [`apart`], as [`halves`].
fn joined(graph: &ffi::Graph, halves: &[ffi::Tensor; 2], shape: &[usize]) -> ffi::Tensor {
    // A half that does not depend on both operands has not the extents of both.
    let [low, high] = halves.each_ref().map(|half| graph.broadcast(half, &with(shape, 1)));
    graph.concat(&[&low, &high], shape.len() as isize)
}

/// The inverse of [`halves`].
fn whole(graph: &ffi::Graph, halves: &ffi::Tensor, shape: &[usize]) -> ffi::Tensor {
    let mut doubled = shape.to_vec();
    if let Some(last) = doubled.last_mut() {
        *last *= 2;
    }
    graph.reinterpret_cast(&graph.reshape(halves, &doubled), DataType::I64)
}

fn with(shape: &[usize], extent: usize) -> Vec<usize> {
    [shape, &[extent]].concat()
}

/// The shape of both operands' result; a scalar has the shape \[1\].
fn broadcast(a: &[usize], b: &[usize]) -> Vec<usize> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let missing = long.len() - short.len();
    let extent = |axis: usize| axis.checked_sub(missing).map_or(1, |axis| short[axis]);
    long.iter().enumerate().map(|(axis, &extent_of_long)| extent_of_long.max(extent(axis))).collect()
}
