//! Matrix products that MPSGraph's compiler takes for something else.
//!
//! softmax(QKᵀ)V becomes one kernel, which is silently wrong on macOS 26 for 17 to 24 positions and three matrices or
//! more (ChanLumerico/lucid, _C/compile) and for operands that are slices of one computed tensor (MIT-RLX/rlx,
//! rlx-metal), and which leaks on macOS 15 (pytorch's mps/operations/Attention.mm). A program is compiled on whatever
//! system it meets, so the pattern is refused on all.
//!
//! On macOS 26 a sum that is fused with a product of one row is lost on M1 (pytorch's mps/operations/Linear.mm).
//!
//! Reshape, product, reshape with two extents of 1 in one of the shapes ends the process on macOS 27, and by some
//! reports on 26 (pytorch/pytorch#187201, #187379).

use std::collections::HashSet;

use crate::ir::{BinaryOp, DType, Graph, Op, ReduceOp, UnaryOp, ValueId};
use crate::mpsgraph::dtype;
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;

/// The objection to what the targets need, if there is one.
pub(super) fn objection(graph: &Graph, targets: &[ValueId]) -> Option<String> {
    let needed = needed(graph, targets);
    needed.iter().find_map(|&value| {
        let node = graph.node(value);
        let shown = Shown(&node.output);
        if (26, 0) <= macos() && macos() < (27, 0) && is_biased_row(graph, value) {
            return Some(format!(
                "{shown} is the sum of something and a matrix product of one row, which macOS 26 loses on M1: \
                 multiply the transposed operands the other way round"
            ));
        }
        if !matches!(node.op, Op::MatMul) {
            return None;
        }
        if node.inputs.iter().any(|&operand| attends(graph, operand)) {
            return Some(format!(
                "{shown} is softmax(QK^T)V, which is taken for one kernel that is silently wrong for some shapes: put \
                 something between softmax and product that cannot be folded, such as the maximum with a fed number"
            ));
        }
        let lone = macos() >= (26, 0) && lone_reshapes(graph, &needed, value);
        lone.then(|| {
            format!(
                "{shown} is a product between two reshapes with more than one extent of 1, which aborts on macOS 26 and 27"
            )
        })
    })
}

/// What the targets are made of.
fn needed(graph: &Graph, targets: &[ValueId]) -> Vec<ValueId> {
    reached(targets.to_vec(), |value, pending| {
        pending.extend_from_slice(&graph.node(value).inputs);
    })
}

/// Everything that is reached from `pending` by steps of `follow`.
fn reached(mut pending: Vec<ValueId>, mut follow: impl FnMut(ValueId, &mut Vec<ValueId>)) -> Vec<ValueId> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while let Some(value) = pending.pop() {
        if seen.insert(value) {
            found.push(value);
            follow(value, &mut pending);
        }
    }
    found
}

/// Whether an operand is a softmax of something with a matrix product in it.
fn attends(graph: &Graph, operand: ValueId) -> bool {
    let folded = reached(vec![operand], |value, pending| {
        pending.extend(behind_folded(graph, value));
    });
    folded.into_iter().filter_map(|value| softmax_of(graph, value)).any(|scores| has_product(graph, scores))
}

/// The operands of an operation that the compiler folds away or moves past.
fn behind_folded(graph: &Graph, value: ValueId) -> Vec<ValueId> {
    let node = graph.node(value);
    match &node.op {
        Op::Concat { .. } => node.inputs.clone(),
        Op::Binary(BinaryOp::Add) => [[0, 1], [1, 0]]
            .into_iter()
            .filter(|&[_, other]| is_constant(graph, node.inputs[other], 0.0))
            .map(|[x, _]| node.inputs[x])
            .collect(),
        Op::Binary(BinaryOp::Mul) => [[0, 1], [1, 0]]
            .into_iter()
            .filter(|&[_, other]| is_constant(graph, node.inputs[other], 1.0))
            .map(|[x, _]| node.inputs[x])
            .collect(),
        Op::Binary(BinaryOp::Sub) if is_constant(graph, node.inputs[1], 0.0) => {
            vec![node.inputs[0]]
        }
        Op::Binary(BinaryOp::Div) if is_constant(graph, node.inputs[1], 1.0) => {
            vec![node.inputs[0]]
        }
        _ if is_view(&node.op) => node.inputs.clone(),
        _ => Vec::new(),
    }
}

/// Whether the operation only says again, in another form, what its operand is.
fn is_view(op: &Op) -> bool {
    matches!(op, Op::Reshape | Op::Transpose { .. } | Op::Broadcast | Op::Cast | Op::Unary(UnaryOp::Identity))
}

/// The value that views show.
fn viewed(graph: &Graph, mut value: ValueId) -> ValueId {
    while is_view(&graph.node(value).op) {
        value = graph.node(value).inputs[0];
    }
    value
}

fn is_constant(graph: &Graph, value: ValueId, number: f64) -> bool {
    let node = graph.node(viewed(graph, value));
    let (DType::F32 | DType::F16 | DType::BF16) = node.output.dtype else {
        return false;
    };
    let size = node.output.dtype.size();
    let wanted = dtype::bytes_of(number, node.output.dtype);
    match &node.op {
        Op::Splat(bytes) => bytes[..size] == wanted[..size],
        Op::Constant(bytes) => bytes.chunks(size).all(|element| *element == wanted[..size]),
        _ => false,
    }
}

/// What the value is the softmax of: by its own operation, or by powers over their sum.
fn softmax_of(graph: &Graph, value: ValueId) -> Option<ValueId> {
    let node = graph.node(value);
    let inputs = &node.inputs;
    match &node.op {
        Op::Softmax { .. } => Some(inputs[0]),
        Op::Binary(BinaryOp::Div | BinaryOp::DivNoNan) => powers_with_sum(graph, inputs[0], inputs[1]),
        Op::Binary(BinaryOp::Mul) => [[0, 1], [1, 0]].into_iter().find_map(|[x, other]| {
            let other = graph.node(viewed(graph, inputs[other]));
            matches!(other.op, Op::Unary(UnaryOp::Recip))
                .then(|| powers_with_sum(graph, inputs[x], other.inputs[0]))
                .flatten()
        }),
        _ => None,
    }
}

/// The exponents of `powers`, if `sum` is their sum.
fn powers_with_sum(graph: &Graph, powers: ValueId, sum: ValueId) -> Option<ValueId> {
    let powers = viewed(graph, powers);
    let sum = graph.node(viewed(graph, sum));
    let is_sum = matches!(sum.op, Op::Reduce { op: ReduceOp::Sum, .. }) && viewed(graph, sum.inputs[0]) == powers;
    let node = graph.node(powers);
    (is_sum && matches!(node.op, Op::Unary(UnaryOp::Exp))).then(|| node.inputs[0])
}

/// Whether a matrix product reaches the value through scales, masks and other functions of single elements.
fn has_product(graph: &Graph, value: ValueId) -> bool {
    let found = reached(vec![value], |value, pending| {
        let node = graph.node(value);
        let elementwise = matches!(node.op, Op::Unary(_) | Op::Binary(_) | Op::Select | Op::Clamp | Op::Concat { .. });
        if elementwise || is_view(&node.op) {
            pending.extend_from_slice(&node.inputs);
        }
    });
    found.into_iter().any(|value| matches!(graph.node(value).op, Op::MatMul))
}

/// Whether the value is a sum with a matrix product of one row.
fn is_biased_row(graph: &Graph, value: ValueId) -> bool {
    let node = graph.node(value);
    let is_row = |&operand: &ValueId| {
        let mut operand = operand;
        while matches!(graph.node(operand).op, Op::Reshape | Op::Broadcast) {
            operand = graph.node(operand).inputs[0];
        }
        let product = graph.node(operand);
        let rows = product.output.shape.iter().rev().nth(1);
        matches!(product.op, Op::MatMul) && rows == Some(&1)
    };
    matches!(node.op, Op::Binary(BinaryOp::Add)) && node.inputs.iter().any(is_row)
}

/// Whether the product stands between reshapes of which one has more than one extent of 1.
fn lone_reshapes(graph: &Graph, needed: &[ValueId], product: ValueId) -> bool {
    let is_reshape = |value: ValueId| matches!(graph.node(value).op, Op::Reshape);
    let shape = |value: ValueId| graph.ty(value).shape.as_slice();
    let before = graph.node(product).inputs.iter().filter(|&&x| is_reshape(x));
    let after = needed.iter().filter(|&&value| is_reshape(value) && graph.node(value).inputs[0] == product);
    let shapes_before: Vec<&[usize]> =
        before.flat_map(|&value| [shape(value), shape(graph.node(value).inputs[0])]).collect();
    let shapes_after: Vec<&[usize]> = after.map(|&value| shape(value)).collect();
    let lone = |shape: &[usize]| shape.iter().filter(|&&extent| extent == 1).count() > 1;
    !shapes_before.is_empty()
        && !shapes_after.is_empty()
        && shapes_before.into_iter().chain(shapes_after).chain([shape(product)]).any(lone)
}
