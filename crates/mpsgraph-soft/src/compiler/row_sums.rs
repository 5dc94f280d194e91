//! Sums products of f32 along the last axes without a table of them, where nothing else reads the products: a loop
//! would write them, and the sum read them again.
//!
//! A square of a difference from a number of each row is made of the operand of the difference ([`Terms::Deviations`]),
//! so that a normalization need not store differences either. A sum reads memory, so its operands should be there
//! anyway.
//!
//! A sum that is only divided by how many elements it is of becomes a mean, which the reduction divides while it has
//! it.

use super::Job;
use super::reading::are_rows;
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
    job.joined(|nodes, id| sum(nodes, id, &read).or_else(|| mean(nodes, id, &read)))
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
    let fits = output.dtype == DType::F32 && read[table.0 as usize].count == 1 && are_rows(shape, axes);
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

/// The mean that makes this quotient.
fn mean(nodes: &Nodes, id: ValueId, read: &[Reads]) -> Option<Node> {
    let Node { op, inputs, output, method } = nodes.node(id);
    let &[total, count] = &inputs[..] else { return None };
    let Node { op: reduction, inputs, output: summed, .. } = nodes.node(total);
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, axes })) = reduction else { return None };
    let Op::Leaf(Leaf::Splat([a, b, c, d, ..])) = nodes.node(count).op else { return None };
    let elements = nodes.ty(inputs[0]).elements().checked_div(summed.elements())?;
    let is_mean = *op == BinaryOp::Div.into()
        && summed == output
        && output.dtype == DType::F32
        && read[total.0 as usize].count == 1
        && sum(nodes, total, read).is_none()
        && f32::from_ne_bytes([a, b, c, d]) == elements as f32;
    let op = Reduce { op: ReduceOp::Mean, axes: axes.clone() }.into();
    is_mean.then(|| Node { op, inputs: inputs.clone(), output: output.clone(), method })
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
