//! Products of batches that were flattened read their operands where they are.
//!
//! The backend flattens the leading axes of a product. Of heads that stand side by side in memory strides cannot
//! express the flat axis, so they would be copied; they can express the axes that were there before.
//!
//! Each product multiplies the same numbers as before. How it adds them up may depend on the strides of its operands,
//! so results agree within rounding.

use super::views::{self, LoopOp, Work};
use super::{Job, dead_code};
use crate::ir::{Node, Nodes, Op, TensorType, ValueId, ViewOp};

/// The same job, in which products have the leading axes that an operand would be copied without.
pub fn unflatten(job: Job) -> Job {
    let (_, works) = views::resolve(&job.nodes);
    let is_copied = |id: &ValueId| matches!(works[id.0 as usize], Some(Work::Loop(LoopOp::Reorder)));
    let copied: Vec<Option<[bool; 2]>> = job.nodes.iter().map(|(_, node)| copied(node, is_copied)).collect();
    if copied.iter().all(Option::is_none) {
        return job;
    }
    let job = job.rebuilt(|nodes, node, id, _| match copied[id.0 as usize] {
        Some(copied) => push(nodes, node, copied),
        None => nodes.push(node),
    });
    dead_code::remove(job)
}

/// Which operands of a product are copied, if one is.
fn copied(node: &Node, is_copied: impl Fn(&ValueId) -> bool) -> Option<[bool; 2]> {
    let [a, b] = node.inputs[..] else { return None };
    let copied = [a, b].map(|operand| is_copied(&operand));
    (node.op == Op::MatMul && copied.contains(&true)).then_some(copied)
}

/// Adds the product, with leading axes that an operand had where it is read from.
fn push(nodes: &mut Nodes, node: Node, copied: [bool; 2]) -> ValueId {
    let whole = [0, 1].map(|at| unflattened(nodes, node.inputs[at]).filter(|_| copied[at]));
    let batch = whole.iter().flatten().map(|&id| leading(nodes, id).to_vec()).next();
    let Some(batch) = batch.filter(|batch| is_of_flat(nodes, &node, batch)) else {
        return nodes.push(node);
    };
    let operands = [0, 1].map(|at| match whole[at] {
        Some(operand) if leading(nodes, operand) == batch => operand,
        _ => with_batch(nodes, node.inputs[at], &batch),
    });
    let Node { op, output, method, .. } = node;
    let [m, n] = output.shape[output.shape.len() - 2..] else { unreachable!("a product has two axes") };
    let shape = [&batch[..], &[m, n]].concat();
    let inputs = operands.to_vec();
    let product = nodes.push(Node { op, inputs, output: TensorType::new(output.dtype, shape), method });
    nodes.push(Node { op: ViewOp::Reshape.into(), inputs: vec![product], output, method })
}

/// What the flat batch of matrices `id` is a reshape of, if that keeps the matrices.
fn unflattened(nodes: &Nodes, id: ValueId) -> Option<ValueId> {
    let Node { op: Op::View(ViewOp::Reshape), inputs, output, .. } = nodes.node(id) else { return None };
    let (from, to) = (&nodes.ty(inputs[0]).shape, &output.shape);
    let keeps = from.len() > 3 && to.len() == 3 && from[from.len() - 2..] == to[1..];
    keeps.then_some(inputs[0])
}

/// Whether a product has these leading axes as one, and its operands that one, 1, or none.
fn is_of_flat(nodes: &Nodes, product: &Node, batch: &[usize]) -> bool {
    let is_flat = matches!(product.output.shape[..], [count, _, _] if count == batch.iter().product());
    is_flat && product.inputs.iter().all(|&id| nodes.ty(id).shape.len() <= 3)
}

/// The axes before the last two.
fn leading(nodes: &Nodes, id: ValueId) -> &[usize] {
    let shape = &nodes.ty(id).shape;
    &shape[..shape.len() - 2]
}

/// The matrices `id`, of one for each or one for all, with these leading axes.
fn with_batch(nodes: &mut Nodes, id: ValueId, batch: &[usize]) -> ValueId {
    let TensorType { dtype, shape } = nodes.ty(id).clone();
    let [count, m, n] = shape[..] else { return id };
    let axes = if count == 1 { vec![1; batch.len()] } else { batch.to_vec() };
    let output = TensorType::new(dtype, [&axes[..], &[m, n]].concat());
    let method = nodes.node(id).method;
    nodes.push(Node { op: ViewOp::Reshape.into(), inputs: vec![id], output, method })
}
