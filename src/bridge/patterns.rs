//! Rewrites of a program that is going to be compiled. The key in the cache stays what was recorded, so finding a
//! compiled program costs nothing for them.
//!
//! Each pattern is a file with what it looks for, what it puts there, and why the numbers stay the same. A rewrite
//! keeps the numbers of nodes, outputs and feeds; it changes nodes in place, adds some behind them, and leaves others
//! unused.

mod padded_sums;
mod regions;
mod written;

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::program::{OperandRef, Program, ProgramNode, Source};
use crate::ops::Op;
use crate::tensor_type::TensorType;

/// Applies every pattern; all of them begin with a region that is assigned.
pub(super) fn apply(program: &mut Program) {
    if !program.nodes.iter().any(|node| regions::assigned(node).is_some()) {
        return;
    }
    let changed = [padded_sums::apply(program), regions::apply(program)];
    if changed.contains(&true) {
        remove_unused(program);
    }
}

/// For each node whose value is read the one node that reads it, once; `None` if there are several, or it leaves the
/// program.
fn only_readers(program: &Program) -> HashMap<u32, Option<u32>, FixedState> {
    let mut readers: HashMap<u32, Option<u32>, FixedState> =
        program.outputs.iter().map(|&output| (output, None)).collect();
    for &at in &program.schedule {
        for input in &program.nodes[at as usize].inputs {
            if let Source::Node(producer) = input.source {
                readers.entry(producer).and_modify(|reader| *reader = None).or_insert(Some(at));
            }
        }
    }
    readers
}

/// Adds a node, which the schedule does not have yet, and returns its value as an operand.
fn add(program: &mut Program, op: Op, inputs: SmallVec<[OperandRef; 3]>, output: TensorType) -> OperandRef {
    let number = program.nodes.len() as u32;
    let shape = output.shape.clone();
    program.nodes.push(ProgramNode { op, inputs, scalars: SmallVec::new(), output });
    OperandRef { source: Source::Node(number), shape, barrier: false }
}

/// Takes nodes out of the schedule that no output needs.
fn remove_unused(program: &mut Program) {
    let mut needed = vec![false; program.nodes.len()];
    let mut open: Vec<u32> = program.outputs.clone();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut needed[at as usize], true) {
            let inputs = program.nodes[at as usize].inputs.iter();
            open.extend(inputs.filter_map(|input| match input.source {
                Source::Node(producer) => Some(producer),
                Source::Feed(_) => None,
            }));
        }
    }
    program.schedule.retain(|&at| needed[at as usize]);
}

#[cfg(test)]
mod tests;
