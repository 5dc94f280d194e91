//! Rewrites of a program that is going to be compiled. The key in the cache stays what was recorded, so finding a
//! compiled program costs nothing for them.
//!
//! Each pattern is a file with what it looks for, what it puts there, and why the numbers stay the same. A rewrite
//! keeps the numbers of nodes, outputs and feeds; it changes nodes in place, adds some behind them, and leaves others
//! unused.

mod barriers;
mod equal;
mod factors;
mod fed;
mod joined;
mod layers;
mod leading;
mod padded_sums;
mod permutes;
mod quotients;
mod reading;
mod regions;
mod repeats;
mod roots;
mod rows;
mod same_left;
mod samples;
mod signs;
mod softmax;
mod sums;
mod sums_of_products;
mod turned;
mod written;

use smallvec::SmallVec;

use super::program::{OperandRef, Program, ProgramNode, Source};
use crate::lowering::scalar::Layout;
use crate::ops::Op;
use crate::tensor_type::TensorType;

/// Tries all patterns, then only those that join assigned regions, and keeps the first result whose products can have
/// their barriers. If there is none, the program stays as it was recorded. `layout` is that of its scalars.
pub(super) fn apply(program: &mut Program, layout: &Layout) {
    let has_scalar = program.nodes.iter().any(|node| node.inputs.iter().any(|input| input.barrier));
    let joined = with_regions_joined(program);
    let mut smaller = joined.as_ref().unwrap_or(program).clone();
    samples::apply(&mut smaller, layout);
    put_in_order(&mut smaller);
    for pattern in PATTERNS {
        pattern(&mut smaller);
        put_in_order(&mut smaller);
    }
    for mut rewritten in std::iter::once(smaller).chain(joined) {
        if barriers::settle(&mut rewritten, has_scalar) {
            *program = rewritten;
            return;
        }
    }
}

/// The program after the two patterns that join assigned regions; `None` if they change nothing.
fn with_regions_joined(program: &Program) -> Option<Program> {
    program.nodes.iter().find_map(regions::assigned)?;
    let mut joined = program.clone();
    let changed = [padded_sums::apply(&mut joined), regions::apply(&mut joined)];
    changed.contains(&true).then(|| {
        put_in_order(&mut joined);
        joined
    })
}

/// What makes programs smaller, in the order in which it is applied. Where a pattern looks for what earlier ones have
/// made, the line above it says what that is.
const PATTERNS: [fn(&mut Program); 19] = [
    layers::apply,
    equal::apply,
    permutes::apply,
    repeats::apply,
    roots::apply,
    // One over a root, which may also have been recorded.
    equal::apply,
    quotients::apply,
    // The negatives of quotients, which become subtractions.
    signs::apply,
    // The quotients and the subtractions.
    softmax::gradients,
    // The parts of a softmax, which gradients do not read any more.
    softmax::whole,
    turned::apply,
    sums::apply,
    factors::apply,
    // The products of layers.
    sums_of_products::apply,
    // The products of layers, and the sums that add their biases.
    same_left::apply,
    equal::apply,
    rows::apply,
    // The shapes in which the rewritten nodes read what is fed.
    fed::apply,
    leading::apply,
];

/// Adds a node, which the schedule does not have yet, and returns its value as an operand.
fn add(program: &mut Program, op: Op, inputs: SmallVec<[OperandRef; 3]>, output: TensorType) -> OperandRef {
    let number = program.nodes.len() as u32;
    let shape = output.shape.clone();
    program.nodes.push(ProgramNode { op, inputs, scalars: SmallVec::new(), output });
    OperandRef { source: Source::Node(number), shape, barrier: false }
}

/// Schedules what the outputs need, each node after those that it reads, otherwise in the order of before.
fn put_in_order(program: &mut Program) {
    let mut needed = vec![false; program.nodes.len()];
    let mut open: Vec<u32> = program.outputs.clone();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut needed[at as usize], true) {
            open.extend(producers(&program.nodes[at as usize]));
        }
    }
    let before = std::mem::take(&mut program.schedule);
    let mut placed = vec![false; program.nodes.len()];
    for at in before.into_iter().filter(|&at| needed[at as usize]) {
        open.push(at);
        while let Some(&next) = open.last() {
            let missing = open.len();
            if !placed[next as usize] {
                open.extend(producers(&program.nodes[next as usize]).filter(|&producer| !placed[producer as usize]));
            }
            if open.len() == missing {
                open.pop();
                if !std::mem::replace(&mut placed[next as usize], true) {
                    program.schedule.push(next);
                }
            }
        }
    }
}

/// The nodes that a node reads.
fn producers(node: &ProgramNode) -> impl Iterator<Item = u32> {
    node.inputs.iter().filter_map(|input| input.source.node())
}

#[cfg(test)]
mod tests;
