//! Sums and means along several axes by one node: of a sum along another axis, as the gradient of a repeated operand
//! is recorded, and of a permuted tensor, as batch norm averages a channel.
//!
//! The elements are the same, but they may be added in another order, so the last bits may change. 16-bit floats are
//! rounded once instead of after each axis.

use burn_backend::Shape;
use smallvec::SmallVec;

use super::reading::{Readers, is_float, maker};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::reduction::ReductionOp;
use crate::ops::tensor_shape::TensorShapeOp;

/// MPSGraph's reductions are right along the last four axes.
const RANK: usize = 4;

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let Op::Reduction(op) = program.nodes[at as usize].op else { continue };
        if !is_float(program, at) {
            continue;
        }
        if let Some((axes, input)) = of_sum(program, op, at, &readers) {
            let node = &mut program.nodes[at as usize];
            node.op = op.along(&axes).into();
            node.inputs = SmallVec::from_iter([input]);
        } else if let Some((axes, input)) = of_permuted(program, op, at, &readers) {
            let node = &mut program.nodes[at as usize];
            node.op = op.along(&axes).into();
            node.output.shape = input.shape.clone();
            axes.iter().for_each(|&axis| node.output.shape[axis] = 1);
            node.inputs = SmallVec::from_iter([input]);
        }
    }
}

/// The axes and the operand of a sum of a sum.
fn of_sum(program: &Program, op: ReductionOp, at: u32, readers: &Readers) -> Option<(Vec<usize>, OperandRef)> {
    let (inner, node) = maker(program, &program.nodes[at as usize].inputs[0])?;
    let Op::Reduction(first) = node.op else { return None };
    let both = op.is_sum() && first.is_sum() && readers.only(inner) == Some(at);
    let input = &node.inputs[0];
    (both && input.shape.num_dims() <= RANK).then_some(())?;
    let mut axes = [op.added_axes()?, first.added_axes()?].concat();
    axes.sort_unstable();
    axes.dedup();
    Some((axes, input.clone()))
}

/// The axes and the operand of a reduction of a permuted tensor whose axes may be merged behind that.
fn of_permuted(program: &Program, op: ReductionOp, at: u32, readers: &Readers) -> Option<(Vec<usize>, OperandRef)> {
    let input = &program.nodes[at as usize].inputs[0];
    let Source::Node(producer) = input.source else { return None };
    let permuted = &program.nodes[producer as usize];
    let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &permuted.op else { return None };
    let &[axis] = &op.added_axes()?[..] else { return None };
    let alone = readers.only(producer) == Some(at) && !readers.leaves(at) && permutation.len() <= RANK;
    let run = alone.then(|| run(&permuted.output.shape, &input.shape, axis)).flatten()?;
    let source = &permuted.inputs[0];
    // What stays has to stay in order.
    let kept = (0..permutation.len()).filter(|place| !run.contains(place)).map(|place| permutation[place]);
    kept.filter(|&axis| source.shape[axis] != 1).is_sorted().then_some(())?;
    let mut axes = permutation[run].to_vec();
    axes.sort_unstable();
    (!axes.is_empty()).then(|| (axes, source.clone()))
}

/// Which axes of `shape` are the one axis of `view`, which has the same elements.
fn run(shape: &Shape, view: &Shape, axis: usize) -> Option<std::ops::Range<usize>> {
    let count = |extents: &[usize]| extents.iter().product::<usize>();
    let before = count(&view[..axis]);
    let first = (0..shape.num_dims()).find(|&first| count(&shape[..first]) == before)?;
    let end = (first..=shape.num_dims()).find(|&end| count(&shape[first..end]) == view[axis])?;
    Some(first..end)
}
