//! Compiles a graph to a plan that runs on this machine.
//!
//! [`compile`] runs the passes one after the other. The first ones make a graph of fewer or cheaper nodes:
//!
//! 1. [`dead_code`] drops nodes that no target needs, here and after other passes.
//! 2. [`subexpressions`] merges nodes that compute the same value.
//! 3. [`digits`] adds integers whole that are added digit by digit.
//! 4. [`whole_gathers`] moves 64-bit integers whole, [`wide_shifts`] shifts them whole.
//! 5. [`orders`] finds orders at once that are found digit by digit.
//! 6. [`powers`] makes one operation of a power by squaring, [`idioms`] of other compositions.
//! 7. [`turned`] reduces along the axis that a transposition makes the last one.
//! 8. [`element_types`] casts what kernels have no loops for.
//! 9. [`narrowing`] takes casts to larger types out of what needs none.
//! 10. [`contractions`] and [`row_sums`] sum products without a table of them, [`blends`] weighted rows, and
//!     [`wide_sums`] small integers as 64-bit ones.
//! 11. [`keyed_scans`] makes one kernel of a scan and the conversions around it.
//! 12. [`biases`] hands biases to convolutions.
//! 13. [`choices`] copies rows that are selected element by element.
//! 14. [`batches`] takes back that leading axes of products were flattened, where that would need copies.
//!
//! The others make steps of it, which are the [`Plan`]:
//!
//! 1. [`views`] turns reshapes, transposes, slices and broadcasts into strides.
//! 2. [`fusion`] groups elementwise nodes into single passes over memory.
//! 3. [`rotations`] hands rotations to the products before them.
//! 4. [`assembly`] makes steps of the groups.
//! 5. [`rows`] takes rows through several steps at a time.
//! 6. [`past_caches`] says what is written past the caches.
//! 7. [`memory`] places intermediate results in one block of [`scratch`] memory, in which all plans work.

#![forbid(unsafe_code)]

mod assembly;
mod batches;
mod biases;
mod blends;
mod choices;
mod constants;
mod contractions;
mod dead_code;
mod digits;
mod element_types;
mod fusion;
mod idioms;
mod keyed_scans;
mod memory;
mod narrowing;
mod orders;
mod past_caches;
mod plan;
mod powers;
mod reading;
mod rotations;
mod row_sums;
mod rows;
mod scratch;
mod step;
mod subexpressions;
mod timing;
mod turned;
pub(crate) mod views;
mod whole_gathers;
mod wide_shifts;
mod wide_sums;

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
    let job = wide_shifts::join(&whole_gathers::join(digits::join(subexpressions::merge(&job))));
    let job = orders::join(job);
    let job = turned::reduce(&idioms::join(&powers::join(&job)));
    let job = contractions::find(&narrowing::narrow(&element_types::settle(&job)));
    let job = dead_code::remove(&job.nodes, &job.feeds, &job.targets);
    let job = row_sums::join(blends::join(biases::join(keyed_scans::join(wide_sums::join(job)))));
    let job = batches::unflatten(choices::join(job));
    let (views, works) = views::resolve(&job.nodes);
    let groups = fusion::group(&job.nodes, &views, &works);
    let mut parts = rows::join(assembly::assemble(&job, &views, &groups));
    past_caches::mark(&job, &mut parts);
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
