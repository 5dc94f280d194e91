//! Moves 64-bit integers whole, where a graph moves them as pairs of floats.
//!
//! MPSGraph's gathers are exact for f32 alone. Who reads 64-bit integers by index reads their bits as twice as many
//! f32, each index twice in a row, and makes integers of them again:
//!
//! ```text
//! pairs  = f32 bits of (u32 bits of data)             pair_of
//! twice  = reshape(broadcast(reshape(indices)))       twice
//! result = i64 bits of (u32 bits of gather(pairs, twice))
//! ```

use super::Job;
use super::reading::{bits_of, view};
use crate::ir::{DType, Node, Nodes, Op, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::gather::Gather;
use crate::kernels::rows::Indexing;

/// The same job, with each such group of nodes as one gather.
pub fn join(job: Job) -> Job {
    job.joined(whole_gather)
}

/// The gather of 64-bit integers that `id` makes of pairs.
fn whole_gather(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let output = nodes.ty(id);
    let Node { op, inputs, method, .. } = nodes.node(pair_of(nodes, id, [output.dtype, DType::U32, DType::F32])?);
    let Op::Kernel(KernelOp::Gather(Gather(Indexing::Along { axis }))) = *op else { return None };
    let data = pair_of(nodes, inputs[0], [DType::F32, DType::U32, output.dtype])?;
    let last = output.shape.len() - 1;
    let indices = twice(nodes, inputs[1], &output.shape)?;
    let same = |at: usize| at == axis || nodes.ty(data).shape[at] == output.shape[at];
    let fits = output.dtype.size() == 8 && axis < last && nodes.ty(data).shape.len() == last + 1;
    let op = Gather(Indexing::Along { axis });
    (fits && (0..=last).all(same)).then(|| Node {
        op: op.into(),
        inputs: vec![data, indices],
        output: output.clone(),
        method,
    })
}

/// If `id` is made of a value's bits in two steps, through these types: that value.
fn pair_of(nodes: &Nodes, id: ValueId, [to, between, from]: [DType; 3]) -> Option<ValueId> {
    bits_of(nodes, bits_of(nodes, id, to, between)?, between, from)
}

/// If `id` has each element of a value twice in a row: that value, which must have this shape.
fn twice(nodes: &Nodes, id: ValueId, shape: &[usize]) -> Option<ValueId> {
    let broadcast = view(nodes, id, &ViewOp::Reshape)?;
    let apart = view(nodes, broadcast, &ViewOp::Broadcast)?;
    let doubled: Vec<usize> = shape.iter().copied().chain([2]).collect();
    let single: Vec<usize> = shape.iter().copied().chain([1]).collect();
    let indices = view(nodes, apart, &ViewOp::Reshape)?;
    let fits = nodes.ty(broadcast).shape == doubled && nodes.ty(apart).shape == single;
    (fits && nodes.ty(indices).shape == shape).then_some(indices)
}
