//! Compiles a graph to a plan that runs on this machine.
//!
//! [`compile`] first makes a graph of fewer or cheaper nodes, by the [`PASSES`]. Then it makes steps of the nodes,
//! which are the [`Plan`]: views need none, and elementwise nodes share them. Each pass is a file of its own, which
//! says what the pass looks for, what it puts there, and why no bit changes, or which bits may.

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
mod inner_parts;
mod keyed_scans;
mod masks;
mod memory;
mod narrowing;
mod orders;
mod past_caches;
mod plan;
mod positions;
mod powers;
mod products;
mod reading;
mod rotations;
mod row_sums;
mod rows;
mod scratch;
mod step;
mod subexpressions;
mod timing;
mod turned;
mod turned_factors;
pub(crate) mod views;
mod whole_filters;
mod whole_gathers;
mod wide_shifts;
mod wide_sums;

pub use plan::Plan;
pub use scratch::{give_scratch_back, scratch_held};
pub use timing::{StepTime, time_steps};

use crate::ir::{Node, Nodes, ValueId};

/// What makes nodes fewer or cheaper, in the order in which it is applied: some recognise only what earlier ones have
/// made.
const PASSES: [fn(Job) -> Job; 25] = [
    // Equal values are computed once.
    subexpressions::merge,
    // What a cast drops needs no mask before it.
    masks::remove,
    // Integers that are added digit by digit are added whole.
    digits::join,
    // 64-bit integers that are moved or shifted in halves are moved and shifted whole.
    whole_gathers::join,
    wide_shifts::join,
    // Orders that are found digit by digit are found at once.
    orders::join,
    // One operation takes the place of a product of 64-bit integers, of a power by squaring, and of other compositions.
    products::join,
    powers::join,
    idioms::join,
    // Products that are cut into parts of the inner extent are whole.
    inner_parts::join,
    // Reductions work along the axis that a transposition makes the last one.
    turned::remove,
    // What kernels have no loops for gets casts; then casts to larger types leave what needs none.
    element_types::cast,
    narrowing::narrow,
    // Positions of extremes are found without comparisons of all elements with the extreme.
    positions::join,
    // Products are summed without a table of them.
    contractions::join,
    // Some passes behind this one count how often a value is read, so what nothing reads any more goes first.
    dead_code::remove,
    // Small integers are summed as 64-bit ones without being stored as such.
    wide_sums::join,
    // A scan and the conversions around it are one kernel.
    keyed_scans::join,
    // Convolutions of single positions are products; the others add their biases.
    whole_filters::join,
    biases::join,
    // Weighted rows, and products of floats, are summed without a table of them.
    blends::join,
    row_sums::join,
    // Rows that are selected element by element are copied.
    choices::join,
    // Factors that are made of a turned matrix are made as it lies.
    turned_factors::turn,
    // Products get their flattened leading axes back where the flat ones would need copies.
    batches::unflatten,
];

/// Makes the plan that computes `targets` from `feeds`. A fed value is not computed, also if its node is not a
/// placeholder.
///
/// Panics if a target needs a placeholder that is not fed.
pub fn compile(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> Plan {
    let job = PASSES.iter().fold(dead_code::needed(nodes, feeds, targets), |job, pass| pass(job));
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
        if joined { dead_code::needed(&nodes, &self.feeds, &self.targets) } else { self }
    }
}

#[cfg(test)]
mod tests;
