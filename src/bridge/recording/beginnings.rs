//! Where a recording is cut that has reached a bound: so that a loop is cut at the same places of its body each time,
//! and its programs repeat.
//!
//! Nodes are compared by op and type. What was cut since the last flush of everything is remembered. A list that begins
//! like a remembered one is cut as that was; one that ends like a remembered one begins, before that end. Bodies of
//! other shapes each time are cut at seams, or where a few nodes are like the first ones of a remembered list.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::node::Node;

/// The fewest nodes by which a beginning is recognised.
const BEGINNING: usize = 12;
/// The most cuts that are remembered.
const PAST_CUTS: usize = 32;

/// The cuts at a bound since the last flush of everything, newest last.
#[derive(Default)]
pub(super) struct Beginnings(VecDeque<PastCut>);

/// A list of nodes that was cut at a bound.
struct PastCut {
    /// A hash of each node of the list, also of those that were not cut.
    nodes: Vec<u64>,
    /// How many of them were cut.
    cut: usize,
}

impl Beginnings {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many of these nodes are cut; `seam` finds where a round ends by the values that go across.
    pub fn cut(&mut self, nodes: &[Node], seam: impl FnOnce() -> Option<usize>) -> usize {
        let hash = |node: &Node| FixedState::default().hash_one((&node.op, &node.value.ty));
        self.cut_hashes(nodes.iter().map(hash).collect(), seam)
    }

    fn cut_hashes(&mut self, nodes: Vec<u64>, seam: impl FnOnce() -> Option<usize>) -> usize {
        let cut = self.cut_before(&nodes).unwrap_or_else(|| self.new_cut(&nodes, seam));
        // Another thread may have taken all nodes meanwhile.
        if !nodes.is_empty() && !self.0.iter().any(|past| past.nodes == nodes) {
            if self.0.len() == PAST_CUTS {
                self.0.pop_front();
            }
            self.0.push_back(PastCut { nodes, cut });
        }
        cut
    }

    /// How much of them a list was cut that began like this one. Small parts of it are no sign: layers are alike.
    fn cut_before(&self, nodes: &[u64]) -> Option<usize> {
        let least = nodes.len() / 4;
        let alike = self.0.iter().filter(|past| past.cut > least && nodes.starts_with(&past.nodes[..past.cut]));
        alike.map(|past| past.cut).max()
    }

    /// Where a list is cut that did not begin like a remembered one.
    fn new_cut(&self, nodes: &[u64], seam: impl FnOnce() -> Option<usize>) -> usize {
        let overlaps = self.overlaps(nodes);
        // Where the nodes begin to be the first ones of a remembered list, up to their end; of the oldest such list.
        let beginning_at_the_end = |least: usize| {
            let overlap = overlaps.iter().find(|&&overlap| overlap >= least.max(BEGINNING));
            overlap.map(|overlap| nodes.len() - overlap)
        };
        // A short end may be like a beginning by chance.
        beginning_at_the_end(nodes.len() / 4)
            .or_else(seam)
            .or_else(|| beginning_at_the_end(BEGINNING))
            .or_else(|| last_round(nodes))
            .or_else(|| self.similar_beginning(nodes))
            .unwrap_or(nodes.len())
    }

    /// How many of the last nodes are the first ones of each remembered list of which much was cut, oldest first: where
    /// layers are alike, small parts follow small parts.
    fn overlaps(&self, nodes: &[u64]) -> Vec<usize> {
        let long = self.0.iter().filter(|past| past.cut > past.nodes.len() / 4);
        long.map(|past| overlap(&past.nodes, nodes)).collect()
    }

    /// The last place, not near the front, where nodes are like the first ones of this or a remembered list.
    fn similar_beginning(&self, nodes: &[u64]) -> Option<usize> {
        let least = BEGINNING.max(nodes.len() / 4);
        let begins = |at: usize, beginning: &[u64]| {
            beginning.get(..BEGINNING).is_some_and(|beginning| nodes[at..].starts_with(beginning))
        };
        (least..=nodes.len().saturating_sub(BEGINNING))
            .rev()
            .find(|&at| begins(at, nodes) || self.0.iter().any(|past| begins(at, &past.nodes)))
    }
}

/// Where the last whole round ends, if the nodes are two rounds of a loop at least.
fn last_round(nodes: &[u64]) -> Option<usize> {
    let round = nodes.len() - borders(nodes).last()?;
    (2 * round <= nodes.len()).then(|| nodes.len() / round * round)
}

/// For each number of first nodes the most of them, not all, that are also their last ones.
fn borders(nodes: &[u64]) -> Vec<usize> {
    let mut borders = vec![0; nodes.len()];
    let mut matched = 0;
    for at in 1..nodes.len() {
        while matched > 0 && nodes[at] != nodes[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(nodes[at] == nodes[matched]);
        borders[at] = matched;
    }
    borders
}

/// The most first nodes of `beginning` that are the last ones of `nodes`, fewer than all of those.
fn overlap(beginning: &[u64], nodes: &[u64]) -> usize {
    if beginning.is_empty() {
        return 0;
    }
    let borders = borders(beginning);
    let mut matched = 0;
    for &node in nodes.get(1..).unwrap_or_default() {
        while matched > 0 && (matched == beginning.len() || node != beginning[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(node == beginning[matched]);
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where in its body a loop over these nodes is cut after a while, which is recorded in lists of 2048 behind some
    /// other nodes.
    fn places(body: &[u64], before: usize) -> Vec<usize> {
        let node = |at: usize| if at < before { 1000 + at as u64 } else { body[(at - before) % body.len()] };
        let (mut beginnings, mut at, mut places) = (Beginnings::default(), 0, Vec::new());
        for _ in 0..200 {
            at += beginnings.cut_hashes((at..at + 2048).map(node).collect(), || None);
            places.push(at);
        }
        let mut places: Vec<usize> = places[100..].iter().map(|at| (at - before) % body.len()).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// `layers` layers forward, and back, and their updates: alike each time.
    fn model(layers: usize) -> Vec<u64> {
        let part = |first: u64, nodes: u64| std::iter::repeat_n(first..first + nodes, layers).flatten();
        part(100, 3).chain([1, 2, 3]).chain(part(200, 5)).chain(part(300, 26)).collect()
    }

    #[test]
    fn loops_of_any_length_are_cut_at_few_places() {
        for layers in (1..70).chain([90, 119, 120, 121, 122, 130, 150, 181, 200, 400]) {
            let body = model(layers);
            for before in [0, 7, 500, 3000] {
                let places = places(&body, before);
                let most = 2 * body.len().div_ceil(2048) + 1;
                assert!(places.len() <= most, "{layers} layers, {} nodes after {before}: {places:?}", body.len());
            }
        }
    }
}
