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

use super::written::{Behind, Written};
use super::{add, only_readers};
use crate::bridge::program::{OperandRef, Program, ProgramNode, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::{AxisRange, TensorShapeOp};
use crate::tensor_type::TensorType;

/// The most parts that one concatenation joins.
pub(super) const PARTS: usize = 512;

/// Rewrites the program; whether anything changed.
pub(super) fn apply(program: &mut Program) -> bool {
    let read = read_through(program);
    let joined = join(program);
    read || joined
}

/// The region that a node replaces.
pub(super) fn assigned(node: &ProgramNode) -> Option<&[AxisRange]> {
    let Op::TensorShape(TensorShapeOp::SliceAssign { region }) = &node.op else { return None };
    Some(region)
}

/// Lets slices read what is behind assignments.
fn read_through(program: &mut Program) -> bool {
    let mut changed = false;
    let mut written = Written::default();
    // What is read instead of a node's value.
    let mut instead: HashMap<u32, Source, FixedState> = HashMap::default();
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let node = &mut program.nodes[at as usize];
        // A product keeps what it reads: its barriers were decided for that.
        if !node.op.is_rewritten() {
            for input in &mut node.inputs {
                if let Source::Node(producer) = input.source
                    && let Some(&source) = instead.get(&producer)
                {
                    input.source = source;
                    changed = true;
                }
            }
        }
        let node = &program.nodes[at as usize];
        if let Op::TensorShape(TensorShapeOp::Slice { region }) = &node.op {
            let Behind { data, part } = written.behind(program, &node.inputs[0], region);
            changed |= data != node.inputs[0].source || part.is_some();
            program.nodes[at as usize].inputs[0].source = data;
            instead.extend(part.map(|part| (at, part)));
        } else {
            written.note(program, at);
        }
    }
    changed
}

/// Makes one concatenation of assignments along one axis.
fn join(program: &mut Program) -> bool {
    let readers = only_readers(program);
    let mut inner = vec![false; program.nodes.len()];
    // What is to be scheduled before a node.
    let mut before: HashMap<u32, Vec<u32>, FixedState> = HashMap::default();
    // From the last assignment of a chain to the first.
    for place in (0..program.schedule.len()).rev() {
        let at = program.schedule[place];
        if inner[at as usize] {
            continue;
        }
        let Some(chain) = chain(program, at, &readers) else { continue };
        chain.members.iter().for_each(|&member| inner[member as usize] = true);
        if chain.parts.len() > 1 {
            before.insert(at, concatenate(program, at, chain));
        }
    }
    if before.is_empty() {
        return false;
    }
    let recorded = std::mem::take(&mut program.schedule);
    for at in recorded {
        program.schedule.extend(before.remove(&at).unwrap_or_default());
        program.schedule.push(at);
    }
    true
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

/// Turns the last assignment of a chain into a concatenation of its parts and of what lies between them. Returns the
/// nodes that have to be scheduled before it.
fn concatenate(program: &mut Program, last: u32, chain: Chain) -> Vec<u32> {
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
    added
}
