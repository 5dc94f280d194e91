//! Makes one product of a sum of products of parts: the columns of one operand and the rows of the other, some at a
//! time, because GPUs get products of long inner extents wrong.
//!
//! ```text
//! a[:, 0..n] b[0..n, :] + a[:, n..2n] b[n..2n, :] + ...  =  a b
//! ```
//!
//! Only f32: one product adds up the same numbers in another order, so results agree with the parts' within rounding.

use super::Job;
use super::reading::{binary, part_of};
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, ValueId};

/// The same job with such products.
pub fn join(job: Job) -> Job {
    job.joined(product)
}

fn product(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let Node { output, .. } = nodes.node(id);
    if output.dtype != DType::F32 {
        return None;
    }
    // From the last part to the first one. Nothing else is walked through: every sum is asked for its parts, and sums
    // of other values may be long.
    let is_product = |id: ValueId| nodes.node(id).op == Op::MatMul;
    let mut products = Vec::new();
    let mut sum = id;
    while let Some((before, product)) = binary(nodes, sum, BinaryOp::Add).filter(|&(_, last)| is_product(last)) {
        products.push(product);
        sum = before;
    }
    if products.is_empty() {
        return None;
    }
    products.push(sum);
    let mut inner = 0;
    let mut wholes = None;
    for product in products.into_iter().rev() {
        let Node { op: Op::MatMul, inputs, method, .. } = nodes.node(product) else { return None };
        let (a, b) = (nodes.ty(inputs[0]).shape.len() - 1, nodes.ty(inputs[1]).shape.len() - 2);
        let of = [part_of(nodes, inputs[0], a, inner)?, part_of(nodes, inputs[1], b, inner)?];
        if wholes.is_some_and(|(known, _)| known != of) {
            return None;
        }
        wholes = Some((of, *method));
        inner += nodes.ty(inputs[0]).shape[a];
    }
    let (of, method) = wholes?;
    let is_all = nodes.ty(of[0]).shape.last() == Some(&inner);
    is_all.then(|| Node { op: Op::MatMul, inputs: of.to_vec(), output: output.clone(), method })
}
