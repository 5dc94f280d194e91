//! Nodes that compute the same are one. Every bit stays.
//!
//! The construction of a graph does that, too. It is done here so that patterns find one node where several were
//! recorded. Nodes with scalars are left to the construction, because only it knows which scalars share lanes.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::tensor_type::TensorType;

/// What a node without scalars computes.
type Expression = (Op, SmallVec<[OperandRef; 3]>, TensorType);

/// Lets all who read equal nodes read the first of them.
pub(super) fn apply(program: &mut Program) {
    let mut known: HashMap<Expression, u32, FixedState> = HashMap::default();
    let mut same: Vec<u32> = (0..program.nodes.len() as u32).collect();
    let Program { nodes, schedule, .. } = program;
    for &at in schedule.iter() {
        let node = &mut nodes[at as usize];
        for input in &mut node.inputs {
            if let Source::Node(producer) = &mut input.source {
                *producer = same[*producer as usize];
            }
        }
        if node.scalars.is_empty() {
            let expression = (node.op.clone(), node.inputs.clone(), node.output.clone());
            same[at as usize] = *known.entry(expression).or_insert(at);
        }
    }
}
