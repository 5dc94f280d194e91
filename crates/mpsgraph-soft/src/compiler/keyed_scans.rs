//! Running extremes of floats by way of integers: one kernel instead of four passes over memory.
//!
//! MPSGraph's scans of extremes skip NaN. Who wants NaN to stay makes i32 keys in the order of the floats, with NaN
//! beyond all others, scans those, and makes floats of them again. The kernel does the same to each element on its way,
//! so the result has the same bits.

use super::reading::{binary, bits_of, select, unary};
use super::{Job, constants};
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, UnaryOp, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::cumulative::{Cumulative, Running};

/// The same job, with each such group of nodes as one.
pub fn join(job: Job) -> Job {
    job.joined(floats_of_scan)
}

/// The node that makes `id` of floats, if it is the end of such a group. A placeholder in between ends the search.
///
/// The graph is
///
/// ```text
/// bits   = i32 bits of x
/// key    = bits ^ (bits >> 31 & i32::MAX)             key_of; it is its own inverse
/// keys   = select(is_nan(x), i32::MIN or MAX, key)
/// scan   = running minimum or maximum of keys
/// floats = f32 bits of (scan ^ (scan >> 31 & i32::MAX))
/// result = select(is_nan(floats), |floats|, floats)
/// ```
fn floats_of_scan(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let floats = number_of(nodes, id)?;
    let scan = nodes.node(key_of(nodes, bits_of(nodes, floats, DType::F32, DType::I32)?)?);
    let Op::Kernel(KernelOp::Cumulative(Cumulative { running, axis })) = scan.op else { return None };
    let (running, beyond) = match running {
        Running::Minimum => (Running::MinimumOrNan, i32::MIN),
        Running::Maximum => (Running::MaximumOrNan, i32::MAX),
        Running::Sum | Running::Product | Running::MinimumOrNan | Running::MaximumOrNan => return None,
    };
    let [is_nan, nan, key] = select(nodes, scan.inputs[0])?;
    let bits = nodes.node(key_of(nodes, key)?);
    let x = *bits.inputs.first()?;
    let found = bits.op == ViewOp::Reinterpret.into()
        && unary(nodes, is_nan, UnaryOp::IsNan) == Some(x)
        && nodes.ty(x).dtype == DType::F32
        && nodes.ty(x).shape == scan.output.shape
        && constants::integer(nodes, nan) == Some(beyond.into());
    let op = Op::Kernel(Cumulative { running, axis }.into());
    found.then(|| Node { op, inputs: vec![x], output: nodes.ty(id).clone(), method: scan.method })
}

/// The number that `id` is, but for the sign of a NaN.
fn number_of(nodes: &Nodes, id: ValueId) -> Option<ValueId> {
    let [is_nan, magnitude, number] = select(nodes, id)?;
    let is_of = |id, op| unary(nodes, id, op) == Some(number);
    (is_of(is_nan, UnaryOp::IsNan) && is_of(magnitude, UnaryOp::Abs)).then_some(number)
}

/// The bits of which `id` is the key, or the other way round: those below the sign are inverted if it is set.
fn key_of(nodes: &Nodes, id: ValueId) -> Option<ValueId> {
    let binary = |id: ValueId, op: BinaryOp| binary(nodes, id, op).filter(|_| nodes.ty(id).dtype == DType::I32);
    let (bits, mask) = binary(id, BinaryOp::BitXor)?;
    let (sign, magnitude) = binary(mask, BinaryOp::BitAnd)?;
    let (shifted, by) = binary(sign, BinaryOp::Shr)?;
    let found = shifted == bits
        && constants::integer(nodes, magnitude) == Some(i32::MAX.into())
        && constants::integer(nodes, by) == Some(31);
    (found && nodes.ty(bits).shape == nodes.ty(id).shape).then_some(bits)
}
