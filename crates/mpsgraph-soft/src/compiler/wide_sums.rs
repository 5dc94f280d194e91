//! Sums small integers as i64 without storing them as i64, as means of integers do, along the last axes.

use super::Job;
use super::reading::are_rows;
use crate::ir::{ElementwiseOp, Node, Nodes, Op, ValueId};
use crate::kernels::KernelOp;
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::kernels::wide_sum::WideSum;

/// The same job with such sums.
pub fn join(job: Job) -> Job {
    job.joined(sum)
}

/// The sum of what the elements were cast from.
fn sum(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let Node { op, inputs, output, method } = nodes.node(id);
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, axes })) = op else { return None };
    let wide = nodes.node(*inputs.first()?);
    let small = *wide.inputs.first().filter(|_| wide.op == Op::Elementwise(ElementwiseOp::Cast))?;
    let dtype = nodes.ty(small).dtype;
    let fits = dtype.is_int() && dtype.size() < 8 && output.dtype.is_int() && output.dtype.size() == 8;
    (fits && are_rows(&wide.output.shape, axes)).then(|| Node {
        op: WideSum.into(),
        inputs: vec![small],
        output: output.clone(),
        method,
    })
}
