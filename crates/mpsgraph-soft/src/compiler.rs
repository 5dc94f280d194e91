//! Compiles a graph to a plan that runs on this machine.
//!
//! [`compile`] runs the passes one after the other: drop nodes that no target needs ([`dead_code`]), merge nodes that
//! compute the same value ([`subexpressions`]), add integers whole that are added digit by digit ([`digits`]), make
//! one operation of a power by squaring ([`powers`]) and of other compositions ([`idioms`]), take casts to larger
//! types out of what needs none ([`narrowing`]), sum products without a table of them ([`contractions`]), make one
//! kernel of a scan and the conversions around it ([`keyed_scans`]), hand biases to convolutions ([`biases`]), turn
//! reshapes, transposes, slices and broadcasts into strides ([`views`]), group elementwise nodes into single passes
//! over memory ([`fusion`]), hand rotations to the products before them ([`rotations`]), make steps of the groups
//! ([`assembly`]), take rows through several steps at a time ([`rows`]) and place intermediate results in one block of
//! scratch memory ([`memory`]). The [`Plan`] is a list of steps; all plans work in the same [`scratch`] memory.

mod assembly;
mod biases;
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
mod plan;
mod powers;
mod rotations;
mod rows;
mod scratch;
mod step;
mod subexpressions;
mod timing;
mod views;

pub use plan::Plan;
pub use scratch::scratch_held;
pub use timing::{StepTime, time_steps};

use crate::ir::{Nodes, ValueId};

/// Makes the plan that computes `targets` from `feeds`. A fed value is not computed, also if its node is not a
/// placeholder.
///
/// Panics if a target needs a placeholder that is not fed.
pub fn compile(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> Plan {
    let job = dead_code::remove(nodes, feeds, targets);
    let job = digits::join(subexpressions::merge(&job));
    let job = contractions::find(&narrowing::narrow(&idioms::join(&powers::join(&job))));
    let job = dead_code::remove(&job.nodes, &job.feeds, &job.targets);
    let job = biases::join(keyed_scans::join(job));
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

#[cfg(test)]
mod tests;
