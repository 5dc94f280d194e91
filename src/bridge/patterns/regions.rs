//! Regions that are written one after the other, as recurrent layers write their time steps.
//!
//! Each `slice_assign` copies the whole tensor, so a sequence of n steps copies n times. Two rewrites move the same
//! elements without that:
//!
//! - a slice of a tensor into which another region was assigned is a slice of the tensor before; a slice of just the
//!   region that was assigned is what was assigned there;
//! - assignments one after the other along an axis, of which only the last is used, are one concatenation.
//!
//! Nothing is computed, so every element keeps its bits.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::{add, only_readers};
use crate::bridge::program::{OperandRef, Program, ProgramNode, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::{AxisRange, TensorShapeOp};
use crate::tensor_type::TensorType;

/// The most parts that one concatenation joins.
const PARTS: usize = 512;

/// Rewrites the program; whether anything changed.
pub(super) fn apply(program: &mut Program) -> bool {
    let read = read_through(program);
    let joined = join(program);
    read || joined
}

/// The region that a node replaces.
pub(super) fn assigned(node: &ProgramNode) -> Option<&[AxisRange]> {
    match &node.op {
        Op::TensorShape(TensorShapeOp::SliceAssign { region }) => Some(region),
        _ => None,
    }
}

/// Lets slices read what is behind assignments.
fn read_through(program: &mut Program) -> bool {
    let mut changed = false;
    // What is read instead of a node's value.
    let mut instead: HashMap<u32, Source, FixedState> = HashMap::default();
    for at in program.schedule.clone() {
        let mut node = program.nodes[at as usize].clone();
        // A product keeps what it reads: its barriers were decided for that.
        let keeps = node.op.is_rewritten();
        for input in node.inputs.iter_mut().filter(|_| !keeps) {
            if let Source::Node(producer) = input.source
                && let Some(&source) = instead.get(&producer)
            {
                input.source = source;
                changed = true;
            }
        }
        if let Op::TensorShape(TensorShapeOp::Slice { region }) = &node.op {
            let region = region.clone();
            while let Some((assignment, kind)) = overlap(program, &node.inputs[0], &region) {
                changed = true;
                match kind {
                    Overlap::None => node.inputs[0].source = assignment.inputs[0].source,
                    Overlap::Same => {
                        instead.insert(at, assignment.inputs[1].source);
                        break;
                    }
                }
            }
        }
        program.nodes[at as usize] = node;
    }
    changed
}

/// How a region that is read and one that was assigned meet.
enum Overlap {
    None,
    Same,
}

/// The assignment that made what is read as `input`, if it replaced nothing or all of `region`.
fn overlap<'p>(program: &'p Program, input: &OperandRef, region: &[AxisRange]) -> Option<(&'p ProgramNode, Overlap)> {
    let Source::Node(producer) = input.source else { return None };
    let assignment = &program.nodes[producer as usize];
    let written = assigned(assignment)?;
    if assignment.output.shape != input.shape || assignment.inputs[0].shape != input.shape {
        return None;
    }
    let apart = region.iter().zip(written).any(|(read, written)| read.is_apart_from(written));
    if apart {
        return Some((assignment, Overlap::None));
    }
    let same = region == written && region.iter().all(|range| range.is_plain());
    same.then_some((assignment, Overlap::Same))
}

/// Makes one concatenation of assignments along one axis.
fn join(program: &mut Program) -> bool {
    let readers = only_readers(program);
    let mut inner = vec![false; program.nodes.len()];
    let mut changed = false;
    // From the last assignment of a chain to the first.
    for at in program.schedule.clone().into_iter().rev() {
        if inner[at as usize] {
            continue;
        }
        let Some(chain) = chain(program, at, &readers) else { continue };
        chain.members.iter().for_each(|&member| inner[member as usize] = true);
        if chain.parts.len() > 1 {
            concatenate(program, at, chain);
            changed = true;
        }
    }
    changed
}

/// Assignments to different ranges of one axis.
struct Chain {
    axis: usize,
    /// What is assigned, by where it begins and ends.
    parts: Vec<(usize, usize, OperandRef)>,
    /// What it is assigned to.
    data: OperandRef,
    members: Vec<u32>,
}

/// The chain that ends at this node.
fn chain(program: &Program, last: u32, readers: &HashMap<u32, Option<u32>, FixedState>) -> Option<Chain> {
    let node = &program.nodes[last as usize];
    let (axis, range) = only_axis(node)?;
    let mut chain = Chain {
        axis,
        parts: vec![(range.low(), range.end(), node.inputs[1].clone())],
        data: node.inputs[0].clone(),
        members: vec![last],
    };
    while chain.parts.len() < PARTS
        && let Source::Node(before) = chain.data.source
        && matches!(readers.get(&before), Some(Some(_)))
    {
        let earlier = &program.nodes[before as usize];
        let Some((axis, range)) = only_axis(earlier) else { break };
        let apart = |(low, end, _): &(usize, usize, OperandRef)| range.end() <= *low || *end <= range.low();
        if axis != chain.axis || earlier.output.shape != node.output.shape || !chain.parts.iter().all(apart) {
            break;
        }
        chain.parts.push((range.low(), range.end(), earlier.inputs[1].clone()));
        chain.data = earlier.inputs[0].clone();
        chain.members.push(before);
    }
    Some(chain)
}

/// The axis of which an assignment replaces a part, if that is one part of one axis.
fn only_axis(node: &ProgramNode) -> Option<(usize, AxisRange)> {
    let region = assigned(node)?;
    if node.inputs[0].shape != node.output.shape {
        return None;
    }
    let mut partial = (0..region.len()).filter(|&axis| !region[axis].covers(node.output.shape[axis]));
    let axis = partial.next()?;
    let plain = region.iter().all(|range| range.is_plain());
    (plain && partial.next().is_none()).then_some((axis, region[axis]))
}

/// Turns the last assignment of a chain into a concatenation of its parts and of what lies between them.
fn concatenate(program: &mut Program, last: u32, chain: Chain) {
    let Chain { axis, mut parts, data, .. } = chain;
    parts.sort_by_key(|(low, ..)| *low);
    let shape = program.nodes[last as usize].output.shape.clone();
    let dtype = program.nodes[last as usize].output.dtype;
    let mut inputs: SmallVec<[OperandRef; 3]> = SmallVec::new();
    let mut added = Vec::new();
    let mut done = 0;
    let ends = parts.iter().map(|(low, ..)| *low).chain([shape[axis]]).collect::<Vec<_>>();
    for (index, &low) in ends.iter().enumerate() {
        if done < low {
            let mut region: Vec<AxisRange> = shape.iter().map(|&extent| AxisRange::full(extent)).collect();
            region[axis] = AxisRange::between(done, low);
            let mut kept = shape.clone();
            kept[axis] = low - done;
            added.push(program.nodes.len() as u32);
            let slice = TensorShapeOp::Slice { region }.into();
            inputs.push(add(program, slice, SmallVec::from_iter([data.clone()]), TensorType::new(dtype, kept)));
        }
        if let Some((_, end, part)) = parts.get(index) {
            let mut own = shape.clone();
            own[axis] = end - low;
            inputs.push(OperandRef { source: part.source, shape: own, barrier: false });
            done = *end;
        }
    }
    let node = &mut program.nodes[last as usize];
    node.op = TensorShapeOp::Cat { axis }.into();
    node.inputs = inputs;
    let place = program.schedule.iter().position(|&at| at == last);
    let place = place.unwrap_or_else(|| unreachable!("the chain was found in the schedule"));
    program.schedule.splice(place..place, added);
}
