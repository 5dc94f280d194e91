//! The recording of a thread: the list of its recorded ops, and what a flush cuts out of it.
//!
//! Threads do not share a recording, because a data loader's ops between those of the training thread would make every
//! program a new one. Its lock is held for the push of a node or a cut, never while compiling or waiting. A node's
//! inputs are made by earlier nodes of its own recording, are pending or are ready: a value that another thread has
//! recorded is flushed there before it is used here.

mod beginnings;
mod cut;
mod given;
mod node;
mod nodes;
mod owner;
mod pieces;
mod seams;
mod wanted;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::FixedState;

use beginnings::Beginnings;
pub(super) use cut::{Cut, Marks, Segment};
use given::Given;
use node::place_of;
pub(super) use node::{Input, NewNode, Node, Refused};
use nodes::Nodes;
pub(super) use owner::any_orphans;
use owner::{Holdings, Owner};
pub(super) use pieces::pieces;
pub(super) use seams::rounds;

use super::novelty::Novelty;
use super::value::{Handle, State, Value};
use crate::lock::LockAnyway;
use crate::ops::Op;
use crate::tensor::MpsGraphTensor;

/// Bytes from which on a value that nodes read is counted once, however many do.
const LARGE: usize = 4096;

/// The ops that one thread has recorded and that are not flushed yet.
pub(super) struct Recording {
    list: Mutex<List>,
    first_serial: u64,
    /// Only the recording thread changes it, under the list's lock.
    next_serial: AtomicU64,
    /// Whether it has an owner, for who looks at all recordings.
    in_use: AtomicBool,
    /// What was flushed of it lately.
    pub novelty: Mutex<Novelty>,
}

#[derive(Default)]
struct List {
    owner: Owner,
    nodes: Nodes,
    /// Bytes that the nodes' values would take.
    bytes: usize,
    /// Bytes of values that are not made here which the nodes read; small ones are counted at each reading.
    read_bytes: usize,
    /// The addresses of the large ones of those values.
    read: HashSet<usize, FixedState>,
    /// The `read_bytes` at which it is worth looking how much the recording really holds.
    next_look: usize,
    /// A bound is reached: flushed before the next op.
    full: bool,
    /// What it is counted to keep, if its thread has ended.
    holdings: Holdings,
    beginnings: Beginnings,
}

/// When a recording is flushed although nobody asks for a value.
pub(super) struct Bounds {
    pub ops: usize,
    /// Of the values that the recorded ops make.
    pub bytes: usize,
    /// Of buffers that only the recorded ops hold, if these are not [a few large ones](HELD_OF_LARGEST).
    pub held_bytes: usize,
}

/// How many buffers of the largest size recorded ops may hold. An optimizer's update reads a weight, its moments and
/// its gradient, and is one kernel unless it is cut; cutting it saves no memory, because it makes as many.
const HELD_OF_LARGEST: usize = 4;

impl Recording {
    fn with_first_serial(first_serial: u64) -> Self {
        Self {
            list: Mutex::default(),
            first_serial,
            next_serial: AtomicU64::new(first_serial),
            in_use: AtomicBool::new(false),
            novelty: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock_anyway()
    }

    /// The serial number of the next node.
    pub fn next_serial(&self) -> u64 {
        self.next_serial.load(Ordering::Relaxed)
    }

    /// The number of ops that were ever recorded here.
    pub fn recorded(&self) -> u64 {
        self.next_serial().wrapping_sub(self.first_serial)
    }

    /// Appends a node and returns its value, unless a bound is reached. The node that reaches it is still appended, and
    /// the next one refused: by then the operands of the former, which its caller held meanwhile, are mostly dropped,
    /// so they need not be computed for somebody who could ask for them.
    pub fn push(&'static self, new: &mut NewNode<'_>, bounds: &Bounds) -> Result<Handle, Box<Refused>> {
        let Some(op) = &new.op else { unreachable!("an op is recorded once") };
        let hash = node::hash(op, new.scalars, &new.output);
        let mut list = self.lock();
        if std::mem::take(&mut list.full) {
            return Err(Box::new(Refused::Full(self)));
        }
        let mut given = Marks::new();
        list.check_operands(op, new.inputs, &mut given)?;
        for (tensor, _) in new.inputs.iter().zip(&given).filter(|(_, given)| **given) {
            list.count_read(&tensor.value.0);
        }
        let serial = self.next_serial();
        self.next_serial.store(serial.wrapping_add(1), Ordering::Relaxed);
        list.bytes += new.bytes;
        let node = list.nodes.push(new, &given, hash, (self, serial));
        let handle = Handle::of_recorded(node.value.clone());
        list.full = list.nodes.len() >= bounds.ops || list.bytes >= bounds.bytes || list.holds(bounds.held_bytes);
        Ok(handle)
    }

    /// Recorded ops, and the bytes of buffers that only they hold.
    pub fn waiting(&self) -> (usize, usize) {
        let list = self.lock();
        (list.nodes.len(), list.held_bytes().0)
    }

    /// Drops the nodes whose values nobody can ask for.
    pub fn prune(&'static self) {
        let mut list = self.lock();
        let dead = list.take_unwanted();
        list.count_orphan();
        self.give_away(&mut list);
        drop(list);
        drop(dead);
    }
}

impl List {
    /// Whether a node can read these operands, and for each whether it is given to the node, as no node here makes it.
    fn check_operands(&self, op: &Op, operands: &[&MpsGraphTensor], given: &mut Marks) -> Result<(), Box<Refused>> {
        let mut foreign = Vec::new();
        for tensor in operands {
            let value = &tensor.value.0;
            let is_given = place_of(value.made_by(), &self.nodes).is_none();
            given.push(is_given);
            if !is_given || value.is_submitted() {
                continue;
            }
            match &*value.lock() {
                State::Ready(_) | State::Pending(_) => (),
                State::Recorded => foreign.extend(value.maker()),
                State::Failed(error) => return Err(Box::new(Refused::Failed(State::Failed(error.clone())))),
                State::Empty => {
                    unreachable!("{}: an op over no elements is answered before it is recorded", op.name())
                }
            }
        }
        if foreign.is_empty() { Ok(()) } else { Err(Box::new(Refused::Foreign(foreign))) }
    }

    /// Counts a value that a new node reads and that is not made here.
    fn count_read(&mut self, value: &Arc<Value>) {
        let bytes = value.bytes();
        // Many slices of one large tensor are no reason to look often.
        if bytes < LARGE || self.read.insert(Arc::as_ptr(value).addr()) {
            self.read_bytes += bytes;
        }
    }

    /// Counts what the nodes read that is given to them, after others were cut.
    fn count_reads_again(&mut self) {
        (self.read_bytes, self.next_look, self.full) = (0, 0, false);
        self.read.clear();
        let nodes = std::mem::take(&mut self.nodes);
        nodes.iter().flat_map(|node| &node.inputs).filter_map(Input::given).for_each(|value| self.count_read(value));
        self.nodes = nodes;
    }

    /// Whether the nodes hold so many bytes that nobody else holds.
    ///
    /// Looking costs a walk over the nodes, so it is done only when a quarter of the bound has been read since the last
    /// look.
    fn holds(&mut self, bound: usize) -> bool {
        if self.next_look == 0 {
            self.next_look = bound;
        }
        if self.read_bytes < self.next_look {
            return false;
        }
        let (held, largest) = self.held_bytes();
        let bound = bound.max(largest.saturating_mul(HELD_OF_LARGEST));
        self.next_look = self.read_bytes.saturating_add(bound.saturating_sub(held).max(bound / 4).max(1));
        held >= bound
    }

    /// Bytes of values that only the nodes here have, and that none of them makes: of all, and of the largest.
    fn held_bytes(&self) -> (usize, usize) {
        let given = Given::to(&self.nodes);
        given.own().fold((0, 0), |(all, largest), value| (all + value.bytes(), largest.max(value.bytes())))
    }

    /// Takes out the nodes whose values nobody can ask for.
    fn take_unwanted(&mut self) -> Vec<Node> {
        let wanted = self.wanted();
        if !wanted.contains(&false) {
            return Vec::new();
        }
        let (mut kept, mut dead) = (Vec::with_capacity(self.nodes.len()), Vec::new());
        for (node, wanted) in std::mem::take(&mut self.nodes).into_iter().zip(wanted) {
            if wanted {
                kept.push(node);
            } else {
                self.bytes -= node.value.bytes();
                dead.push(node);
            }
        }
        self.nodes = kept.into();
        self.full = false;
        // Other values may take the places of those that are dropped now.
        self.read.clear();
        dead
    }

    /// For each node whether a tensor can ask for its value, or another such node reads it.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted: Vec<bool> = self.nodes.iter().map(Node::is_asked_for).collect();
        self.nodes.mark_needed(&mut wanted);
        wanted
    }
}

#[cfg(test)]
mod tests;
