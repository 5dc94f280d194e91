//! Merges nodes that compute the same value: equal operation, equal inputs, equal type.
//!
//! Every operation is a function of its inputs (random numbers too: their state is an input), so all nodes but
//! placeholders can be merged.

use super::Job;
use crate::ir::{Leaf, Nodes, Op, TensorType, ValueId};
use std::collections::HashMap;

/// The same job with every value computed once.
pub fn merge(job: &Job) -> Job {
    let mut merged = Nodes::default();
    let mut known: HashMap<(Op, Vec<ValueId>, TensorType), ValueId> = HashMap::new();
    let mut renumbered: Vec<ValueId> = Vec::with_capacity(job.nodes.len());
    for (_, node) in job.nodes.iter() {
        let mut node = node.clone();
        node.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
        if node.op == Op::Leaf(Leaf::Placeholder) {
            renumbered.push(merged.push(node));
            continue;
        }
        let key = (node.op.clone(), node.inputs.clone(), node.output.clone());
        renumbered.push(*known.entry(key).or_insert_with(|| merged.push(node)));
    }
    let renumber = |ids: &[ValueId]| ids.iter().map(|id| renumbered[id.0 as usize]).collect();
    Job { nodes: merged, feeds: renumber(&job.feeds), targets: renumber(&job.targets) }
}
