//! Numbers that only products read, and that are made of a turned matrix one by one, are made as the matrix lies, and
//! turned then: a product reads them turned, and nothing is moved.
//!
//! The numbers are the same, bit by bit. How a product adds up may depend on the strides of its operands, so products
//! agree within rounding.

use super::Job;
use super::views::{self, View};
use crate::ir::{Node, Nodes, Op, TensorType, ValueId, ViewOp};

/// The same job, in which such values are made the other way round.
pub fn turn(job: Job) -> Job {
    let (views, _) = views::resolve(&job.nodes);
    let only_products = read_by_products(&job);
    let turns: Vec<bool> = job
        .nodes
        .iter()
        .map(|(id, node)| only_products[id.0 as usize] && is_turned(&job.nodes, &views, node))
        .collect();
    if !turns.contains(&true) {
        return job;
    }
    job.rebuilt(|nodes, node, id, _| if turns[id.0 as usize] { push(nodes, node) } else { nodes.push(node) })
}

/// Whether each value is read by products alone, as it is or as a view.
fn read_by_products(job: &Job) -> Vec<bool> {
    let mut alone = vec![true; job.nodes.len()];
    job.targets.iter().for_each(|target| alone[target.0 as usize] = false);
    for (id, node) in job.nodes.iter().collect::<Vec<_>>().into_iter().rev() {
        let is_alone = match &node.op {
            Op::MatMul => true,
            Op::View(ViewOp::Transpose { .. } | ViewOp::Slice { .. }) => alone[id.0 as usize],
            Op::View(_) | Op::Leaf(_) | Op::Elementwise(_) | Op::Kernel(_) => false,
        };
        node.inputs.iter().for_each(|input| alone[input.0 as usize] &= is_alone);
    }
    alone
}

/// Whether an elementwise node has one operand of its shape, whose columns are consecutive, and otherwise numbers.
fn is_turned(nodes: &Nodes, views: &[View], node: &Node) -> bool {
    let is_number = |id: &&ValueId| nodes.ty(**id).elements() == 1;
    let Op::Elementwise(_) = node.op else { return false };
    let mut others = node.inputs.iter().filter(|id| !is_number(id));
    let (Some(matrix), None) = (others.next(), others.next()) else { return false };
    let View { shape, strides, .. } = &views[matrix.0 as usize];
    let turned = |axes: &[(usize, isize)]| matches!(axes, [.., (2.., 1), (2.., 2..)]);
    let axes: Vec<(usize, isize)> = shape.iter().copied().zip(strides.iter().copied()).collect();
    *shape == node.output.shape && turned(&axes)
}

/// Adds the node on the matrix the other way round, and turns the result.
fn push(nodes: &mut Nodes, mut node: Node) -> ValueId {
    let TensorType { dtype, shape } = node.output.clone();
    let (rank, method) = (shape.len(), node.method);
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    let turn = |nodes: &mut Nodes, id: ValueId, output: TensorType| {
        nodes.push(Node { op: ViewOp::Transpose { perm: perm.clone() }.into(), inputs: vec![id], output, method })
    };
    let mut turned = shape.clone();
    turned.swap(rank - 2, rank - 1);
    for input in &mut node.inputs {
        let ty = nodes.ty(*input);
        if ty.elements() > 1 {
            let output = TensorType::new(ty.dtype, turned.clone());
            *input = turn(nodes, *input, output);
        }
    }
    let made = nodes.push(Node { output: TensorType::new(dtype, turned), ..node });
    turn(nodes, made, TensorType::new(dtype, shape))
}
