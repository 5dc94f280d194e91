//! Merges nodes that compute the same value: equal operation, equal inputs, equal type.
//!
//! Every operation is a function of its inputs (random numbers too: their state is an input), so only placeholders
//! are left alone.

use super::Job;
use crate::ir::{Graph, Op, TensorType, ValueId};
use std::collections::HashMap;

/// The same job with every value computed once.
pub fn merge(job: Job) -> Job {
    let mut merged = Graph::default();
    let mut known: HashMap<(Op, Vec<ValueId>, TensorType), ValueId> = HashMap::new();
    let mut renumbered: Vec<ValueId> = Vec::with_capacity(job.graph.nodes.len());
    for node in job.graph.nodes {
        let inputs: Vec<ValueId> = node.inputs.iter().map(|input| renumbered[input.0 as usize]).collect();
        if node.op == Op::Placeholder {
            renumbered.push(merged.push(node.op, inputs, node.output));
            continue;
        }
        let key = (node.op, inputs, node.output);
        let id = known.get(&key).copied().unwrap_or_else(|| {
            let id = merged.push(key.0.clone(), key.1.clone(), key.2.clone());
            known.insert(key, id);
            id
        });
        renumbered.push(id);
    }
    let renumber = |ids: Vec<ValueId>| ids.into_iter().map(|id| renumbered[id.0 as usize]).collect();
    Job { graph: merged, feeds: renumber(job.feeds), targets: renumber(job.targets) }
}
