//! Finds the order of integers at once, where a graph finds it digit by digit.
//!
//! MPSGraph's sorts of positions are wrong, and those of 64-bit integers doubtful. Who wants a certain order sorts i32
//! values that have a digit of the integers above the place in the row, from the lowest digit to the highest, and takes
//! the places out of the sorted values. Here one kernel finds the same order. Integers read in that order are sorted
//! integers, so that nothing needs the order if nothing else reads it.
//!
//! [`order`] goes through the passes from the last to the first, [`Pass`] reads one of them, and [`Digit`] tells which
//! bits of which integers it sorts by. The passes are an order if their digits are all bits of the same integers.

use super::Job;
use super::constants::integer;
use super::reading::{binary, bits_of, half};
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::gather::Gather;
use crate::kernels::iota::Iota;
use crate::kernels::order::Order;
use crate::kernels::rows::Indexing;
use crate::kernels::sort::Sort;

/// The same job, with each such group of nodes as one.
pub fn join(job: Job) -> Job {
    let job = job.joined(order);
    let readers = job.readers();
    job.joined(|nodes, id| sorted(nodes, id, &readers))
}

/// The order that `id` is.
fn order(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let ty = nodes.ty(id);
    if ty.dtype != DType::I32 || ty.shape.len() > 2 {
        return None;
    }
    let extent = *ty.shape.last()?;
    let (mut digits, mut before, mut method) = (Vec::new(), Some(id), "");
    while let Some(order) = before {
        let (place, earlier) = match gathered(nodes, order) {
            Some((earlier, place)) => (place, Some(earlier)),
            None => (order, None),
        };
        let pass = Pass::of(nodes, place, earlier, extent)?;
        digits.push(pass.digit);
        (before, method) = (earlier, pass.method);
    }
    digits.reverse();
    let first = digits[0];
    let ends = digits[1..].iter().map(|digit| Some(digit.from)).chain([None]);
    let is_whole = first.from == 0
        && digits.iter().zip(ends).all(|(digit, end)| digit.to == end)
        && digits.iter().all(|digit| (digit.of, digit.descending) == (first.of, first.descending));
    let fits = is_whole && nodes.ty(first.of).shape == ty.shape;
    let op = Order { descending: first.descending };
    fits.then(|| Node { op: op.into(), inputs: vec![first.of], output: ty.clone(), method })
}

/// A sort by one digit.
///
/// With `p` bits for the place in the row the graph is
///
/// ```text
/// values = digit << p                      in the first pass
///          gather(digit << p, order)       in the others, in the order that the passes before have found
/// places = sort(values | iota) & (2^p - 1)
/// order  = places                          in the first pass
///          gather(order, places)           in the others
/// ```
///
/// For the row `[3, 2, 1]` with digits of one bit and `p = 2`: the low bits are 1, 0, 1, so the first pass sorts 4, 1,
/// 6 and finds the order 1, 0, 2. In that order the high bits are 1, 1, 0; the second pass sorts 4, 5, 2, finds the
/// places 2, 0, 1, and with them the order 2, 1, 0.
struct Pass {
    digit: Digit,
    method: &'static str,
}

/// Bits of integers.
#[derive(Clone, Copy)]
struct Digit {
    of: ValueId,
    from: u32,
    /// One past the last bit; none if the sign is the last one.
    to: Option<u32>,
    descending: bool,
}

impl Pass {
    /// The sort that gives these places, by a digit in the order that was found before.
    fn of(nodes: &Nodes, places: ValueId, before: Option<ValueId>, extent: usize) -> Option<Self> {
        let (sorted, mask) = binary(nodes, places, BinaryOp::BitAnd)?;
        let bits = ones(integer(nodes, mask)?)?;
        let Node { op, inputs, method, .. } = nodes.node(sorted);
        let Op::Kernel(KernelOp::Sort(Sort { axis, descending: false })) = *op else { return None };
        let (arranged, rows) = binary(nodes, inputs[0], BinaryOp::BitOr)?;
        let counts = nodes.node(rows).op == Iota { axis: 0 }.into() && nodes.ty(rows).shape == [extent];
        let is_last = axis + 1 == nodes.ty(places).shape.len();
        let high = match before {
            Some(before) => gathered(nodes, arranged).filter(|&(_, order)| order == before)?.0,
            None => arranged,
        };
        let (digit, by) = binary(nodes, high, BinaryOp::Shl)?;
        let digit = Digit::of(nodes, digit, u32::BITS.checked_sub(bits)?)?;
        let fits = counts && is_last && (extent - 1) >> bits == 0 && integer(nodes, by) == Some(bits.into());
        fits.then_some(Self { digit, method })
    }
}

impl Digit {
    /// The digit, at most so many bits wide, that an i32 is.
    fn of(nodes: &Nodes, id: ValueId, most: u32) -> Option<Self> {
        let (id, descending) = match binary(nodes, id, BinaryOp::BitXor) {
            Some((digit, all)) if integer(nodes, all) == Some(-1) => (digit, true),
            _ => (id, false),
        };
        if let Some((bits, middle)) = binary(nodes, id, BinaryOp::Sub) {
            let (bits, mask) = binary(nodes, bits, BinaryOp::BitAnd)?;
            let width = ones(integer(nodes, mask)?)?;
            let is_middle = integer(nodes, middle) == Some(1 << width.checked_sub(1)?);
            let (of, from) = across(nodes, bits).or_else(|| shifted(nodes, bits, width))?;
            return (is_middle && width <= most).then_some(Self { of, from, to: Some(from + width), descending });
        }
        let (of, from) = shifted(nodes, id, 1)?;
        let width = 8 * nodes.ty(of).dtype.size() as u32 - from;
        (width <= most).then_some(Self { of, from, to: None, descending })
    }
}

/// The integers of which the low bits of `id` are some, from the returned one on, at least this many.
fn shifted(nodes: &Nodes, id: ValueId, width: u32) -> Option<(ValueId, u32)> {
    let (word, by) = match binary(nodes, id, BinaryOp::Shr) {
        Some((word, by)) => (word, u32::try_from(integer(nodes, by)?).ok()?),
        None => (id, 0),
    };
    let (of, from) = word_of(nodes, word);
    (by + width <= u32::BITS).then_some((of, from + by))
}

/// The 64-bit integers of which `id` has bits of both halves, and the first one of them.
fn across(nodes: &Nodes, id: ValueId) -> Option<(ValueId, u32)> {
    let (rest, moved) = binary(nodes, id, BinaryOp::BitOr)?;
    let (rest, mask) = binary(nodes, rest, BinaryOp::BitAnd)?;
    let (high, by) = binary(nodes, moved, BinaryOp::Shl)?;
    let (low, from) = shifted(nodes, rest, 1)?;
    let bits = ones(integer(nodes, mask)?)?;
    let fits = word_of(nodes, high) == (low, 32) && bits + from == 32 && integer(nodes, by) == Some(bits.into());
    fits.then_some((low, from))
}

/// The integers of which `id` is 32 bits, and the first one of them: 64-bit ones, or its own.
fn word_of(nodes: &Nodes, id: ValueId) -> (ValueId, u32) {
    let halves_of =
        |id: ValueId, at: usize, dtype: DType| half(nodes, id, at).filter(|&of| nodes.ty(of).dtype == dtype);
    let either = |id: ValueId, at: usize| halves_of(id, at, DType::I64).or_else(|| halves_of(id, at, DType::U64));
    if let Some(of) = either(id, 0) {
        return (of, 0);
    }
    // The high half of unsigned numbers has its highest bit inverted, so that it has their order.
    let unsigned = || {
        let (high, sign) = binary(nodes, id, BinaryOp::BitXor)?;
        halves_of(high, 1, DType::U64).filter(|_| integer(nodes, sign) == Some(i32::MIN.into()))
    };
    match halves_of(id, 1, DType::I64).or_else(unsigned) {
        Some(of) => (of, 32),
        None => (id, 0),
    }
}

/// How many low bits are set, if no others are.
fn ones(mask: i64) -> Option<u32> {
    let count = mask.trailing_ones();
    (count < i64::BITS && mask == (1 << count) - 1).then_some(count)
}

/// The i32 elements that are read along the last axis, and the places that they are read at.
fn gathered(nodes: &Nodes, id: ValueId) -> Option<(ValueId, ValueId)> {
    let moved = bits_of(nodes, id, DType::I32, DType::F32)?;
    let Node { op, inputs, .. } = nodes.node(moved);
    let Op::Kernel(KernelOp::Gather(Gather(Indexing::Along { axis }))) = *op else { return None };
    let is_last = axis + 1 == nodes.ty(moved).shape.len();
    is_last.then_some((bits_of(nodes, inputs[0], DType::F32, DType::I32)?, inputs[1]))
}

/// The sort that `id` is, which reads 64-bit integers in their order.
fn sorted(nodes: &Nodes, id: ValueId, readers: &[usize]) -> Option<Node> {
    let Node { op, inputs, output, .. } = nodes.node(id);
    let Op::Kernel(KernelOp::Gather(Gather(Indexing::Along { axis }))) = *op else { return None };
    let mut order = inputs[1];
    while nodes.node(order).op == ViewOp::Reshape.into() {
        if readers[order.0 as usize] > 1 {
            return None;
        }
        order = nodes.node(order).inputs[0];
    }
    let Node { op: Op::Kernel(KernelOp::Order(Order { descending })), inputs: of, method, .. } = nodes.node(order)
    else {
        return None;
    };
    let fits = readers[order.0 as usize] == 1
        && output.dtype.size() == 8
        && output.shape[axis + 1..].iter().all(|&extent| extent == 1)
        && nodes.ty(of[0]) == &TensorType::new(output.dtype, &output.shape[..=axis])
        && nodes.ty(inputs[0]) == output
        && unshaped(nodes, of[0]) == unshaped(nodes, inputs[0]);
    let op = Sort { axis, descending: *descending };
    fits.then(|| Node { op: op.into(), inputs: vec![inputs[0]], output: output.clone(), method })
}

/// What the value is before reshapes.
fn unshaped(nodes: &Nodes, mut id: ValueId) -> ValueId {
    while nodes.node(id).op == ViewOp::Reshape.into() {
        id = nodes.node(id).inputs[0];
    }
    id
}
