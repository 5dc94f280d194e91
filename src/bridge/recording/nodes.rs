//! Recorded nodes, and places for later ones.

use std::ops::{Deref, DerefMut};

use super::node::{NewNode, Node};
use crate::bridge::value::{Maker, Value};

/// Places that are kept for later nodes, less than a megabyte.
pub(super) const KEPT: usize = 2048;

/// Nodes in the order in which they were recorded, and behind them places in which later ones are written, each with a
/// value that nobody has: making room takes longer than recording.
#[derive(Default)]
pub(in crate::bridge) struct Nodes {
    places: Vec<Node>,
    len: usize,
}

impl Nodes {
    /// Appends a node; `given` says for each operand whether it is given to the node.
    pub(super) fn push(&mut self, new: &mut NewNode<'_>, given: &[bool], hash: u64, maker: Maker) -> &Node {
        let Some(op) = new.op.take() else { unreachable!("an op is recorded once") };
        match self.places.get_mut(self.len) {
            Some(free) => free.op = op,
            None => self.places.push(Node::unwritten(op)),
        }
        let node = &mut self.places[self.len];
        self.len += 1;
        node.write(new, given, hash, maker);
        node
    }

    /// The nodes from `at` on, with the free places.
    pub fn split_off(&mut self, at: usize) -> Self {
        let rest = Self { places: self.places.split_off(at), len: self.len - at };
        self.len = at;
        rest
    }

    /// Marks what the marked nodes need.
    pub fn mark_needed(&self, marks: &mut [bool]) {
        for (at, node) in self.iter().enumerate().rev() {
            if marks[at] {
                node.inputs.iter().filter_map(|input| input.place_in(self)).for_each(|maker| marks[maker] = true);
            }
        }
    }

    /// Drops the nodes, but keeps their places and the values that nobody else has.
    pub fn free(&mut self) {
        self.places.truncate(KEPT);
        self.places.shrink_to(KEPT);
        for node in self.places.iter_mut().take(self.len) {
            node.inputs.clear();
            Value::free(&mut node.value);
        }
        self.len = 0;
    }

    /// Takes the free places out.
    pub fn take_places(&mut self) -> Vec<Node> {
        self.places.split_off(self.len)
    }

    /// Takes over free places.
    pub fn add_places(&mut self, mut free: Self) {
        if self.places.is_empty() {
            *self = free;
        } else {
            let room = KEPT.saturating_sub(self.places.len());
            self.places.extend(free.places.drain(..).take(room));
        }
    }

    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.places.len()
    }
}

impl Deref for Nodes {
    type Target = [Node];

    fn deref(&self) -> &[Node] {
        &self.places[..self.len]
    }
}

impl DerefMut for Nodes {
    fn deref_mut(&mut self) -> &mut [Node] {
        &mut self.places[..self.len]
    }
}

impl From<Vec<Node>> for Nodes {
    fn from(places: Vec<Node>) -> Self {
        let len = places.len();
        Self { places, len }
    }
}

impl IntoIterator for Nodes {
    type Item = Node;
    type IntoIter = std::iter::Take<std::vec::IntoIter<Node>>;

    fn into_iter(self) -> Self::IntoIter {
        self.places.into_iter().take(self.len)
    }
}
