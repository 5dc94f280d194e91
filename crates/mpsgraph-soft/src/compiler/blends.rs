//! Makes one kernel of rows that are read by index, multiplied by weights and summed: no table of the rows is stored,
//! nor one of the products.
//!
//! The kernel adds the products in the order in which the reduction does, so no bit changes. A reduction of so many
//! slots that it divides them in halves stays.

use super::Job;
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::blend::Blend;
use crate::kernels::gather::Gather;
use crate::kernels::reduce::{Reduce, ReduceOp, interleaved};
use crate::kernels::rows::Indexing;

/// The same job, with each such group of nodes as one.
pub fn join(job: Job) -> Job {
    let readers = job.readers();
    job.joined(|nodes, id| blend(nodes, id, &readers))
}

/// The blend that `id` is.
///
/// The graph, with the shapes of its values, is
///
/// ```text
/// read     = reshape(gather(x, indices))    [outer, slots, count, inner]; indices [slots * count], along axis 1 of x
/// products = read * weights                 weights [1, slots, count, 1]
/// result   = sum of products along axis 1   [outer, 1, count, inner]
/// ```
fn blend(nodes: &Nodes, id: ValueId, readers: &[usize]) -> Option<Node> {
    let sum = nodes.node(id);
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, axes })) = &sum.op else { return None };
    let &[products] = &sum.inputs[..] else { return None };
    let (Node { op, inputs, output, .. }, &[1]) = (nodes.node(products), &axes[..]) else { return None };
    let (&[outer, slots, count, inner], true) = (&output.shape[..], *op == BinaryOp::Mul.into()) else { return None };
    let &[read, weights] = &inputs[..] else { return None };
    let Node { op: Op::View(ViewOp::Reshape), inputs: apart, .. } = nodes.node(read) else { return None };
    let Node { op, inputs, method, .. } = nodes.node(apart[0]);
    let Op::Kernel(KernelOp::Gather(Gather(Indexing::Axis { axis: 1, batch: 0 }))) = op else { return None };
    let &[x, indices] = &inputs[..] else { return None };
    let shape_is = |id: ValueId, shape: &[usize]| nodes.ty(id).shape == shape;
    let fits = output.dtype == DType::F32
        && nodes.ty(indices).dtype == DType::I32
        && shape_is(indices, &[slots * count])
        && shape_is(weights, &[1, slots, count, 1])
        && shape_is(read, &output.shape)
        && shape_is(apart[0], &[outer, slots * count, inner])
        && [products, read, apart[0]].iter().all(|id| readers[id.0 as usize] == 1);
    let inputs = vec![x, indices, weights];
    let parts = interleaved(slots, count * inner).filter(|_| fits)?;
    Some(Node { op: Blend { parts }.into(), inputs, output: sum.output.clone(), method })
}
