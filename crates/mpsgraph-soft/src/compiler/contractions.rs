//! Makes one kernel of a sum along the last axis of products that nothing else reads: no table of products is stored.
//!
//! Integers only, where the order of a sum changes no bit. A table no larger than its operands stays, because its
//! products are fused with what makes them.

use super::Job;
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, TensorType, ValueId};
use crate::kernels::KernelOp;
use crate::kernels::contraction::Contraction;
use crate::kernels::reduce::{Reduce, ReduceOp};

/// The same job with contractions.
pub fn join(job: Job) -> Job {
    let readers = job.readers();
    job.joined(|nodes, id| {
        let node = nodes.node(id);
        let inputs = factors(nodes, node, &readers)?;
        Some(Node { op: Contraction.into(), inputs, output: node.output.clone(), method: node.method })
    })
}

/// The factors of the products that the node sums.
fn factors(nodes: &Nodes, node: &Node, readers: &[usize]) -> Option<Vec<ValueId>> {
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, axes })) = &node.op else { return None };
    let &[table] = &node.inputs[..] else { return None };
    let Node { op, inputs, output: TensorType { dtype, shape }, .. } = nodes.node(table);
    let (rank, elements) = (shape.len(), nodes.ty(table).elements());
    let types = || inputs.iter().map(|&input| nodes.ty(input));
    let fits = *op == Op::from(BinaryOp::Mul)
        && matches!(dtype, DType::I32 | DType::U32 | DType::I64 | DType::U64)
        && readers[table.0 as usize] == 1
        && rank >= 2
        && axes[..] == [rank - 1]
        && types().all(|ty| ty.shape.len() == rank && ty.shape[rank - 1] == shape[rank - 1])
        && elements > types().map(TensorType::elements).sum();
    fits.then(|| inputs.clone())
}
