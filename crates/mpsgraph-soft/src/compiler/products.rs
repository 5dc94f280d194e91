//! Makes one operation of a product of 64-bit integers that is written as `(a - 1) * b + b`: MPSGraph makes a square of
//! a product of equal values, for which it has no kernel, so who may have such values writes products so. Products and
//! sums wrap, so no bit changes.

use super::reading::binary;
use super::{Job, constants};
use crate::ir::{BinaryOp, DType, Node, Nodes, ValueId};

/// The same job with such products.
pub fn join(job: Job) -> Job {
    job.joined(product)
}

fn product(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let Node { output, method, .. } = nodes.node(id);
    if output.dtype != DType::I64 {
        return None;
    }
    let (times, b) = binary(nodes, id, BinaryOp::Add)?;
    let (less, by) = binary(nodes, times, BinaryOp::Mul)?;
    let (a, one) = binary(nodes, less, BinaryOp::Sub)?;
    let is_product = by == b && constants::integer(nodes, one) == Some(1) && nodes.ty(times) == output;
    is_product.then(|| Node { op: BinaryOp::Mul.into(), inputs: vec![a, b], output: output.clone(), method })
}
