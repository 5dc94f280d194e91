//! Hands biases to the convolutions whose outputs they are added to: the kernel adds them while its result is in the
//! cache, which saves a pass over memory. It adds each bias to the finished sum, as the addition would, so no bit
//! changes.

use super::Job;
use crate::ir::{BinaryOp, ElementwiseOp, Node, Nodes, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::convolution::Wanted;
use std::collections::{HashMap, HashSet};

/// The same job with fewer additions.
pub fn join(job: Job) -> Job {
    let joined = joined(&job);
    if joined.is_empty() {
        return job;
    }
    let inside: HashSet<ValueId> = joined.values().flat_map(|sum| sum.inside.iter().copied()).collect();
    let mut nodes = Nodes::default();
    let mut renumbered = vec![ValueId(u32::MAX); job.nodes.len()];
    for (id, node) in job.nodes.iter().filter(|(id, _)| !inside.contains(id)) {
        let mut node = node.clone();
        if let Some(sum) = joined.get(&id) {
            let mut convolution = job.nodes.node(sum.convolution).clone();
            convolution.inputs.push(sum.bias);
            convolution.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
            let made = nodes.push(convolution);
            if nodes.ty(made) == &node.output {
                renumbered[id.0 as usize] = made;
                continue;
            }
            (node.op, node.inputs) = (ViewOp::Reshape.into(), vec![made]);
        } else {
            node.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
        }
        renumbered[id.0 as usize] = nodes.push(node);
    }
    let renumber = |ids: &[ValueId]| ids.iter().map(|id| renumbered[id.0 as usize]).collect();
    Job { nodes, feeds: renumber(&job.feeds), targets: renumber(&job.targets) }
}

/// A convolution's output plus a bias.
struct Sum {
    convolution: ValueId,
    bias: ValueId,
    /// What nothing but the addition reads: the convolution, and its reshaped output if it is reshaped.
    inside: Vec<ValueId>,
}

/// The additions of biases, by their values.
fn joined(job: &Job) -> HashMap<ValueId, Sum> {
    let readers = job.readers();
    let is_inside = |id: ValueId| readers[id.0 as usize] == 1;
    let additions = job.nodes.iter().filter(|(_, node)| node.op == ElementwiseOp::Binary(BinaryOp::Add).into());
    let sum = |node: &Node| {
        let [a, b] = node.inputs[..] else { unreachable!("an addition has two operands") };
        [(a, b), (b, a)].into_iter().find_map(|(output, bias)| {
            let mut inside = vec![output];
            if let (Op::View(ViewOp::Reshape), [from]) =
                (&job.nodes.node(output).op, &job.nodes.node(output).inputs[..])
            {
                inside.push(*from);
            }
            let convolution = *inside.last().expect("the output is there");
            let fits = is_convolution(job.nodes.node(convolution))
                && inside.iter().all(|&id| is_inside(id))
                && job.nodes.ty(output) == &node.output
                && node.output.shape.get(..2) == job.nodes.ty(convolution).shape.get(..2)
                && is_per_channel(job.nodes.ty(bias), &node.output.shape);
            fits.then_some(Sum { convolution, bias, inside })
        })
    };
    additions.filter_map(|(id, node)| Some((id, sum(node)?))).collect()
}

/// Whether this is the output of a convolution, without a bias.
fn is_convolution(node: &Node) -> bool {
    matches!(&node.op, Op::Kernel(KernelOp::Convolution(op)) if op.wanted == Wanted::Output && node.inputs.len() == 2)
}

/// Whether a bias of this type is a number for each channel (axis 1) of that shape.
fn is_per_channel(bias: &TensorType, shape: &[usize]) -> bool {
    let axis = (bias.shape.len() + 1).checked_sub(shape.len());
    bias.elements() == shape[1] && axis.is_some_and(|axis| bias.shape[axis] == shape[1])
}
