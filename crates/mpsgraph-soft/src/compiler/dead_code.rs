//! Keeps the nodes that the targets need, down to the feeds, and renumbers them.

use super::Job;
use crate::ir::{Leaf, Node, Nodes, Op, ValueId};

/// The same job without nodes that nothing reads any more.
pub fn remove(job: Job) -> Job {
    needed(&job.nodes, &job.feeds, &job.targets)
}

/// The part of `nodes` between `feeds` and `targets`. Fed nodes stay even if nothing needs them: their inputs and
/// their place in the list of feeds are part of the plan's interface.
pub fn needed(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> Job {
    let mut fed = vec![false; nodes.len()];
    feeds.iter().for_each(|feed| fed[feed.0 as usize] = true);
    let mut needed = fed.clone();
    targets.iter().for_each(|target| needed[target.0 as usize] = true);
    // Inputs stand before their users, so one walk from the end reaches all needed nodes.
    for (ValueId(at), node) in nodes.iter().rev().filter(|(id, _)| !fed[id.0 as usize]) {
        if needed[at as usize] {
            node.inputs.iter().for_each(|input| needed[input.0 as usize] = true);
        }
    }
    let mut kept = Nodes::default();
    let mut renumbered = vec![ValueId(u32::MAX); nodes.len()];
    for (ValueId(at), node) in nodes.iter().filter(|(id, _)| needed[id.0 as usize]) {
        let mut node = node.clone();
        if fed[at as usize] {
            (node.op, node.inputs) = (Leaf::Placeholder.into(), Vec::new());
        } else {
            let Node { op, output, .. } = &node;
            assert!(*op != Op::Leaf(Leaf::Placeholder), "placeholder %{at} {output:?} is needed but not fed");
        }
        node.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
        renumbered[at as usize] = kept.push(node);
    }
    let renumber = |ids: &[ValueId]| ids.iter().map(|id| renumbered[id.0 as usize]).collect();
    Job { nodes: kept, feeds: renumber(feeds), targets: renumber(targets) }
}
