//! Casts integers to small ones without first making the numbers fit, as a cast keeps the low bits alone.
//!
//! MPSGraph makes one cast of two, and then a number that does not fit in between loses nothing. So who wants low bits
//! takes them with a mask, or with two shifts for the sign, before the cast. The cast gives the same bits without; and
//! the passes behind this one find sums between a cast and the cast back.

use super::reading::binary;
use super::{Job, constants};
use crate::ir::{BinaryOp, ElementwiseOp, Node, Nodes, ValueId};

/// The same job with such casts reading what the mask reads.
pub fn remove(job: Job) -> Job {
    job.joined(cast_of_all_bits)
}

/// The cast, if it reads `x & mask` or `x << n >> n`, and all bits that it keeps are those of `x`.
fn cast_of_all_bits(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let node = nodes.node(id);
    let masked = *node.inputs.first().filter(|_| node.op == ElementwiseOp::Cast.into())?;
    let [from, to] = [nodes.ty(masked).dtype, node.output.dtype];
    if !from.is_int() || !to.is_int() || from.size() <= to.size() {
        return None;
    }
    let [all, kept] = [from, to].map(|dtype| 8 * dtype.size() as i64);
    let x = if let Some((x, mask)) = binary(nodes, masked, BinaryOp::BitAnd) {
        let low = (1 << kept) - 1;
        (constants::integer(nodes, mask)? & low == low).then_some(x)?
    } else {
        let (up, by) = binary(nodes, masked, BinaryOp::Shr)?;
        let (x, places) = binary(nodes, up, BinaryOp::Shl)?;
        let [by, places] = [by, places].map(|count| constants::integer(nodes, count));
        (by == places && (0..=all - kept).contains(&by?)).then_some(x)?
    };
    (nodes.ty(x).shape == node.output.shape).then(|| Node { inputs: vec![x], ..node.clone() })
}
