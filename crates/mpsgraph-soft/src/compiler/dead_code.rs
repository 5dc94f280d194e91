//! Keeps the nodes that the targets need, down to the feeds, and renumbers them.

use super::Job;
use crate::ir::{Graph, Node, Op, ValueId};

/// The part of `graph` between `feeds` and `targets`. Fed nodes stay even if nothing needs them: their inputs and
/// their place in the list of feeds are part of the plan's interface.
pub fn remove(graph: &Graph, feeds: &[ValueId], targets: &[ValueId]) -> Job {
    let mut fed = vec![false; graph.nodes.len()];
    feeds.iter().for_each(|feed| fed[feed.0 as usize] = true);
    let mut needed = fed.clone();
    targets.iter().for_each(|target| needed[target.0 as usize] = true);
    // Inputs stand before their users, so one walk from the end reaches everything.
    for (at, node) in graph.nodes.iter().enumerate().rev().filter(|(at, _)| !fed[*at]) {
        if needed[at] {
            node.inputs.iter().for_each(|input| needed[input.0 as usize] = true);
        }
    }
    let mut kept = Graph::default();
    let mut renumbered = vec![ValueId(u32::MAX); graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
        let Node { op, inputs, output } = node;
        renumbered[at] = if fed[at] {
            kept.push(Op::Placeholder, [], output.clone())
        } else {
            assert!(*op != Op::Placeholder, "placeholder %{at} {output:?} is needed but not fed");
            let inputs: Vec<ValueId> = inputs.iter().map(|input| renumbered[input.0 as usize]).collect();
            kept.push(op.clone(), inputs, output.clone())
        };
    }
    let renumber = |ids: &[ValueId]| ids.iter().map(|id| renumbered[id.0 as usize]).collect();
    Job { graph: kept, feeds: renumber(feeds), targets: renumber(targets) }
}
