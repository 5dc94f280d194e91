//! Reduces along the axis that is turned to the last one, instead of turning it: a product along another axis than the
//! last is composed like that, because MPSGraph is slow along others.
//!
//! Of integers and bools, of which every order of the steps gives the same bits; and products of floats along one axis,
//! which [`reduce`](crate::kernels::reduce) takes in one order wherever the axis is.

use super::Job;
use crate::ir::{Node, Nodes, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::reduce::{Reduce, ReduceOp};

/// The same job without such turns before reductions; the nodes that nothing reads any more are left over.
pub fn remove(job: Job) -> Job {
    job.rebuilt(|nodes, node, _, _| push(nodes, node))
}

fn push(nodes: &mut Nodes, node: Node) -> ValueId {
    let Some((reduced, perm)) = unturned(nodes, &node) else { return nodes.push(node) };
    let (output, method) = (node.output, node.method);
    let reduced = nodes.push(reduced);
    nodes.push(Node { op: ViewOp::Transpose { perm }.into(), inputs: vec![reduced], output, method })
}

/// The same reduction of what `node` reads turned, and how the result has to be turned.
fn unturned(nodes: &Nodes, node: &Node) -> Option<(Node, Vec<usize>)> {
    let Op::Kernel(KernelOp::Reduce(Reduce { op, axes })) = &node.op else { return None };
    let turned = nodes.node(*node.inputs.first()?);
    let Op::View(ViewOp::Transpose { perm }) = &turned.op else { return None };
    let x = nodes.ty(turned.inputs[0]);
    if x.dtype.is_float() && (*op != ReduceOp::Prod || axes.len() > 1) {
        return None;
    }
    let mut axes: Vec<usize> = axes.iter().map(|&axis| perm[axis]).collect();
    axes.sort_unstable();
    let mut shape = x.shape.clone();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    let output = TensorType::new(node.output.dtype, shape);
    let op = Reduce { op: *op, axes }.into();
    Some((Node { op, inputs: turned.inputs.clone(), output, method: node.method }, perm.clone()))
}
