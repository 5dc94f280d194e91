//! Adds integers at indices as what they are, where a graph adds their digits as floats.
//!
//! MPSGraph's scatters pass integers through f32. Who wants exact sums cuts the integers into digits so narrow that no
//! sum of them leaves the integers that f32 holds, adds the digits side by side, and puts the sums together. Here one
//! scatter of integers does all of that. Its sums wrap as those of the parts do, so no bit changes.

use super::reading::{binary, bits_of, cast, columns_of, half};
use super::{Job, constants};
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, TensorType, ValueId};
use crate::kernels::KernelOp;
use crate::kernels::movement::Movement;
use crate::kernels::rows::Indexing;
use crate::kernels::scatter::{Scatter, ScatterMode};

/// f32 holds all integers up to this one.
const EXACT: usize = 1 << 24;

/// The same job, with each such group of nodes as one.
pub fn join(job: Job) -> Job {
    job.joined(scatter)
}

/// The scatter of integers that makes `id`: of data and digits together, in the type that their sum is cut down to.
///
/// With two digits of 16 bits, for rows of `c` columns, the graph is
///
/// ```text
/// low, high = updates >> 0 & 0xffff, updates >> 16 & 0xffff     words
/// table     = scatter([f32(low), f32(high)], indices)           Digits::of: 2c columns
/// sums      = i32(table[.., 0..c]), i32(table[.., c..2c])       Digits::of
/// total     = sums[1] * 0x10000 + sums[0]                       horner
/// result    = data + total                                      scatter
/// ```
///
/// and is read from its end. 64-bit integers are two words, the halves of their bits, and have four digits; unsigned
/// ones are bits of i64 before and behind that. Those of 8 and 16 bits are added in i32 and cut down to their own type.
fn scatter(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let dtype = nodes.ty(id).dtype;
    if !dtype.is_int() {
        return None;
    }
    // Sums of small integers are made in i32, those of u64 are bits of i64.
    let (is_small, is_u64) = (dtype.size() < 4, dtype == DType::U64);
    let whole = if is_small {
        cast(nodes, id, DType::I32)?
    } else if is_u64 {
        bits_of(nodes, id, DType::U64, DType::I64)?
    } else {
        id
    };
    let (data, digits) = match (binary(nodes, whole, BinaryOp::Add), Digits::of(nodes, whole)) {
        (_, Some(digits)) => (None, digits),
        // A user's addition of smaller sums, which are repeated, is not the op's.
        (Some((data, sums)), None) if nodes.ty(sums).shape == nodes.ty(whole).shape => {
            (Some(data), Digits::of(nodes, sums)?)
        }
        (Some(_) | None, None) => return None,
    };
    let own = |value: ValueId| {
        if is_small {
            cast(nodes, value, dtype)
        } else if is_u64 {
            bits_of(nodes, value, DType::I64, DType::U64)
        } else {
            Some(value)
        }
    };
    let updates = digits.whole(nodes, dtype)?;
    let data = match data {
        Some(data) => Some(own(data).filter(|&data| nodes.ty(data).shape == nodes.ty(id).shape)?),
        None => None,
    };
    let op = Scatter { indexing: digits.indexing, mode: ScatterMode::Add };
    let inputs = data.into_iter().chain([updates, digits.indices]).collect();
    Some(Node { op: op.into(), inputs, output: nodes.ty(id).clone(), method: digits.method })
}

/// Sums of digits that are put together.
struct Digits {
    indexing: Indexing,
    indices: ValueId,
    /// The i32 that the digits are cut from, lowest first, and how many bits of them there are.
    words: Vec<ValueId>,
    bits: u32,
    method: &'static str,
}

impl Digits {
    fn of(nodes: &Nodes, id: ValueId) -> Option<Self> {
        let (sums, radix) = horner(nodes, id);
        let TensorType { dtype, shape } = nodes.ty(id);
        let columns = *shape.last()?;
        // A sum that is repeated is no digit of each element.
        if sums.iter().any(|&sum| nodes.ty(sum).shape != *shape) {
            return None;
        }
        // What each of them is a part of.
        let mut table = None;
        for (place, &sum) in sums.iter().enumerate() {
            // Casts of casts may be one.
            let through = || if *dtype == DType::I64 { cast(nodes, sum, DType::I32) } else { None };
            let part = cast(nodes, sum, DType::F32).or_else(|| cast(nodes, through()?, DType::F32))?;
            let from = if sums.len() == 1 { part } else { columns_of(nodes, part, place * columns)? };
            if *table.get_or_insert(from) != from {
                return None;
            }
        }
        let Node { op, inputs, method, .. } = nodes.node(table?);
        let (Op::Kernel(KernelOp::Scatter(Scatter { indexing, mode: ScatterMode::Add })), &[digits, indices]) =
            (op, &inputs[..])
        else {
            return None;
        };
        let (count, indices) = match *indexing {
            Indexing::Axis { axis, batch: 0 } if axis + 1 < shape.len() || sums.len() == 1 => (axis, indices),
            Indexing::Along { axis } if axis + 1 < shape.len() || sums.len() == 1 => {
                let same = side_by_side(nodes, indices, sums.len())?;
                (axis, *same.first().filter(|&first| same.iter().all(|other| other == first))?)
            }
            Indexing::Axis { .. } | Indexing::Along { .. } | Indexing::Nd { .. } => return None,
        };
        let count = nodes.ty(digits).shape[count];
        let digits = side_by_side(nodes, digits, sums.len())?;
        let (words, width) = words(nodes, &digits)?;
        let is_right = radix.is_none_or(|radix| radix == 1 << width) && count * ((1 << width) - 1) <= EXACT;
        let bits = width * digits.len() as u32;
        is_right.then_some(Self { indexing: *indexing, indices, words, bits, method })
    }

    /// The integers of `dtype` that all digits together are.
    fn whole(&self, nodes: &Nodes, dtype: DType) -> Option<ValueId> {
        let wanted = 8 * dtype.size() as u32;
        match self.words[..] {
            // Bits above those of a small integer vanish when the sum is cut down to it.
            [word] if wanted < 32 && self.bits >= wanted => cast(nodes, word, dtype),
            [word] if wanted == 32 && self.bits == wanted => Some(word),
            [_, _] if self.bits != wanted => None,
            [low, high] => {
                let [low, high] = [half(nodes, low, 0)?, half(nodes, high, 1)?];
                (low == high && nodes.ty(low).dtype == dtype).then_some(low)
            }
            _ => None,
        }
    }
}

/// The sums that `id` puts together, lowest first, and the radix: `(c * radix + b) * radix + a` is `[a, b, c]`.
fn horner(nodes: &Nodes, mut id: ValueId) -> (Vec<ValueId>, Option<i64>) {
    let (mut sums, mut radix) = (Vec::new(), None);
    while let Some((above, sum)) = binary(nodes, id, BinaryOp::Add)
        && let Some((high, by)) = binary(nodes, above, BinaryOp::Mul)
        && let Some(by) = constants::integer(nodes, by)
        && *radix.get_or_insert(by) == by
    {
        sums.push(sum);
        id = high;
    }
    sums.push(id);
    (sums, radix)
}

/// The `count` values that this one is made of along its last axis.
fn side_by_side(nodes: &Nodes, id: ValueId, count: usize) -> Option<Vec<ValueId>> {
    if count == 1 {
        return Some(vec![id]);
    }
    let Node { op: Op::Kernel(KernelOp::Movement(Movement::Concat { axis })), inputs, output, .. } = nodes.node(id)
    else {
        return None;
    };
    let fits = axis + 1 == output.shape.len()
        && inputs.len() == count
        && inputs.iter().all(|&input| nodes.ty(input) == nodes.ty(inputs[0]));
    fits.then(|| inputs.clone())
}

/// The words that these digits are cut from, each from its lowest bit on, and how wide the digits are.
fn words(nodes: &Nodes, digits: &[ValueId]) -> Option<(Vec<ValueId>, u32)> {
    let (mut words, mut width) = (Vec::new(), None);
    let mut next = 0;
    for &digit in digits {
        let (shifted, mask) = binary(nodes, cast(nodes, digit, DType::I32)?, BinaryOp::BitAnd)?;
        let (word, shift) = binary(nodes, shifted, BinaryOp::Shr)?;
        let (mask, shift) = (constants::integer(nodes, mask)?, constants::integer(nodes, shift)?);
        let own = mask.count_ones();
        let is_mask = mask == (1 << own) - 1 && (1..=16).contains(&own);
        if !is_mask || *width.get_or_insert(own) != own {
            return None;
        }
        if nodes.ty(word).shape != nodes.ty(digit).shape {
            return None;
        }
        if next == 0 {
            words.push(word);
        }
        if words.last() != Some(&word) || shift != i64::from(next) {
            return None;
        }
        next = (next + own) % u32::BITS;
    }
    Some((words, width?))
}
