//! Shifts 64-bit integers to the right whole, where a graph shifts their halves.
//!
//! Nobody has reported bitwise operations of MPSGraph on 64 bits, so who shifts by a count, modulo 64, shifts the
//! halves ([`shifted`]).

use super::Job;
use super::constants;
use super::reading::{binary, bits_of, cast, half_column, select};
use crate::ir::{BinaryOp, DType, Node, Nodes, TensorType, ValueId, ViewOp};

/// The same job with such shifts as one operation; the nodes that nothing reads any more are left over.
pub fn join(job: Job) -> Job {
    job.rebuilt(|nodes, node, _, _| match shifted(nodes, &node) {
        Some((dtype, operands)) => shift(nodes, node, dtype, operands),
        None => nodes.push(node),
    })
}

/// The node as a shift of integers of this type, of columns behind the last axes of the operands.
fn shift(nodes: &mut Nodes, node: Node, dtype: DType, operands: [ValueId; 2]) -> ValueId {
    let Node { output, method, .. } = node;
    let bits = |nodes: &mut Nodes, id: ValueId, dtype: DType| {
        let TensorType { dtype: own, shape } = nodes.ty(id).clone();
        let ty = TensorType { dtype, shape };
        if own == dtype {
            id
        } else {
            nodes.push(Node { op: ViewOp::Reinterpret.into(), inputs: vec![id], output: ty, method })
        }
    };
    let inputs = operands.map(|whole| {
        let TensorType { dtype: own, shape } = nodes.ty(whole).clone();
        let ty = TensorType { dtype: own, shape: [&shape[..], &[1]].concat() };
        let column = nodes.push(Node { op: ViewOp::Reshape.into(), inputs: vec![whole], output: ty, method });
        bits(nodes, column, dtype)
    });
    let ty = TensorType { dtype, shape: output.shape };
    let shifted = nodes.push(Node { op: BinaryOp::Shr.into(), inputs: inputs.into(), output: ty, method });
    bits(nodes, shifted, output.dtype)
}

/// The integers and the counts that the node shifts by, and the type of integers that are shifted so.
///
/// The graph is
///
/// ```text
/// near   = count & 31                                     is_far = (count & 32) != 0
/// half   = -1 << (31 - near)                              place  = select(is_far, 1, i64 of half * -2)
/// ones   = -1 - half - half
/// high   = i64 of (upper half >> select(is_far, near, 0))
/// low    = i64 of u32 bits of ((lower half >> near) & select(is_far, 0, ones))
/// result = high * place + low
/// ```
///
/// To shift zeros in, `high` is the `i64 of u32 bits of ((upper half >> ..) & select(is_far, ones, -1))`.
fn shifted(nodes: &Nodes, node: &Node) -> Option<(DType, [ValueId; 2])> {
    if node.op != BinaryOp::Add.into() || node.output.dtype != DType::I64 {
        return None;
    }
    let (high, place) = binary(nodes, node.inputs[0], BinaryOp::Mul)?;
    let low = bits_of(nodes, cast(nodes, node.inputs[1], DType::U32)?, DType::U32, DType::I32)?;
    let (low, kept) = binary(nodes, low, BinaryOp::BitAnd)?;
    let (lower, near) = binary(nodes, low, BinaryOp::Shr)?;
    let [is_far, none, ones] = select(nodes, kept)?;
    let (rest, half) = binary(nodes, ones, BinaryOp::Sub)?;
    let (all_ones, same_half) = binary(nodes, rest, BinaryOp::Sub)?;
    let (ones_of_half, up) = binary(nodes, half, BinaryOp::Shl)?;
    let (most, same_near) = binary(nodes, up, BinaryOp::Sub)?;
    let (count, below) = binary(nodes, near, BinaryOp::BitAnd)?;
    let (far_bit, no_bit) = binary(nodes, is_far, BinaryOp::NotEqual)?;
    let (same_count, far) = binary(nodes, far_bit, BinaryOp::BitAnd)?;
    let (dtype, high) = match cast(nodes, high, DType::I32) {
        Some(high) => (DType::I64, high),
        None => (DType::U64, cut(nodes, high, is_far, ones)?),
    };
    let (upper, down) = binary(nodes, high, BinaryOp::Shr)?;
    let of_high = select(nodes, down)?;
    let of_place = select(nodes, place)?;
    let (wide_half, minus_two) = binary(nodes, of_place[2], BinaryOp::Mul)?;
    let numbers = [(none, 0), (all_ones, -1), (ones_of_half, -1), (most, 31), (below, 31), (no_bit, 0), (far, 32)];
    let others = [(of_high[2], 0), (of_place[1], 1), (minus_two, -2)];
    let is_shift = numbers.into_iter().chain(others).all(|(id, number)| is_number(nodes, id, number))
        && [same_half, cast(nodes, wide_half, DType::I32)?] == [half; 2]
        && [same_near, of_high[1]] == [near; 2]
        && [of_high[0], of_place[0]] == [is_far; 2]
        && same_count == count;
    let half = |id: ValueId, at: usize| half_column(nodes, id, at).filter(|&of| nodes.ty(of).dtype == DType::I64);
    let x = half(lower, 0)?;
    (is_shift && half(upper, 1)? == x).then_some((dtype, [x, half(count, 0)?]))
}

/// If `high` is cut to the bits of `ones` where the count is far, as when zeros are shifted in: what is cut.
fn cut(nodes: &Nodes, high: ValueId, is_far: ValueId, ones: ValueId) -> Option<ValueId> {
    let high = bits_of(nodes, cast(nodes, high, DType::U32)?, DType::U32, DType::I32)?;
    let (high, kept) = binary(nodes, high, BinaryOp::BitAnd)?;
    let [test, some, all] = select(nodes, kept)?;
    (test == is_far && some == ones && is_number(nodes, all, -1)).then_some(high)
}

fn is_number(nodes: &Nodes, id: ValueId, number: i64) -> bool {
    constants::integer(nodes, id) == Some(number) && nodes.ty(id).shape.iter().all(|&extent| extent == 1)
}
