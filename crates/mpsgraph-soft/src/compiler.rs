//! Compiles a graph to a plan that runs on this machine.
//!
//! [`compile`] runs the passes one after the other: drop nodes that no target needs ([`dead_code`]), merge nodes that
//! compute the same value ([`subexpressions`]), add integers whole that are added digit by digit ([`digits`]), find
//! orders at once that are found digit by digit ([`orders`]), make one operation of a power by squaring ([`powers`])
//! and of other compositions ([`idioms`]), reduce along the axis that a transposition makes the last one ([`turned`]),
//! take casts to larger types out of what needs none ([`narrowing`]), sum products without a table of them
//! ([`contractions`], [`row_sums`]), make one kernel of a scan and the conversions around it ([`keyed_scans`]), hand
//! biases to convolutions ([`biases`]), sum weighted rows without a table of them ([`blends`]), turn reshapes,
//! transposes, slices and broadcasts into strides ([`views`]), group elementwise nodes into single passes over memory
//! ([`fusion`]), hand rotations to the products before them ([`rotations`]), make steps of the groups ([`assembly`]),
//! take rows through several steps at a time ([`rows`]) and place intermediate results in one block of scratch memory
//! ([`memory`]). The [`Plan`] is a list of steps; all plans work in the same
//! [`scratch`] memory.

mod assembly;
mod biases;
mod blends;
mod block;
mod constants;
mod contractions;
mod dead_code;
mod digits;
mod fusion;
mod idioms;
mod keyed_scans;
mod memory;
mod narrowing;
mod orders;
mod plan;
mod powers;
mod rotations;
mod row_sums;
mod rows;
mod scratch;
mod step;
mod subexpressions;
mod timing;
mod turned;
mod views;

pub use plan::Plan;
pub use scratch::scratch_held;
pub use timing::{StepTime, time_steps};

use crate::ir::{Node, Nodes, ValueId};

/// Makes the plan that computes `targets` from `feeds`. A fed value is not computed, also if its node is not a
/// placeholder.
///
/// Panics if a target needs a placeholder that is not fed.
pub fn compile(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> Plan {
    let job = dead_code::remove(nodes, feeds, targets);
    let job = orders::join(digits::join(subexpressions::merge(&job)));
    let job = turned::reduce(&idioms::join(&powers::join(&job)));
    let job = contractions::find(&narrowing::narrow(&job));
    let job = dead_code::remove(&job.nodes, &job.feeds, &job.targets);
    let job = row_sums::join(blends::join(biases::join(keyed_scans::join(job))));
    let (views, works) = views::resolve(&job.nodes);
    let groups = fusion::group(&job.nodes, &views, &works);
    let parts = rows::join(assembly::assemble(&job, &views, &groups));
    Plan::new(&job, parts)
}

/// Nodes with their feeds and targets. The fed values' nodes are placeholders, and no other nodes are.
#[derive(Debug)]
struct Job {
    nodes: Nodes,
    feeds: Vec<ValueId>,
    targets: Vec<ValueId>,
}

impl Job {
    /// The same job made anew: `push` gets each node, which reads new nodes already, with its old number and the new
    /// numbers so far, and returns the value that takes its place.
    fn rebuilt(&self, mut push: impl FnMut(&mut Nodes, Node, ValueId, &[ValueId]) -> ValueId) -> Job {
        let mut nodes = Nodes::default();
        let mut renumbered: Vec<ValueId> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter() {
            let mut node = node.clone();
            node.inputs.iter_mut().for_each(|input| *input = renumbered[input.0 as usize]);
            renumbered.push(push(&mut nodes, node, id, &renumbered));
        }
        let renumber = |ids: &[ValueId]| ids.iter().map(|id| renumbered[id.0 as usize]).collect();
        Job { feeds: renumber(&self.feeds), targets: renumber(&self.targets), nodes }
    }

    /// How often each value is read, as a target too.
    fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.nodes.len()];
        let read = self.nodes.iter().flat_map(|(_, node)| &node.inputs).chain(&self.targets);
        read.for_each(|value| readers[value.0 as usize] += 1);
        readers
    }

    /// The same job with the node that `group` gives for the last one of a group in its place, and without what nothing
    /// reads any more.
    fn joined(self, group: impl Fn(&Nodes, ValueId) -> Option<Node>) -> Job {
        let mut nodes = Nodes::default();
        let mut joined = false;
        for (id, node) in self.nodes.iter() {
            let group = group(&self.nodes, id);
            joined |= group.is_some();
            nodes.push(group.unwrap_or_else(|| node.clone()));
        }
        if joined { dead_code::remove(&nodes, &self.feeds, &self.targets) } else { self }
    }
}

#[cfg(test)]
mod tests;
