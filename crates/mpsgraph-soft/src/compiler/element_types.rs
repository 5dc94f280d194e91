//! Gives kernels the element types that they have loops for: [`computes_in`](crate::kernels::Kernel::computes_in).
//!
//! It changes no bit. Extremes of 16-bit floats are exact in f32, and softmax rounds its result once; whether numbers
//! differ from 0 is a truth value. Loops over all types would be used little and take long to compile.

use super::Job;
use crate::ir::{BinaryOp, DType, ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, ValueId};

/// The same job with casts around kernels that compute in another type.
pub fn cast(job: Job) -> Job {
    job.rebuilt(|nodes, node, _, _| push(nodes, node))
}

fn push(nodes: &mut Nodes, mut node: Node) -> ValueId {
    let Op::Kernel(op) = &node.op else { return nodes.push(node) };
    let Some(own) = node.inputs.first().map(|&x| nodes.ty(x).dtype) else { return nodes.push(node) };
    let dtype = op.computes_in(own);
    if dtype == own {
        return nodes.push(node);
    }
    let output = node.output.clone();
    node.inputs[0] = converted(nodes, &node, dtype);
    if output.dtype != own {
        return nodes.push(node);
    }
    node.output.dtype = dtype;
    let method = node.method;
    let result = nodes.push(node);
    nodes.push(Node { op: ElementwiseOp::Cast.into(), inputs: vec![result], output, method })
}

/// Whether elements of the node's operand differ from 0, or the operand in a larger type.
fn converted(nodes: &mut Nodes, node: &Node, dtype: DType) -> ValueId {
    let (x, method) = (node.inputs[0], node.method);
    let TensorType { dtype: own, shape } = nodes.ty(x).clone();
    let (op, inputs): (Op, _) = if dtype == DType::Bool {
        let zero = TensorType::new(own, []);
        let zero = nodes.push(Node { op: Leaf::Splat([0; 8]).into(), inputs: vec![], output: zero, method });
        (BinaryOp::NotEqual.into(), vec![x, zero])
    } else {
        (ElementwiseOp::Cast.into(), vec![x])
    };
    nodes.push(Node { op, inputs, output: TensorType { dtype, shape }, method })
}
