//! Orders that are found digit by digit become one kernel, with the positions that the nodes give one by one.

use super::*;
use crate::kernels::gather::Gather;
use crate::kernels::iota::Iota;
use crate::kernels::rows::Indexing;
use crate::kernels::sort::Sort;

const ROWS: usize = 5;
const EXTENT: usize = 300;
/// Bits of a position, and of a digit.
const PLACES: i64 = 9;
const WIDTH: u32 = 22;

fn number(nodes: &mut Nodes, number: i64) -> ValueId {
    push(nodes, Leaf::Splat(number.to_ne_bytes()), [], TensorType::new(DType::I32, [1]))
}

fn with_number(nodes: &mut Nodes, op: BinaryOp, x: ValueId, by: i64) -> ValueId {
    let by = number(nodes, by);
    binary(nodes, op, x, by)
}

fn view(nodes: &mut Nodes, op: ViewOp, x: ValueId, dtype: DType, shape: &[usize]) -> ValueId {
    push(nodes, op, [x], TensorType::new(dtype, shape))
}

/// The i32 halves of 64-bit integers, the high one of unsigned numbers with its highest bit inverted; others are whole.
fn words(nodes: &mut Nodes, x: ValueId) -> Vec<ValueId> {
    if nodes.ty(x).dtype.size() == 4 {
        return vec![x];
    }
    let doubled = view(nodes, ViewOp::Reinterpret, x, DType::I32, &[ROWS, 2 * EXTENT]);
    let apart = view(nodes, ViewOp::Reshape, doubled, DType::I32, &[ROWS, EXTENT, 2]);
    let mut words: Vec<ValueId> = (0..2)
        .map(|half| {
            let slice = ViewOp::Slice { starts: vec![0, 0, half], strides: vec![1; 3] };
            let part = view(nodes, slice, apart, DType::I32, &[ROWS, EXTENT, 1]);
            view(nodes, ViewOp::Reshape, part, DType::I32, &[ROWS, EXTENT])
        })
        .collect();
    if nodes.ty(x).dtype == DType::U64 {
        words[1] = with_number(nodes, BinaryOp::BitXor, words[1], i32::MIN.into());
    }
    words
}

/// The bits from `low` on as a number in their order.
fn digit(nodes: &mut Nodes, words: &[ValueId], low: u32, descending: bool) -> ValueId {
    let (at, by, end) = ((low / 32) as usize, i64::from(low % 32), (low + WIDTH).min(32 * words.len() as u32));
    let mut bits = if by == 0 { words[at] } else { with_number(nodes, BinaryOp::Shr, words[at], by) };
    if end > 32 * (at as u32 + 1) {
        let rest = with_number(nodes, BinaryOp::BitAnd, bits, (1 << (32 - by)) - 1);
        let high = with_number(nodes, BinaryOp::Shl, words[at + 1], 32 - by);
        bits = binary(nodes, BinaryOp::BitOr, rest, high);
    }
    if end < 32 * words.len() as u32 {
        bits = with_number(nodes, BinaryOp::BitAnd, bits, (1 << WIDTH) - 1);
        bits = with_number(nodes, BinaryOp::Sub, bits, 1 << (WIDTH - 1));
    }
    if descending { with_number(nodes, BinaryOp::BitXor, bits, -1) } else { bits }
}

fn at(nodes: &mut Nodes, x: ValueId, places: ValueId) -> ValueId {
    let shape = nodes.ty(x).shape.clone();
    let floats = view(nodes, ViewOp::Reinterpret, x, DType::F32, &shape);
    let read = push(nodes, Gather(Indexing::Along { axis: 1 }), [floats, places], f32s(&shape));
    view(nodes, ViewOp::Reinterpret, read, DType::I32, &shape)
}

/// Digit by digit, each sorted with the places in the low bits, of which `places` are.
fn order(nodes: &mut Nodes, x: ValueId, descending: bool, places: i64) -> ValueId {
    let rows = push(nodes, Iota { axis: 0 }, [], TensorType::new(DType::I32, [EXTENT]));
    let words = words(nodes, x);
    let mut order = None;
    for low in (0..32 * words.len() as u32).step_by(WIDTH as usize) {
        let digit = digit(nodes, &words, low, descending);
        let high = with_number(nodes, BinaryOp::Shl, digit, places);
        let arranged = order.map_or(high, |order| at(nodes, high, order));
        let keys = binary(nodes, BinaryOp::BitOr, arranged, rows);
        let ty = nodes.ty(keys).clone();
        let sorted = push(nodes, Sort { axis: 1, descending: false }, [keys], ty);
        let from = with_number(nodes, BinaryOp::BitAnd, sorted, (1 << places) - 1);
        order = Some(order.map_or(from, |order| at(nodes, order, from)));
    }
    order.unwrap()
}

/// 64-bit integers as a graph reads them in an order: pairs of floats.
fn in_order(nodes: &mut Nodes, x: ValueId, order: ValueId) -> ValueId {
    let dtype = nodes.ty(x).dtype;
    let [single, double] = [[ROWS, EXTENT, 1], [ROWS, EXTENT, 2]];
    let x = view(nodes, ViewOp::Reshape, x, dtype, &single);
    let bits = view(nodes, ViewOp::Reinterpret, x, DType::U32, &double);
    let floats = view(nodes, ViewOp::Reinterpret, bits, DType::F32, &double);
    let order = view(nodes, ViewOp::Reshape, order, DType::I32, &single);
    let apart = view(nodes, ViewOp::Reshape, order, DType::I32, &[ROWS, EXTENT, 1, 1]);
    let twice = view(nodes, ViewOp::Broadcast, apart, DType::I32, &[ROWS, EXTENT, 1, 2]);
    let indices = view(nodes, ViewOp::Reshape, twice, DType::I32, &double);
    let read = push(nodes, Gather(Indexing::Along { axis: 1 }), [floats, indices], f32s(&double));
    let bits = view(nodes, ViewOp::Reinterpret, read, DType::U32, &double);
    view(nodes, ViewOp::Reinterpret, bits, dtype, &single)
}

fn integers(bytes: usize) -> Vec<u8> {
    let number = |at: u64| (at / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_ne_bytes();
    (0..bytes as u64 / 8).flat_map(number).collect()
}

#[test]
fn one_kernel_with_the_same_positions() {
    for dtype in [DType::I32, DType::I64, DType::U64] {
        for descending in [false, true] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, [ROWS, EXTENT]));
            let order = order(&mut nodes, x, descending, PLACES);
            let plan = compile(&nodes, &[x], &[order]);
            let x_bytes = integers(nodes.ty(x).bytes());
            assert_eq!(plan.describe().lines().count(), 1, "{dtype:?}\n{}", plan.describe());
            let wanted = unfused(&nodes, &[x], &[&x_bytes], &[order]);
            assert!(run(&plan, &[&x_bytes]) == wanted, "{dtype:?} {descending}");
        }
    }
}

/// A place that does not fit its bits, or one that pushes bits of a digit out, is another order.
#[test]
fn only_of_whole_numbers_and_places() {
    for places in [8, 11] {
        let mut nodes = Nodes::default();
        let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I64, [ROWS, EXTENT]));
        let order = order(&mut nodes, x, false, places);
        let plan = compile(&nodes, &[x], &[order]).describe();
        assert!(plan.lines().count() > 5, "{places}\n{plan}");
    }
}

#[test]
fn integers_that_are_read_in_their_order_are_sorted() {
    for dtype in [DType::I64, DType::U64] {
        for wanted in [1, 2] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, [ROWS, EXTENT]));
            let order = order(&mut nodes, x, true, PLACES);
            let values = in_order(&mut nodes, x, order);
            let targets = &[values, order][..wanted];
            let plan = compile(&nodes, &[x], targets);
            let x_bytes = integers(nodes.ty(x).bytes());
            let text = plan.describe();
            assert_eq!((text.lines().count(), text.contains("Gather")), (wanted, wanted == 2), "{text}");
            assert!(run(&plan, &[&x_bytes]) == unfused(&nodes, &[x], &[&x_bytes], targets), "{dtype:?} {wanted}");
        }
    }
}
