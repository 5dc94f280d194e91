//! How passes read the nodes that make a value: each function tells whether a value is made in one way, and of what.

use crate::ir::{BinaryOp, DType, ElementwiseOp, Node, Nodes, Op, UnaryOp, ValueId, ViewOp};

/// If `id` is the operation `op`: its operands.
pub fn binary(nodes: &Nodes, id: ValueId, op: BinaryOp) -> Option<(ValueId, ValueId)> {
    let node = nodes.node(id);
    (node.op == op.into()).then(|| (node.inputs[0], node.inputs[1]))
}

/// If `id` is the operation `op`: its operand.
pub fn unary(nodes: &Nodes, id: ValueId, op: UnaryOp) -> Option<ValueId> {
    let node = nodes.node(id);
    (node.op == op.into()).then(|| node.inputs[0])
}

/// If `id` is a choice: its test and both branches.
pub fn select(nodes: &Nodes, id: ValueId) -> Option<[ValueId; 3]> {
    let node = nodes.node(id);
    (node.op == ElementwiseOp::Select.into()).then(|| [node.inputs[0], node.inputs[1], node.inputs[2]])
}

/// If `id` is a cast of a value of this type: that value.
pub fn cast(nodes: &Nodes, id: ValueId, from: DType) -> Option<ValueId> {
    let Node { op, inputs, .. } = nodes.node(id);
    (*op == ElementwiseOp::Cast.into() && nodes.ty(inputs[0]).dtype == from).then(|| inputs[0])
}

/// If `id` is the view `op`: the value that it is a view of.
pub fn view(nodes: &Nodes, id: ValueId, op: &ViewOp) -> Option<ValueId> {
    let Node { op: Op::View(found), inputs, .. } = nodes.node(id) else { return None };
    (found == op).then(|| inputs[0])
}

/// If `id` has the type `to` and is made of the bits of a value of the type `from`: that value.
pub fn bits_of(nodes: &Nodes, id: ValueId, to: DType, from: DType) -> Option<ValueId> {
    let of = view(nodes, id, &ViewOp::Reinterpret)?;
    (nodes.ty(id).dtype == to && nodes.ty(of).dtype == from).then_some(of)
}

/// If `id` is a slice of a value along its last axis alone, neighbouring columns from this one on: that value.
pub fn columns_of(nodes: &Nodes, id: ValueId, column: usize) -> Option<ValueId> {
    part_of(nodes, id, nodes.ty(id).shape.len().checked_sub(1)?, column)
}

/// If `id` is a slice of a value along this axis alone, neighbours from this place on: that value.
pub fn part_of(nodes: &Nodes, id: ValueId, axis: usize, place: usize) -> Option<ValueId> {
    let Node { op: Op::View(ViewOp::Slice { starts, strides }), inputs, output, .. } = nodes.node(id) else {
        return None;
    };
    let given = &nodes.ty(inputs[0]).shape;
    let is_whole = |other: usize| starts[other] == 0 && given[other] == output.shape[other];
    let is_plain = strides.iter().all(|&stride| stride == 1)
        && starts[axis] == place
        && (0..given.len()).all(|other| other == axis || is_whole(other));
    is_plain.then_some(inputs[0])
}

/// If `id` is the low (0) or the high (1) halves of 64-bit integers: the integers.
pub fn half(nodes: &Nodes, id: ValueId, half: usize) -> Option<ValueId> {
    let whole = half_column(nodes, view(nodes, id, &ViewOp::Reshape)?, half)?;
    (nodes.ty(whole).shape == nodes.ty(id).shape).then_some(whole)
}

/// Likewise if the halves have one axis more than the integers, a last one of extent 1.
pub fn half_column(nodes: &Nodes, id: ValueId, half: usize) -> Option<ValueId> {
    let pairs = columns_of(nodes, id, half)?;
    let whole = view(nodes, view(nodes, pairs, &ViewOp::Reshape)?, &ViewOp::Reinterpret)?;
    let with = |extent| [&nodes.ty(whole).shape[..], &[extent]].concat();
    let is_whole = nodes.ty(whole).dtype.size() == 8 && nodes.ty(pairs).shape == with(2);
    (is_whole && nodes.ty(id).shape == with(1)).then_some(whole)
}

/// Whether a reduction along these axes is one of rows: of the last axes, from the first one that is longer than 1 on.
pub fn are_rows(shape: &[usize], axes: &[usize]) -> bool {
    let first = axes.iter().find(|&&axis| shape[axis] != 1);
    first.is_some_and(|&first| (first..shape.len()).all(|axis| shape[axis] == 1 || axes.contains(&axis)))
}
