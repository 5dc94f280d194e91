//! What a flush takes out of a recording.

use std::sync::Arc;

use smallvec::SmallVec;

use super::node::{Node, place_of};
use super::nodes::Nodes;
use super::seams::seams;
use super::wanted::{consumed, was_wanted};
use super::{List, Owner, Recording};
use crate::bridge::disjoint_sets::DisjointSets;
use crate::bridge::ticket::Ticket;
use crate::bridge::value::State;

/// A mark for each node of a segment; those of a short one need no memory of their own.
pub(in crate::bridge) type Marks = SmallVec<[bool; 16]>;

/// What a flush takes out of recordings, in the order in which it was recorded.
pub(in crate::bridge) struct Segment {
    pub nodes: Nodes,
    /// For each node whether a tensor or a node that stays recorded can still ask for its value. These values are
    /// pending.
    pub wanted: Marks,
}

impl Segment {
    /// Parts that begin at these nodes, which are [`dividing`](Self::dividing), and a first one before them, without
    /// what nobody can ask for. What a later part reads of an earlier one is wanted there, and becomes pending on
    /// `ticket`.
    pub fn divide(self, begins: &[usize], ticket: &Arc<Ticket>) -> Vec<Self> {
        let (Self { mut nodes, mut wanted }, at) = self.without_unneeded(begins);
        for reader in at.first().copied().unwrap_or(nodes.len())..nodes.len() {
            // The part that the reader is in.
            let first = at[at.partition_point(|&begin| begin <= reader) - 1];
            let (earlier, later) = nodes.split_at_mut(first);
            for input in &mut later[reader - first].inputs {
                let Some(maker) = input.place_in(earlier) else { continue };
                let value = &earlier[maker].value;
                if !std::mem::replace(&mut wanted[maker], true) {
                    value.set_state(State::Pending(ticket.clone()));
                }
                input.give(value);
            }
        }
        let mut parts = Vec::with_capacity(at.len() + 1);
        for &begin in at.iter().rev() {
            parts.push(Self { nodes: nodes.split_off(begin), wanted: wanted.drain(begin..).collect() });
        }
        parts.push(Self { nodes, wanted });
        parts.reverse();
        parts
    }

    /// Of the nodes that would begin parts, those that divide what wanted nodes need.
    pub fn dividing(&self, begins: Vec<usize>) -> Vec<usize> {
        let mut needed = self.wanted.clone();
        self.nodes.mark_needed(&mut needed);
        let (mut dividing, mut from) = (Vec::new(), 0);
        for begin in begins {
            if needed[from..begin].contains(&true) && needed[begin..].contains(&true) {
                dividing.push(begin);
                from = begin;
            }
        }
        dividing
    }

    /// The segment without nodes that no wanted one needs, and where among those that are left parts begin that began
    /// at these. A program has no such nodes, but in a part of a segment all would run whose values another part reads.
    fn without_unneeded(self, begins: &[usize]) -> (Self, Vec<usize>) {
        let Self { nodes, wanted } = self;
        let mut needed = wanted.clone();
        nodes.mark_needed(&mut needed);
        // For each node how many before it are left.
        let mut count = 0;
        let left = needed.iter().map(|&needed| {
            count += usize::from(needed);
            count - usize::from(needed)
        });
        let left: Vec<usize> = left.collect();
        let begins: Vec<usize> = begins.iter().map(|&begin| left[begin]).collect();
        if count == needed.len() {
            return (Self { nodes, wanted }, begins);
        }
        let nodes: Vec<Node> =
            nodes.into_iter().zip(&needed).filter(|(_, needed)| **needed).map(|(node, _)| node).collect();
        let wanted = wanted.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(wanted, _)| wanted).collect();
        (Self { nodes: nodes.into(), wanted }, begins)
    }
}

/// Which nodes of a recording are cut.
pub(in crate::bridge) enum Cut<'a> {
    Everything,
    /// Up to and including this node.
    Upto(u64),
    /// What belongs to these nodes: of the nodes up to the last of them those that share a recorded value with them,
    /// directly or through others. This depends neither on how far the thread has come meanwhile nor on unrelated work
    /// that a scheduler gave it.
    Parts(&'a [u64]),
}

impl Recording {
    /// Takes nodes out; `None` if there is nothing to take. Values that can still be asked for become pending on
    /// `ticket`.
    pub fn cut(&'static self, cut: Cut<'_>, ticket: &Arc<Ticket>) -> Option<Segment> {
        let mut list = self.lock();
        let mut asked = Vec::new();
        let nodes = match cut {
            Cut::Everything => {
                // What follows is cut as it was after the last such flush.
                list.beginnings.clear();
                list.take_first(usize::MAX)
            }
            Cut::Upto(serial) => {
                let count = list.nodes.partition_point(|node| node.serial <= serial);
                list.take_first(count)
            }
            Cut::Parts(serials) => {
                let (nodes, asked_of) = list.take_parts(serials);
                asked = asked_of;
                nodes
            }
        };
        if nodes.is_empty() {
            return None;
        }
        list.bytes -= nodes.iter().map(|node| node.value.bytes()).sum::<usize>();
        let mut wanted: Marks = nodes.iter().map(Node::is_asked_for).collect();
        list.leave(&nodes, &mut wanted);
        list.count_reads_again();
        let consumed = consumed(&nodes, &asked);
        for ((node, wanted), asked) in nodes.iter().zip(&mut wanted).zip(asked) {
            *wanted = *wanted || was_wanted(&node.value, asked, &consumed);
        }
        for (node, _) in nodes.iter().zip(&wanted).filter(|(_, wanted)| **wanted) {
            node.value.set_state(State::Pending(ticket.clone()));
        }
        list.count_orphan();
        self.give_away(&mut list);
        Some(Segment { nodes, wanted })
    }

    /// Drops what was cut, and keeps the places for later nodes.
    pub fn take_back(&self, mut nodes: Nodes) {
        nodes.free();
        let mut list = self.lock();
        if list.owner == Owner::Thread {
            list.nodes.add_places(nodes);
        }
    }

    /// What to flush when a bound is reached: as [`Beginnings`](super::beginnings::Beginnings) say. Only segments since
    /// the last flush of everything count, so a loop that reads is cut the same way each time.
    pub fn bound_cut(&self) -> Cut<'static> {
        let mut list = self.lock();
        let List { nodes, beginnings, .. } = &mut *list;
        let cut = beginnings.cut(nodes, || {
            let wanted: Marks = nodes.iter().map(Node::is_asked_for).collect();
            // A small part would leave the list at its bound.
            seams(nodes, &wanted).last().copied().filter(|&seam| seam > nodes.len() / 4)
        });
        Cut::Upto(nodes[..cut].last().map_or(u64::MAX, |last| last.serial))
    }

    /// Whether something was cut at a bound since the last flush of everything.
    pub fn is_cut_at_bound(&self) -> bool {
        !self.lock().beginnings.is_empty()
    }
}

impl List {
    fn take_first(&mut self, count: usize) -> Nodes {
        if count >= self.nodes.len() {
            return std::mem::take(&mut self.nodes);
        }
        // What stays is little.
        let rest = self.nodes.split_off(count);
        std::mem::replace(&mut self.nodes, rest)
    }

    /// Nodes that stay keep what they read of those that were cut, which is wanted for them.
    fn leave(&mut self, cut: &[Node], wanted: &mut [bool]) {
        for input in self.nodes.iter_mut().flat_map(|node| &mut node.inputs) {
            if let Some(at) = input.place_in(cut) {
                wanted[at] = true;
                input.give(&cut[at].value);
            }
        }
    }

    /// The nodes that belong to those with these serial numbers, and for each the last of those that it belongs to.
    fn take_parts(&mut self, serials: &[u64]) -> (Nodes, Vec<u64>) {
        let place = |serial: u64| place_of(serial, &self.nodes);
        let asked: SmallVec<[usize; 4]> = serials.iter().filter_map(|&serial| place(serial)).collect();
        let Some(&last) = asked.iter().max() else {
            return (Nodes::default(), Vec::new());
        };
        let mut parts = DisjointSets::new(last + 1);
        for (at, node) in self.nodes[..=last].iter().enumerate() {
            for producer in node.inputs.iter().filter_map(|input| place(input.producer()?)) {
                parts.join(at, producer);
            }
        }
        // By the node that stands for each part, the last of its nodes that was asked for.
        let mut last_asked = vec![None; last + 1];
        for at in asked {
            let part = parts.of(at);
            last_asked[part] = last_asked[part].max(Some(self.nodes[at].serial));
        }
        let asked_of: Vec<Option<u64>> = (0..=last).map(|at| last_asked[parts.of(at)]).collect();
        let (mut nodes, mut left) = (Vec::new(), Vec::with_capacity(self.nodes.len()));
        for (at, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            match asked_of.get(at) {
                Some(Some(_)) => nodes.push(node),
                Some(None) | None => left.push(node),
            }
        }
        self.nodes = left.into();
        (nodes.into(), asked_of.into_iter().flatten().collect())
    }
}
