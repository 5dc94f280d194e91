//! Bits of 64-bit integers, by 32-bit operations on their halves and by arithmetic: MPSGraph's elementwise kernels are
//! a table per dtype with holes, which end the process, and nobody has reported bitwise ones for 64 bits.
//!
//! The halves of a tensor stand along an axis behind its last, the low half first. A tensor that has as many axes as
//! there can be is flattened for that.

use burn_backend::DType;

use super::BinaryOp;
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;
use crate::lowering::axis::{MOST_AXES, part};
use crate::tensor_type::broadcast;

/// A 64-bit integer operand and its shape.
pub(super) type Shaped<'a> = (&'a ffi::Tensor, &'a [usize]);

/// A function of i64 that puts halves along an axis of their own.
#[derive(Clone, Copy)]
pub(super) enum Bits {
    /// And, or, exclusive or.
    Bitwise(BinaryOp),
    LeftShift,
    RightShift {
        is_unsigned: bool,
    },
}

impl Bits {
    /// Adds the function of two tensors, each with its shape, to a graph.
    pub(super) fn lower(self, cx: &Lowering<'_>, a: Shaped<'_>, b: Shaped<'_>) -> ffi::Tensor {
        let shape = broadcast(a.1, b.1).unwrap_or_else(|_| unreachable!("checked when the op was recorded"));
        if shape.num_dims() == MOST_AXES {
            let graph = cx.graph();
            let [(a, count_a), (b, count_b)] = [a, b].map(|x| flattened(graph, x, &shape));
            return graph.reshape(&self.lower(cx, (&a, &count_a), (&b, &count_b)), &shape);
        }
        match self {
            Self::Bitwise(op) => bitwise(cx, op, a, b, &shape),
            Self::LeftShift => shift_left(cx, a, b),
            Self::RightShift { is_unsigned } => shift_right(cx, a, b, &shape, is_unsigned),
        }
    }
}

/// All elements along one axis: of a tensor of a single element that one, of others as many as `shape` has.
fn flattened(graph: &ffi::Graph, (x, own): Shaped<'_>, shape: &[usize]) -> (ffi::Tensor, [usize; 1]) {
    let is_whole = own == shape || own.iter().all(|&extent| extent == 1);
    let whole = if is_whole { x.clone() } else { graph.broadcast(x, shape) };
    let count = if is_whole { own } else { shape }.iter().product();
    (graph.reshape(&whole, &[count]), [count])
}

/// And, or, exclusive or of i64, of the shape `shape`.
fn bitwise(cx: &Lowering<'_>, op: BinaryOp, a: Shaped<'_>, b: Shaped<'_>, shape: &[usize]) -> ffi::Tensor {
    let graph = cx.graph();
    let result = op.lower(cx, (&halves(graph, a), &[]), (&halves(graph, b), &[]), DType::I32);
    whole(graph, &result, shape)
}

/// `a << count` of i64, the count taken modulo 64: a product, which wraps.
fn shift_left(cx: &Lowering<'_>, a: Shaped<'_>, count: Shaped<'_>) -> ffi::Tensor {
    let graph = cx.graph();
    let Count { is_far, near } = Count::of(cx, count);
    // -2^near, also of 31 places.
    let negative = wide(graph, &graph.bitwise_left_shift(&number(cx, -1), &near));
    let sign = graph.select(&is_far, &wide_number(cx, -TWO_TO_32), &wide_number(cx, -1.0));
    let factor = graph.reshape(&graph.multiplication(&negative, &sign), count.1);
    graph.multiplication(a.0, &factor)
}

/// `a >> count` of i64, the count taken modulo 64, filled with copies of the sign or, if `is_unsigned`, with zeros.
///
/// Both halves are shifted by themselves, the high one is put in its place by a product, and what the low one is filled
/// with is cut off. Of 32 places and more the low half is nothing, and the high one gets its place.
fn shift_right(cx: &Lowering<'_>, a: Shaped<'_>, count: Shaped<'_>, shape: &[usize], is_unsigned: bool) -> ffi::Tensor {
    let graph = cx.graph();
    let [low, high] = apart(graph, a);
    let Count { is_far, near } = Count::of(cx, count);
    // -2^(31 - near), and the ones of 2^(32 - near) - 1; both also of no places.
    let half = graph.bitwise_left_shift(&number(cx, -1), &graph.subtraction(&number(cx, 31), &near));
    let ones = graph.subtraction(&graph.subtraction(&number(cx, -1), &half), &half);
    let place = graph.multiplication(&wide(graph, &half), &wide_number(cx, -2.0));
    let place = graph.select(&is_far, &wide_number(cx, 1.0), &place);
    let high = graph.bitwise_right_shift(&high, &graph.select(&is_far, &near, &number(cx, 0)));
    let high = if is_unsigned {
        let kept = graph.select(&is_far, &ones, &number(cx, -1));
        wide_unsigned(graph, &graph.bitwise_and(&high, &kept))
    } else {
        wide(graph, &high)
    };
    let kept = graph.select(&is_far, &number(cx, 0), &ones);
    let low = wide_unsigned(graph, &graph.bitwise_and(&graph.bitwise_right_shift(&low, &near), &kept));
    let quotient = graph.addition(&graph.multiplication(&high, &place), &low);
    graph.reshape(&quotient, shape)
}

/// The upper 64 bits of the products of `count` unsigned 64-bit integers by one, as a column.
///
/// Every sum of two parts of products that the long multiplication makes is below 2^64.
pub(in crate::ops) fn upper_product(cx: &Lowering<'_>, a: &ffi::Tensor, b: &ffi::Tensor, count: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let apart = |x: &ffi::Tensor, count: usize| apart(graph, (x, &[count])).map(|half| wide_unsigned(graph, &half));
    let product = |x: &ffi::Tensor, y: &ffi::Tensor| graph.multiplication(x, y);
    let ([a_low, a_high], [b_low, b_high]) = (apart(a, count), apart(b, 1));
    let [_, carried] = apart(&product(&a_low, &b_low), count);
    let [middle, above] = apart(&graph.addition(&product(&a_high, &b_low), &carried), count);
    let [_, carried] = apart(&graph.addition(&product(&a_low, &b_high), &middle), count);
    graph.addition(&graph.addition(&product(&a_high, &b_high), &above), &carried)
}

const TWO_TO_32: f64 = 4_294_967_296.0;

/// A count of places, modulo 64.
struct Count {
    /// Whether it is 32 or more.
    is_far: ffi::Tensor,
    /// It modulo 32.
    near: ffi::Tensor,
}

impl Count {
    fn of(cx: &Lowering<'_>, count: Shaped<'_>) -> Self {
        let graph = cx.graph();
        let [low, _] = apart(graph, count);
        let near = graph.bitwise_and(&low, &number(cx, 31));
        let is_far = graph.not_equal(&graph.bitwise_and(&low, &number(cx, 32)), &number(cx, 0));
        Self { is_far, near }
    }
}

fn number(cx: &Lowering<'_>, number: i32) -> ffi::Tensor {
    cx.constant(number.into(), DType::I32)
}

fn wide(graph: &ffi::Graph, half: &ffi::Tensor) -> ffi::Tensor {
    graph.cast(half, DataType::I64)
}

/// The bits of an i32 as a number that is not negative.
fn wide_unsigned(graph: &ffi::Graph, half: &ffi::Tensor) -> ffi::Tensor {
    wide(graph, &graph.reinterpret_cast(half, DataType::U32))
}

fn wide_number(cx: &Lowering<'_>, number: f64) -> ffi::Tensor {
    cx.constant(number, DType::I64)
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
