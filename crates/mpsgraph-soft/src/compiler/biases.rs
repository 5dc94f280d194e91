//! Hands biases to the convolutions whose outputs they are added to: the kernel adds them while its result is in the
//! cache, which saves a pass over memory. It adds each bias to the finished sum, as the addition would, so no bit
//! changes.

use super::{Job, dead_code};
use crate::ir::{BinaryOp, ElementwiseOp, Node, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::convolution::Wanted;
use std::collections::HashMap;

/// The same job with fewer additions.
pub fn join(job: Job) -> Job {
    let joined = joined(&job);
    if joined.is_empty() {
        return job;
    }
    let with_biases = job.rebuilt(|nodes, node, id, renumbered| {
        let Some(sum) = joined.get(&id) else { return nodes.push(node) };
        let mut convolution = job.nodes.node(sum.convolution).clone();
        convolution.inputs.push(sum.bias);
        convolution.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
        let made = nodes.push(convolution);
        if nodes.ty(made) == &node.output {
            return made;
        }
        nodes.push(Node { op: ViewOp::Reshape.into(), inputs: vec![made], ..node })
    });
    // The convolutions without biases are left over.
    dead_code::remove(with_biases)
}

/// A convolution's output plus a bias.
struct Sum {
    convolution: ValueId,
    bias: ValueId,
}

/// The additions of biases, by their values.
fn joined(job: &Job) -> HashMap<ValueId, Sum> {
    let readers = job.readers();
    let is_inside = |id: ValueId| readers[id.0 as usize] == 1;
    let additions = job.nodes.iter().filter(|(_, node)| node.op == ElementwiseOp::Binary(BinaryOp::Add).into());
    let sum = |node: &Node| {
        let [a, b] = node.inputs[..] else { unreachable!("an addition has two operands") };
        [(a, b), (b, a)].into_iter().find_map(|(output, bias)| {
            // What nothing but the addition may read: the convolution, and its reshaped output if it is reshaped.
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
            fits.then_some(Sum { convolution, bias })
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
