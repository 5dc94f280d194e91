//! Computes in a small type where a cast to a larger one changes nothing, so that fewer bytes move.
//!
//! Graphs for MPSGraph widen a lot, because many of its kernels have no small types. Four rules, none of which changes
//! a bit: a cast back to the type that was cast from gives the operand, and to another one is a cast of that; a gather,
//! or the position of an extreme, needs no cast before it, because a gather only moves elements, with 0 where it reads
//! none, and casts keep 0 and the order; nor does a comparison of two values of one small type; and a reduction or a
//! scan of integers between a cast and the cast back happens in the small type, because sums and products wrap and
//! extremes keep the order.

use super::Job;
use super::constants::is_zero;
use crate::ir::{BinaryOp, DType, ElementwiseOp, Node, Nodes, Op, TensorType, ValueId};
use crate::kernels::KernelOp;
use crate::kernels::cumulative::{Cumulative, Running};
use crate::kernels::reduce::{Reduce, ReduceOp};

/// The same job in smaller types; the casts that nothing reads any more are left over.
pub fn narrow(job: Job) -> Job {
    job.rebuilt(|nodes, node, _, _| push(nodes, node))
}

fn push(nodes: &mut Nodes, mut node: Node) -> ValueId {
    if let Some(wide) = cast_operand(nodes, &node) {
        if let Some(value) = cast_back(nodes, &node, wide) {
            return value;
        }
        if let Some(small) = widened(nodes, wide).filter(|_| casts_as(nodes.ty(wide).dtype, node.output.dtype)) {
            (node.op, node.inputs) = (ElementwiseOp::Cast.into(), vec![small]);
        }
        return nodes.push(node);
    }
    if let Some(small) = compared(nodes, &node) {
        node.inputs = small;
        return nodes.push(node);
    }
    let gathers = matches!(node.op, Op::Kernel(KernelOp::Gather(_)));
    let finds = matches!(node.op, Op::Kernel(KernelOp::ArgReduce(_)));
    let data = node.inputs.first().filter(|_| gathers || finds).and_then(|&data| widened(nodes, data));
    let Some(small) = data else { return nodes.push(node) };
    node.inputs[0] = small;
    if finds {
        return push(nodes, node);
    }
    let (output, method) = (node.output.clone(), node.method);
    node.output.dtype = nodes.ty(small).dtype;
    let gathered = push(nodes, node);
    push(nodes, Node { op: ElementwiseOp::Cast.into(), inputs: vec![gathered], output, method })
}

/// What a cast reads. Whether an element differs from 0 is a cast to bool.
fn cast_operand(nodes: &Nodes, node: &Node) -> Option<ValueId> {
    let x = *node.inputs.first()?;
    let is_cast = node.op == Op::Elementwise(ElementwiseOp::Cast);
    let is_test = node.op == Op::from(BinaryOp::NotEqual)
        && is_zero(nodes, node.inputs[1])
        && nodes.ty(x).shape == node.output.shape;
    (is_cast || is_test).then_some(x)
}

/// The value of a cast of `wide`, if that was made from the type that it is cast to.
fn cast_back(nodes: &mut Nodes, node: &Node, wide: ValueId) -> Option<ValueId> {
    let to = node.output.dtype;
    if let Some(small) = widened(nodes, wide) {
        return (nodes.ty(small).dtype == to).then_some(small);
    }
    let Node { op: Op::Kernel(op), inputs, output: TensorType { dtype, shape }, method } = nodes.node(wide).clone()
    else {
        return None;
    };
    let small = widened(nodes, *inputs.first()?).filter(|&small| nodes.ty(small).dtype == to)?;
    let op = in_small(op, dtype, to)?;
    Some(nodes.push(Node { op: Op::Kernel(op), inputs: vec![small], output: TensorType::new(to, shape), method }))
}

/// Whether a cast gives of a number of this larger type what it gives of the number itself: to integers, floats
/// saturate where integers wrap.
fn casts_as(large: DType, to: DType) -> bool {
    large.is_int() || !to.is_int()
}

/// What the operands of a comparison were cast from, if that are integers of one type.
fn compared(nodes: &Nodes, node: &Node) -> Option<Vec<ValueId>> {
    let Op::Elementwise(ElementwiseOp::Binary(op)) = node.op else { return None };
    let small: Vec<ValueId> = node.inputs.iter().map(|&input| widened(nodes, input)).collect::<Option<_>>()?;
    let dtype = nodes.ty(small[0]).dtype;
    (op.is_comparison() && dtype.is_int() && small.iter().all(|&input| nodes.ty(input).dtype == dtype)).then_some(small)
}

/// The operation that gives in the small type the bits that this one gives in the large type with a cast behind it.
fn in_small(op: KernelOp, large: DType, small: DType) -> Option<KernelOp> {
    if let KernelOp::Reduce(Reduce { op, axes }) = op {
        return reduced(op, large, small).map(|op| Reduce { op, axes }.into());
    }
    let KernelOp::Cumulative(Cumulative { running, .. }) = op else { return None };
    let keeps = match running {
        Running::Sum | Running::Product => large.is_int(),
        Running::Minimum | Running::Maximum => true,
        Running::MinimumOrNan | Running::MaximumOrNan => false,
    };
    (keeps && Cumulative::has_loops(running, small)).then_some(op)
}

fn reduced(op: ReduceOp, large: DType, small: DType) -> Option<ReduceOp> {
    match op {
        ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or => Some(op),
        // No integer is NaN.
        ReduceOp::MinNan => Some(ReduceOp::Min),
        ReduceOp::MaxNan => Some(ReduceOp::Max),
        // Of bools a sum is "or", unless so many are true that the large type wraps to 0.
        ReduceOp::Sum => (large.is_int() && (small != DType::Bool || large.size() >= 4)).then_some(op),
        ReduceOp::Prod => large.is_int().then_some(op),
        ReduceOp::Mean => None,
    }
}

/// What `value` was cast from, if the cast keeps every value and their order.
fn widened(nodes: &Nodes, value: ValueId) -> Option<ValueId> {
    let node = nodes.node(value);
    let small = *node.inputs.first().filter(|_| node.op == Op::Elementwise(ElementwiseOp::Cast))?;
    holds(node.output.dtype, nodes.ty(small).dtype).then_some(small)
}

/// Whether the values of the smaller type, all integers or bools, are among those of the larger.
fn holds(large: DType, small: DType) -> bool {
    let exact = if large.is_float() {
        // f32 holds the integers of 16 bits; of f16 and bf16 only one holds those of 8.
        large == DType::F32 && small.size() <= 2
    } else {
        large.is_int() && (large.is_signed() || !small.is_signed())
    };
    exact && !small.is_float() && small.size() < large.size()
}
