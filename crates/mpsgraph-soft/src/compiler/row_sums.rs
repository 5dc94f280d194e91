//! Sums products of f32 along the last axes without a table of them, where nothing else reads the products: a loop would
//! write them, and the sum read them again.
//!
//! A square of a difference from a number of each row is made of the operand of the difference ([`Terms::Deviations`]),
//! so that a normalization need not store differences either. A sum reads memory, so its operands should be there
//! anyway.

use super::Job;
use crate::ir::{BinaryOp, DType, Leaf, Node, Nodes, Op, UnaryOp, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::kernels::row_sum::{RowSum, Terms};

/// The same job with such sums.
pub fn join(job: Job) -> Job {
    let mut read = vec![Reads::default(); job.nodes.len()];
    for (_, node) in job.nodes.iter() {
        let is_step = matches!(node.op, Op::Kernel(_) | Op::MatMul);
        for input in &node.inputs {
            let reads = &mut read[input.0 as usize];
            reads.count += 1;
            reads.by_step |= is_step;
        }
    }
    for target in &job.targets {
        let reads = &mut read[target.0 as usize];
        reads.count += 1;
        reads.by_step = true;
    }
    job.joined(|nodes, id| sum(nodes, id, &read))
}

/// Who reads a value.
#[derive(Clone, Copy, Default)]
struct Reads {
    count: usize,
    /// Whether a kernel, a product or the caller does, for which it is in memory.
    by_step: bool,
}

/// The sum that makes this value of what its products are of.
fn sum(nodes: &Nodes, id: ValueId, read: &[Reads]) -> Option<Node> {
    let Node { op, inputs, output, method } = nodes.node(id);
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, axes })) = op else { return None };
    let &[table] = &inputs[..] else { return None };
    let shape = &nodes.ty(table).shape;
    let is_row = |axis: usize| shape[axis] == 1 || axes.contains(&axis);
    let first = *axes.iter().find(|&&axis| shape[axis] != 1)?;
    let fits = output.dtype == DType::F32 && read[table.0 as usize].count == 1 && (first..shape.len()).all(is_row);
    let [x, y] = fits.then(|| factors(nodes, table)).flatten()?;
    let made = |terms: Terms, inputs: [ValueId; 2]| {
        let op = RowSum { terms }.into();
        Some(Node { op, inputs: inputs.to_vec(), output: output.clone(), method })
    };
    let is_stored = |id: ValueId| is_stored(nodes, id, read);
    if x == y
        && let Node { op, inputs, .. } = nodes.node(x)
        && *op == BinaryOp::Sub.into()
        && let &[whole, middle] = &inputs[..]
        && nodes.ty(whole).shape == *shape
        && nodes.ty(middle).shape == output.shape
        && is_stored(whole)
    {
        return made(Terms::Deviations, [whole, middle]);
    }
    let is_worth = |id: ValueId| is_stored(id) || is_elementwise(nodes, id) && read[id.0 as usize].count > 1;
    let is_whole = |id: ValueId| nodes.ty(id).shape == *shape;
    let pays = [x, y].into_iter().all(|id| is_whole(id) && is_worth(id)) && (x == y || is_stored(x) || is_stored(y));
    if pays { made(Terms::Products, [x, y]) } else { None }
}

/// What the elements of `table` are products of.
fn factors(nodes: &Nodes, table: ValueId) -> Option<[ValueId; 2]> {
    let Node { op, inputs, .. } = nodes.node(table);
    match inputs[..] {
        [x, y] if *op == BinaryOp::Mul.into() => Some([x, y]),
        [x] if *op == UnaryOp::Square.into() => Some([x, x]),
        _ => None,
    }
}

fn is_elementwise(nodes: &Nodes, id: ValueId) -> bool {
    matches!(nodes.node(id).op, Op::Elementwise(_))
}

/// Whether a value is in memory in its order, whoever reads it besides.
fn is_stored(nodes: &Nodes, id: ValueId, read: &[Reads]) -> bool {
    let Node { op, inputs, .. } = nodes.node(id);
    match op {
        Op::Leaf(Leaf::Placeholder | Leaf::Constant(_)) | Op::Kernel(_) | Op::MatMul => true,
        Op::Leaf(Leaf::Splat(_)) => false,
        Op::Elementwise(_) => read[id.0 as usize].by_step,
        Op::View(ViewOp::Reshape) => is_stored(nodes, inputs[0], read),
        Op::View(_) => false,
    }
}
