//! Where one round of a loop ends among recorded nodes.
//!
//! A seam is a place across which no more values go than across any later one, and behind which there are more. A
//! training step ends so, with its parameters and the optimizer's moments, and an evaluated batch, with its sums: what
//! comes next adds activations. A cut there leaves few values between programs, and rounds of one kind are one program,
//! whatever rounds of other shapes come between.
//!
//! An unfinished round adds values at many places, and all of them look like seams. So only those count that are
//! between the same two kinds of ops as the seam with the fewest values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::given::Given;
use super::node::{Input, Node};
use crate::bridge::value::Value;

/// The numbers of the nodes that begin another round, ascending. `wanted` says of each node's value whether something
/// else than these nodes can ask for it.
pub(super) fn seams(nodes: &[Node], wanted: &[bool]) -> Vec<usize> {
    let across = across(nodes, wanted);
    let mut least = across[nodes.len()];
    let mut seams = Vec::new();
    for at in (1..nodes.len()).rev() {
        if across[at] <= least && across[at + 1] > across[at] {
            seams.push(at);
        }
        least = least.min(across[at]);
    }
    seams.reverse();
    let kinds = |at: usize| (nodes[at - 1].op.name(), nodes[at].op.name());
    let mut counts: HashMap<_, usize, FixedState> = HashMap::default();
    seams.iter().for_each(|&at| *counts.entry(kinds(at)).or_default() += 1);
    // Later seams have as many values or more.
    let fewest = seams.iter().take_while(|&&at| across[at] == across[seams[0]]);
    if let Some(kind) = fewest.max_by_key(|&&at| (counts[&kinds(at)], at)).map(|&at| kinds(at)) {
        seams.retain(|&at| kinds(at) == kind);
    }
    seams
}

/// The seams between rounds of one loop; none if these nodes are one round, such as a step of a model of many blocks:
/// each block has parameters of its own, but all rounds of a loop read those that the first one reads, or what became
/// of them. A round may have seams of its own, as one of two models has.
pub(in crate::bridge) fn rounds(nodes: &[Node], wanted: &[bool]) -> Vec<usize> {
    let seams = seams(nodes, wanted);
    // One place alone may be the end of anything.
    let [_, .., last] = seams[..] else { return Vec::new() };
    // What is uploaded for a round is dropped behind it; the caller may have that of the last round still.
    let all = Given::to(nodes);
    let stays = |value: &Arc<Value>, at: usize| value.maker().is_some() || at < last && all.is_held(value);
    let mut known: HashSet<*const Value, FixedState> = HashSet::default();
    let mut reads_new = 0;
    for (at, node) in nodes.iter().enumerate() {
        for value in node.inputs.iter().filter_map(Input::given).filter(|value| stays(value, at)) {
            if known.insert(Arc::as_ptr(value)) {
                reads_new = at;
            }
        }
    }
    // The first round ends behind what reads something new, and there is another one.
    let seams_of_one = seams.iter().take_while(|&&seam| seam <= reads_new).count() + 1;
    if 2 * seams_of_one <= seams.len() { seams } else { Vec::new() }
}

/// How many values go across the place before each node, and behind the last one.
fn across(nodes: &[Node], wanted: &[bool]) -> Vec<isize> {
    let end = nodes.len();
    let mut last_read: Vec<usize> = (0..end).map(|at| if wanted[at] { end } else { at }).collect();
    // Values of earlier nodes, such as parameters, count from the beginning on; what is uploaded does not, because that
    // of all rounds may have been here before the first.
    let given = Given::to(nodes);
    let mut earlier: HashMap<*const Value, usize, FixedState> = HashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        for input in &node.inputs {
            if let Some(producer) = input.place_in(nodes) {
                last_read[producer] = last_read[producer].max(at);
            } else if let Some(value) = input.given().filter(|value| value.maker().is_some()) {
                earlier.insert(Arc::as_ptr(value), if given.is_held(value) { end } else { at });
            }
        }
    }
    let mut change = vec![0_isize; end + 2];
    let made = last_read.iter().enumerate().map(|(at, &last)| (at + 1, last));
    for (first, last) in made.chain(earlier.values().map(|&last| (0, last))) {
        change[first] += 1;
        change[last + 1] -= 1;
    }
    let sums = change.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum)
    });
    sums.take(end + 1).collect()
}
