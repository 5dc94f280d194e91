//! Matrix products and convolutions that MPSGraph's compiler takes for something else. The reports stand with the
//! function that finds what they are about. Operands that are views have rules of their own: see [`in_place`].

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use super::in_place;
use crate::ir::{BinaryOp, ElementwiseOp, Leaf, Node, Nodes, Op, UnaryOp, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::movement::Movement;
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::mpsgraph::dtype;
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;

/// The objection to what the targets need, if there is one.
pub(in crate::mpsgraph) fn objection(nodes: &Nodes, targets: &[ValueId]) -> Option<String> {
    let needed = behind(nodes, targets);
    let readers = LazyCell::new(|| seen_through_readers(nodes, &needed));
    needed.iter().find_map(|&value| {
        let node = nodes.node(value);
        let shown = Shown(&node.output);
        if (26, 0) <= macos() && macos() < (27, 0) && is_biased_row(nodes, value) {
            return Some(format!(
                "{shown} is the sum of something and a matrix product of one row, which macOS 26 loses on M1: \
                 multiply the transposed operands the other way round"
            ));
        }
        if matches!(node.op, Op::Kernel(KernelOp::Convolution(_))) {
            return in_place::objection_to_convolution(nodes, value);
        }
        if node.op != Op::MatMul {
            return None;
        }
        if let Some(objection) = in_place::objection_to_product(nodes, value) {
            return Some(objection);
        }
        if node.inputs.iter().any(|&operand| attends(nodes, operand)) {
            return Some(format!(
                "{shown} is softmax(QK^T)V: MPSGraph replaces it by a kernel that is silently wrong for some shapes; \
                 put something between softmax and product that cannot be folded, such as the maximum with a fed number"
            ));
        }
        if macos() >= (27, 0) && flattens_halves(nodes, &readers, value) {
            return Some(format!(
                "{shown} is a product of 16-bit matrices between two reshapes: MPSGraph aborts on macOS 27; put \
                 something between reshape and product that cannot be folded, such as the maximum with a fed number"
            ));
        }
        let lone = macos() >= (26, 0) && lone_reshapes(nodes, &readers, value);
        lone.then(|| {
            format!(
                "{shown} is a product between two reshapes with more than one extent of 1: MPSGraph \
                 aborts on macOS 26 and 27"
            )
        })
    })
}

/// The values that the targets are made of.
fn behind(nodes: &Nodes, targets: &[ValueId]) -> Vec<ValueId> {
    reached(targets.to_vec(), |value, pending| {
        pending.extend_from_slice(&nodes.node(value).inputs);
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
///
/// MPSGraph replaces softmax(QKᵀ)V by one kernel, which is silently wrong on macOS 26 for 17 to 24 positions and three
/// matrices or more (ChanLumerico/lucid, _C/compile) and for operands that are slices of one computed tensor
/// (MIT-RLX/rlx, rlx-metal), and which leaks on macOS 15 (pytorch's mps/operations/Attention.mm). The same program may
/// run on any of these systems, so the pattern is refused on all.
fn attends(nodes: &Nodes, operand: ValueId) -> bool {
    let folded = reached(vec![operand], |value, pending| {
        pending.extend(behind_folded(nodes, value));
    });
    folded.into_iter().filter_map(|value| softmax_of(nodes, value)).any(|scores| has_product(nodes, scores))
}

/// The operands of an operation that the compiler folds away or moves past.
fn behind_folded(nodes: &Nodes, value: ValueId) -> Vec<ValueId> {
    let Node { op, inputs, .. } = nodes.node(value);
    // The operand at `from`, if the other operand is this number, with which the operation changes nothing.
    let unless = |from: usize, number: f64| is_constant(nodes, inputs[1 - from], number).then_some(inputs[from]);
    match op {
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Add)) => {
            [unless(0, 0.0), unless(1, 0.0)].into_iter().flatten().collect()
        }
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Mul)) => {
            [unless(0, 1.0), unless(1, 1.0)].into_iter().flatten().collect()
        }
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Sub)) => unless(0, 0.0).into_iter().collect(),
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Div)) => unless(0, 1.0).into_iter().collect(),
        Op::Kernel(KernelOp::Movement(Movement::Concat { .. })) => inputs.clone(),
        Op::Leaf(_) | Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => {
            if restates(op) {
                inputs.clone()
            } else {
                Vec::new()
            }
        }
    }
}

/// Whether the operation gives its operand's elements in another shape, order or element type.
fn restates(op: &Op) -> bool {
    match op {
        Op::View(ViewOp::Reshape | ViewOp::Transpose { .. } | ViewOp::Broadcast) => true,
        Op::View(ViewOp::Slice { .. } | ViewOp::Reverse { .. } | ViewOp::Reinterpret) => false,
        Op::Elementwise(ElementwiseOp::Cast | ElementwiseOp::Unary(UnaryOp::Identity)) => true,
        Op::Leaf(_) | Op::Elementwise(_) | Op::MatMul | Op::Kernel(_) => false,
    }
}

/// The value behind all operations that restate it.
fn restated(nodes: &Nodes, mut value: ValueId) -> ValueId {
    while restates(&nodes.node(value).op) {
        value = nodes.node(value).inputs[0];
    }
    value
}

fn is_constant(nodes: &Nodes, value: ValueId, number: f64) -> bool {
    let Node { op, output, .. } = nodes.node(restated(nodes, value));
    if !output.dtype.is_float() {
        return false;
    }
    let size = output.dtype.size();
    let wanted = dtype::bytes_of(number, output.dtype);
    match op {
        Op::Leaf(Leaf::Splat(bytes)) => bytes[..size] == wanted[..size],
        Op::Leaf(Leaf::Constant(bytes)) => bytes.chunks(size).all(|element| *element == wanted[..size]),
        Op::Leaf(Leaf::Placeholder) | Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => false,
    }
}

/// What the value is the softmax of: by its own operation, or by powers over their sum.
fn softmax_of(nodes: &Nodes, value: ValueId) -> Option<ValueId> {
    let Node { op, inputs, .. } = nodes.node(value);
    match op {
        Op::Kernel(KernelOp::Softmax(_)) => Some(inputs[0]),
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Div)) => powers_with_sum(nodes, inputs[0], inputs[1]),
        Op::Elementwise(ElementwiseOp::Binary(BinaryOp::Mul)) => [[0, 1], [1, 0]].into_iter().find_map(|[x, other]| {
            let other = nodes.node(restated(nodes, inputs[other]));
            (other.op == UnaryOp::Recip.into()).then(|| powers_with_sum(nodes, inputs[x], other.inputs[0])).flatten()
        }),
        Op::Leaf(_) | Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => None,
    }
}

/// The exponents of `powers`, if `sum` is their sum.
fn powers_with_sum(nodes: &Nodes, powers: ValueId, sum: ValueId) -> Option<ValueId> {
    let powers = restated(nodes, powers);
    let sum = nodes.node(restated(nodes, sum));
    let is_sum = matches!(sum.op, Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Sum, .. })))
        && restated(nodes, sum.inputs[0]) == powers;
    let node = nodes.node(powers);
    (is_sum && node.op == UnaryOp::Exp.into()).then(|| node.inputs[0])
}

/// Whether a matrix product reaches the value through scales, masks and other functions of single elements.
fn has_product(nodes: &Nodes, value: ValueId) -> bool {
    let found = reached(vec![value], |value, pending| {
        let node = nodes.node(value);
        let passes = match &node.op {
            Op::Elementwise(_) | Op::Kernel(KernelOp::Movement(Movement::Concat { .. })) => true,
            Op::Leaf(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => restates(&node.op),
        };
        if passes {
            pending.extend_from_slice(&node.inputs);
        }
    });
    found.into_iter().any(|value| nodes.node(value).op == Op::MatMul)
}

/// Whether the value is a sum with a matrix product of one row.
///
/// On M1, macOS 26 loses a sum that it fuses with a product of one row (pytorch's mps/operations/Linear.mm).
fn is_biased_row(nodes: &Nodes, value: ValueId) -> bool {
    let node = nodes.node(value);
    let is_row = |&operand: &ValueId| {
        let mut operand = operand;
        while matches!(nodes.node(operand).op, Op::View(ViewOp::Reshape | ViewOp::Broadcast)) {
            operand = nodes.node(operand).inputs[0];
        }
        let product = nodes.node(operand);
        let rows = product.output.shape.iter().rev().nth(1);
        product.op == Op::MatMul && rows == Some(&1)
    };
    node.op == BinaryOp::Add.into() && node.inputs.iter().any(is_row)
}

/// Whether the product stands between reshapes of which one has more than one extent of 1. The compiler joins reshapes
/// that follow each other and moves casts past them.
///
/// On macOS 27, and by some reports on 26, MPSGraph ends the process on reshape, product, reshape with two extents of 1
/// in one of the shapes (pytorch/pytorch#187201, #187379).
fn lone_reshapes(nodes: &Nodes, readers: &HashMap<ValueId, Vec<ValueId>>, product: ValueId) -> bool {
    let is_reshape = |value: ValueId| nodes.node(value).op == ViewOp::Reshape.into();
    let is_lone = |&value: &ValueId| nodes.ty(value).shape.iter().filter(|&&extent| extent == 1).count() > 1;
    let reshaped = |values: &Vec<ValueId>| values.iter().any(|&value| is_reshape(value));
    let behind_operand = |&operand: &ValueId| {
        reached(vec![operand], |value, pending| {
            if is_seen_through(nodes, value) {
                pending.extend_from_slice(&nodes.node(value).inputs);
            }
        })
    };
    let before: Vec<_> = nodes.node(product).inputs.iter().map(behind_operand).filter(reshaped).collect();
    if before.is_empty() {
        return false;
    }
    let after = reached(vec![product], |value, pending| {
        pending.extend(readers.get(&value).into_iter().flatten());
    });
    reshaped(&after) && before.iter().flatten().chain(&after).any(is_lone)
}

/// Whether the product is of 16-bit matrices and stands between two reshapes, nothing else between them.
///
/// On macOS 27 MPSGraph ends the process on these whatever the shapes are (pytorch/pytorch#197796, on M5).
fn flattens_halves(nodes: &Nodes, readers: &HashMap<ValueId, Vec<ValueId>>, product: ValueId) -> bool {
    let is_reshape = |value: &ValueId| nodes.node(*value).op == ViewOp::Reshape.into();
    let node = nodes.node(product);
    let of_halves = node.output.dtype.size() == 2 && node.output.shape.len() == 2;
    of_halves && node.inputs.iter().any(is_reshape) && readers.get(&product).into_iter().flatten().any(is_reshape)
}

/// Whether the compiler sees the operand behind an operation.
fn is_seen_through(nodes: &Nodes, value: ValueId) -> bool {
    let op = &nodes.node(value).op;
    *op == ViewOp::Reshape.into() || *op == ElementwiseOp::Cast.into() || *op == UnaryOp::Identity.into()
}

/// The operations of these that the compiler sees through, by their operand.
fn seen_through_readers(nodes: &Nodes, needed: &[ValueId]) -> HashMap<ValueId, Vec<ValueId>> {
    let mut readers: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    for &value in needed.iter().filter(|&&value| is_seen_through(nodes, value)) {
        readers.entry(nodes.node(value).inputs[0]).or_default().push(value);
    }
    readers
}
