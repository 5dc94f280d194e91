//! Makes one operation of what a graph composes because Apple does not document how MPSGraph's own does it.
//!
//! What that is here is written in [`crate::ir`], so that each rule gives the same bits: a difference from 0 is a
//! negation; a choice between a number below 0 and its negation is its absolute value; a quotient of what the remainder
//! leaves is the quotient; a quotient that is rounded toward zero needs no correction; a remainder that takes the
//! divisor's sign is the floored one; a conversion to integers makes 0 of NaN.

use super::Job;
use super::constants::is_zero;
use super::reading::{binary, select};
use crate::ir::{BinaryOp, ElementwiseOp, Node, Nodes, Op, UnaryOp, ValueId};

/// The same job with such operations; the nodes that nothing reads any more are left over.
pub fn join(job: Job) -> Job {
    job.rebuilt(|nodes, mut node, _, _| {
        if let Some(same) = uncorrected(nodes, &node) {
            return same;
        }
        if let Some((op, inputs)) = idiom(nodes, &node) {
            (node.op, node.inputs) = (op.into(), inputs);
        }
        nodes.push(node)
    })
}

/// The operation that the node is, and what it reads.
fn idiom(nodes: &Nodes, node: &Node) -> Option<(ElementwiseOp, Vec<ValueId>)> {
    let Op::Elementwise(op) = node.op else { return None };
    let is_int = node.output.dtype.is_int();
    match (op, &node.inputs[..]) {
        (ElementwiseOp::Binary(BinaryOp::Sub), &[zero, x])
            if is_int && is_zero(nodes, zero) && nodes.ty(x).shape == node.output.shape =>
        {
            Some((UnaryOp::Neg.into(), vec![x]))
        }
        (ElementwiseOp::Binary(BinaryOp::Div), &[whole, b]) if is_int => {
            let (a, rest) = binary(nodes, whole, BinaryOp::Sub)?;
            (binary(nodes, rest, BinaryOp::Mod)? == (a, b)).then(|| (BinaryOp::Div.into(), vec![a, b]))
        }
        (ElementwiseOp::Select, &[below, negative, x]) if is_int && is_below_zero(nodes, below, x) => {
            let is_negation = nodes.node(negative).op == UnaryOp::Neg.into() && nodes.node(negative).inputs == [x];
            (is_negation && nodes.ty(x).shape == node.output.shape).then(|| (UnaryOp::Abs.into(), vec![x]))
        }
        (ElementwiseOp::Select, &[wrong, moved, rest]) if is_int => {
            let (a, b) = binary(nodes, rest, BinaryOp::Mod)?;
            let is_floored = is_far(nodes, wrong, rest, b) && binary(nodes, moved, BinaryOp::Add)? == (rest, b);
            is_floored.then(|| (BinaryOp::FloorMod.into(), vec![a, b]))
        }
        (ElementwiseOp::Cast, &[number]) if is_int => {
            let [test, zero, x] = select(nodes, number)?;
            let is_test = nodes.node(test).op == UnaryOp::IsNan.into() && nodes.node(test).inputs == [x];
            let is_whole = nodes.ty(x).shape == node.output.shape;
            (is_test && is_zero(nodes, zero) && is_whole).then(|| (ElementwiseOp::Cast, vec![x]))
        }
        _ => None,
    }
}

/// What the node corrects by a step that a quotient toward zero never needs: the quotient itself, or its remainder.
fn uncorrected(nodes: &Nodes, node: &Node) -> Option<ValueId> {
    let &[value, step] = &node.inputs[..] else { return None };
    let step = if node.op == BinaryOp::Add.into() {
        step
    } else if node.op == BinaryOp::Sub.into() {
        binary(nodes, step, BinaryOp::Mul)?.0
    } else {
        return None;
    };
    let [far, _, zero] = select(nodes, step)?;
    let (_, test) = binary(nodes, far, BinaryOp::And)?;
    let (rest, _) = binary(nodes, test, BinaryOp::NotEqual)?;
    let (a, product) = binary(nodes, rest, BinaryOp::Sub)?;
    let (quotient, b) = binary(nodes, product, BinaryOp::Mul)?;
    let is_never = binary(nodes, quotient, BinaryOp::Div)? == (a, b)
        && node.output.dtype.is_int()
        && nodes.ty(rest).dtype.is_int()
        && is_far(nodes, far, rest, a)
        && is_zero(nodes, zero)
        && nodes.ty(value) == &node.output;
    is_never.then_some(value)
}

/// Whether `id` is the test that `rest` is not 0 and has another sign than `other`.
fn is_far(nodes: &Nodes, id: ValueId, rest: ValueId, other: ValueId) -> bool {
    let tests = || {
        let (signs, test) = binary(nodes, id, BinaryOp::And)?;
        let (of_rest, of_other) = binary(nodes, signs, BinaryOp::Xor)?;
        let (tested, zero) = binary(nodes, test, BinaryOp::NotEqual)?;
        Some((of_rest, of_other, tested, zero))
    };
    tests().is_some_and(|(of_rest, of_other, tested, zero)| {
        is_below_zero(nodes, of_rest, rest)
            && is_below_zero(nodes, of_other, other)
            && tested == rest
            && is_zero(nodes, zero)
    })
}

fn is_below_zero(nodes: &Nodes, id: ValueId, x: ValueId) -> bool {
    binary(nodes, id, BinaryOp::Less).is_some_and(|(tested, zero)| tested == x && is_zero(nodes, zero))
}
