//! Elementwise ops and reductions between products and permutations that see the same elements in another shape: a
//! layer's products have two axes, `[positions, width]`, where the model has `[batch, time, width]`. Nodes that treat
//! all axes but the last alike compute in two axes if that takes fewer reshapes. Every bit stays, as elements and their
//! order are the same.

use std::collections::HashSet;

use burn_backend::Shape;
use foldhash::fast::FixedState;

use super::reading::{Readers, is_float};
use crate::bridge::disjoint_sets::DisjointSets;
use crate::bridge::program::{OperandRef, Program, ProgramNode, Source};
use crate::ops::Op;
use crate::ops::activation::ActivationOp;
use crate::ops::arithmetic::{ArithmeticOp, BinaryOp};
use crate::ops::normalization::NormalizationOp;

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    for members in groups(program, &readers) {
        let inside: HashSet<u32, FixedState> = members.iter().copied().collect();
        let saves = reshapes(program, &readers, &members, |_| false)
            > reshapes(program, &readers, &members, |at| inside.contains(&at));
        if saves {
            members.into_iter().for_each(|at| rewrite(program, at));
        }
    }
}

/// The nodes that may compute in two axes, those that read each other in one group.
fn groups(program: &Program, readers: &Readers) -> Vec<Vec<u32>> {
    let mut fitting = vec![false; program.nodes.len()];
    let mut sets = DisjointSets::new(program.nodes.len());
    for &at in &program.schedule {
        if !fits(program, at, readers) {
            continue;
        }
        fitting[at as usize] = true;
        let node = &program.nodes[at as usize];
        for input in &node.inputs {
            if let Source::Node(producer) = input.source
                && fitting[producer as usize]
                && input.shape == program.nodes[producer as usize].output.shape
                && outer(frame(node)) == outer(frame(&program.nodes[producer as usize]))
            {
                sets.join(at as usize, producer as usize);
            }
        }
    }
    let mut groups = vec![Vec::new(); program.nodes.len()];
    for &at in program.schedule.iter().filter(|&&at| fitting[at as usize]) {
        groups[sets.of(at as usize)].push(at);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The shape whose elements a node goes through.
fn frame(node: &ProgramNode) -> &Shape {
    if matches!(node.op, Op::Reduction(_)) { &node.inputs[0].shape } else { &node.output.shape }
}

/// All extents but the last.
fn outer(shape: &Shape) -> &[usize] {
    &shape[..shape.num_dims() - 1]
}

/// Whether an op on `rank` axes treats all but the last alike. One that is not named here stays as it is.
fn treats_rows_alike(op: &Op, rank: usize) -> bool {
    if let Op::Reduction(op) = op {
        return axes_in_rows(&op.axes(), rank).is_some();
    }
    matches!(
        op,
        Op::Arithmetic(
            ArithmeticOp::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
                | ArithmeticOp::Unary(_)
                | ArithmeticOp::BinaryScalar(_)
                | ArithmeticOp::PowerOf(_)
        ) | Op::Normalization(NormalizationOp::Layer { .. })
            | Op::Activation(
                ActivationOp::Relu
                    | ActivationOp::ReluBackward
                    | ActivationOp::Gelu
                    | ActivationOp::GeluBackward
                    | ActivationOp::Sigmoid
                    | ActivationOp::SigmoidBackward
            )
    )
}

/// Whether a node treats all axes but the last alike, and may have another shape.
fn fits(program: &Program, at: u32, readers: &Readers) -> bool {
    let node = &program.nodes[at as usize];
    let frame = frame(node);
    let rank = frame.num_dims();
    if rank < 3 || readers.leaves(at) || !is_float(program, at) {
        return false;
    }
    let seen = |shape: &Shape| {
        let whole = shape.num_dims() == rank && (outer(shape) == outer(frame) || is_one_row(shape));
        let last = shape[shape.num_dims() - 1];
        (whole || is_row(shape)) && (last == frame[rank - 1] || last == 1)
    };
    treats_rows_alike(&node.op, rank)
        && node.inputs.iter().all(|input| seen(&input.shape) && !input.barrier)
        && seen(&node.output.shape)
}

fn is_one_row(shape: &Shape) -> bool {
    outer(shape).iter().all(|&extent| extent == 1)
}

/// Whether this is the last axis alone, as normalizations read their factors.
fn is_row(shape: &Shape) -> bool {
    shape.num_dims() == 1
}

/// The axis in two axes of a reduction along these of more.
fn axes_in_rows(axes: &[usize], rank: usize) -> Option<usize> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    if sorted == [rank - 1] { Some(1) } else { (0..rank - 1).eq(sorted).then_some(0) }
}

/// A shape in two axes. A row stays as it is, because the nodes put extents of 1 in front of it themselves.
fn in_rows(shape: &Shape) -> Shape {
    if is_row(shape) {
        return shape.clone();
    }
    [outer(shape).iter().product(), shape[shape.num_dims() - 1]].into()
}

/// How many reshapes the values take that the group reads or makes, if the nodes that `changed` names are in two axes.
fn reshapes(program: &Program, readers: &Readers, group: &[u32], changed: impl Fn(u32) -> bool) -> usize {
    let made = |source: Source| match source {
        Source::Feed(at) => program.feeds[at as usize].shape.clone(),
        Source::Node(at) if changed(at) => in_rows(&program.nodes[at as usize].output.shape),
        Source::Node(at) => program.nodes[at as usize].output.shape.clone(),
    };
    let mut found: HashSet<(Source, Shape), FixedState> = HashSet::default();
    let mut read = |reader: u32, input: &OperandRef| {
        let (own, shape) = (made(input.source), &input.shape);
        let shape = if changed(reader) { in_rows(shape) } else { shape.clone() };
        let missing = shape.num_dims().saturating_sub(own.num_dims());
        // Extents of 1 in front take none.
        let same = shape[missing..] == own[..] && shape[..missing].iter().all(|&extent| extent == 1);
        if !same {
            found.insert((input.source, shape));
        }
    };
    for &at in group {
        program.nodes[at as usize].inputs.iter().for_each(|input| read(at, input));
        for &reader in readers.of(at) {
            let inputs = program.nodes[reader as usize].inputs.iter();
            inputs.filter(|input| input.source == Source::Node(at)).for_each(|input| read(reader, input));
        }
    }
    found.len()
}

/// Brings a node to two axes.
fn rewrite(program: &mut Program, at: u32) {
    let node = &mut program.nodes[at as usize];
    if let Op::Reduction(op) = node.op
        && let Some(axis) = axes_in_rows(&op.axes(), node.inputs[0].shape.num_dims())
    {
        node.op = op.along(&[axis]).into();
    }
    node.output.shape = in_rows(&node.output.shape);
    for input in &mut node.inputs {
        input.shape = in_rows(&input.shape);
    }
}
