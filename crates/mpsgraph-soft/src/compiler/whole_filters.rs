//! Makes matrix products of convolutions whose filter covers the whole input: each sample has one position, and nothing
//! has to be put into columns. So are the first layers of generators, linear layers that are written as convolutions,
//! and 1x1 filters of single positions.
//!
//! With the elements of a sample, of a filter, and the outputs of a sample as rows,
//!
//! ```text
//! output            = input * weights transposed      [batch, outputs]
//! input gradient    = gradient * weights              [batch, elements]
//! weights' gradient = gradient transposed * input     [outputs, elements]
//! ```
//!
//! A product may add up in another order than a convolution, so results agree within rounding.

use super::Job;
use crate::ir::{Node, Nodes, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::convolution::Wanted;

/// The same job with such products.
pub fn join(job: Job) -> Job {
    let wanted: Vec<Option<Wanted>> = job.nodes.iter().map(|(_, node)| wanted(&job.nodes, node)).collect();
    if wanted.iter().all(Option::is_none) {
        return job;
    }
    job.rebuilt(|nodes, node, id, _| match wanted[id.0 as usize] {
        Some(wanted) => push(nodes, node, wanted),
        None => nodes.push(node),
    })
}

/// What the node computes of a convolution whose filter covers the whole input.
fn wanted(nodes: &Nodes, node: &Node) -> Option<Wanted> {
    let (Op::Kernel(KernelOp::Convolution(op)), &[a, b]) = (&node.op, &node.inputs[..]) else { return None };
    (op.groups == 1 && op.covers_input([a, b].map(|id| nodes.ty(id)), &node.output)).then_some(op.wanted)
}

/// Adds the product and the views around it.
fn push(nodes: &mut Nodes, node: Node, wanted: Wanted) -> ValueId {
    let Node { inputs, output, method, .. } = node;
    let types: Vec<TensorType> = inputs.iter().map(|&input| nodes.ty(input).clone()).collect();
    let turned = match wanted {
        Wanted::Output => [false, true],
        Wanted::InputGradient => [false, false],
        Wanted::WeightsGradient => [true, false],
    };
    let mut add = |op: Op, inputs: Vec<ValueId>, of: &TensorType, shape: Vec<usize>| {
        nodes.push(Node { op, inputs, output: TensorType::new(of.dtype, shape), method })
    };
    let operands: Vec<ValueId> = inputs
        .iter()
        .zip(&types)
        .zip(turned)
        .map(|((&input, ty), is_turned)| {
            let [rows, columns] = matrix(&ty.shape);
            let flat = add(ViewOp::Reshape.into(), vec![input], ty, vec![rows, columns]);
            let turn = ViewOp::Transpose { perm: vec![1, 0] };
            if is_turned { add(turn.into(), vec![flat], ty, vec![columns, rows]) } else { flat }
        })
        .collect();
    let product = add(Op::MatMul, operands, &output, matrix(&output.shape).to_vec());
    add(ViewOp::Reshape.into(), vec![product], &output, output.shape.clone())
}

/// The extents as those of a matrix: the first one, and all others.
fn matrix(shape: &[usize]) -> [usize; 2] {
    [shape[0], shape[1..].iter().product()]
}
