//! Copies rows where a graph selects them element by element: a choice that is the same for all elements of a row, as
//! where a region is replaced whose start is fed.
//!
//! ```text
//! inside = a bool for each place along an axis      [1, places, 1]
//! result = select(inside, new, old)                 [.., places, ..]
//! ```
//!
//! A selection from what a loop computes stays in that loop. Of rows that a gather would spread first, those that are
//! selected are copied from where they are. Rows are copied byte by byte, so no bit changes.

use super::Job;
use crate::ir::{DType, ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, ValueId};
use crate::kernels::gather::Gather;
use crate::kernels::movement::Movement;
use crate::kernels::rows::Indexing;

/// Bytes of a row from which on copying it is less work than choosing its elements.
const ROW: usize = 64;

/// The same job with such choices.
pub fn join(job: Job) -> Job {
    job.joined(choice)
}

/// The choice of rows that `id` is.
fn choice(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let Node { op, inputs, output, method } = nodes.node(id);
    let &[inside, new, old] = &inputs[..] else { return None };
    let axis = only_axis(nodes.ty(inside), output)?;
    let fits = *op == ElementwiseOp::Select.into() && nodes.ty(old).shape == output.shape && is_in_memory(nodes, old);
    if !fits {
        return None;
    }
    let choice = |inputs, method| Node { op: Movement::Choice { axis }.into(), inputs, output: output.clone(), method };
    let row = output.dtype.size() * output.shape[axis + 1..].iter().product::<usize>();
    let is_last = axis + 1 == output.shape.len();
    let given = &nodes.ty(new).shape;
    let is_spread = *given == output.shape && (row >= ROW || is_last);
    if let Some((rows, numbers, method)) = gathered(nodes, new, axis).filter(|_| is_spread) {
        return Some(choice(vec![inside, numbers, rows, old], method));
    }
    let mut single = output.shape.clone();
    single[axis] = 1;
    let has_rows = *given == single || *given == output.shape && is_in_memory(nodes, new);
    (row >= ROW && has_rows).then(|| choice(inputs.clone(), *method))
}

/// The rows along `axis` and their i32 numbers of which a gather makes the value, and its method.
fn gathered(nodes: &Nodes, id: ValueId, axis: usize) -> Option<(ValueId, ValueId, &'static str)> {
    let Node { op, inputs, method, .. } = nodes.node(id);
    let &[rows, numbers] = &inputs[..] else { return None };
    let ty = nodes.ty(numbers);
    let fits = *op == Gather(Indexing::Axis { axis, batch: 0 }).into() && ty.dtype == DType::I32 && ty.shape.len() == 1;
    fits.then_some((rows, numbers, *method))
}

/// The axis along which the value has as many elements as `output`, if it has one along all others.
fn only_axis(ty: &TensorType, output: &TensorType) -> Option<usize> {
    let mut long = (0..ty.shape.len()).filter(|&axis| ty.shape[axis] > 1);
    let axis = long.next()?;
    let fits = long.next().is_none() && ty.shape.len() == output.shape.len() && ty.shape[axis] == output.shape[axis];
    fits.then_some(axis)
}

/// Whether no loop computes the value.
fn is_in_memory(nodes: &Nodes, id: ValueId) -> bool {
    let node = nodes.node(id);
    match &node.op {
        Op::Leaf(Leaf::Placeholder | Leaf::Constant(_)) | Op::MatMul | Op::Kernel(_) => true,
        Op::View(_) => is_in_memory(nodes, node.inputs[0]),
        Op::Leaf(Leaf::Splat(_)) | Op::Elementwise(_) => false,
    }
}
