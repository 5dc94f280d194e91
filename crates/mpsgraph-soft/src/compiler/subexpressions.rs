//! Merges nodes that compute the same value: equal operation, equal inputs, equal type.
//!
//! Every operation is a function of its inputs (random numbers too: their state is an input), so all nodes but
//! placeholders can be merged.

use super::Job;
use crate::ir::{Leaf, Op, TensorType, ValueId};
use std::collections::HashMap;

/// The same job with every value computed once.
pub fn merge(job: Job) -> Job {
    let mut known: HashMap<(Op, Vec<ValueId>, TensorType), ValueId> = HashMap::new();
    job.rebuilt(|merged, node, _, _| {
        if node.op == Op::Leaf(Leaf::Placeholder) {
            return merged.push(node);
        }
        let key = (node.op.clone(), node.inputs.clone(), node.output.clone());
        *known.entry(key).or_insert_with(|| merged.push(node))
    })
}
