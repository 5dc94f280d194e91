//! One list of recorded ops per thread, and what a flush cuts out of it.
//!
//! Threads do not share a list, because a data loader's ops between those of the training thread would make every
//! program a new one. A list's lock is held for the push of a node or a cut, never while compiling or waiting. A node's
//! inputs are made by earlier nodes of its own recording, are pending or are ready: a value that another thread has
//! recorded is flushed there before it is used here.
//!
//! A recording whose thread has ended is an orphan. Only its values keep it, and it keeps only what they depend on.

mod parts;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use parts::{Parts, consumed, was_wanted};

use super::ticket::Ticket;
use super::value::{State, Value};
use crate::lock::LockAnyway;
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use crate::tensor_type::TensorType;
use burn_backend::Shape;

/// The number of ops that are compared to find where an earlier segment began.
const PATTERN: usize = 12;
/// Bytes from which on a value that nodes read is counted once, however many do.
const LARGE: usize = 4096;
/// Nodes for which a recording keeps room when it is empty, a megabyte.
const KEPT: usize = 2048;
/// The number of segment beginnings that are remembered.
const PATTERNS: usize = 8;

/// An operand as the node sees it: the value under a shape of as many elements.
pub(super) struct Input {
    pub value: Arc<Value>,
    pub shape: Shape,
    /// The node that makes the value, if it was in the same recording when this one was recorded.
    pub producer: Option<u64>,
}

/// Hashes of a node's op, output and kinds of scalars.
#[derive(Clone, Copy)]
pub(super) struct Hashes {
    pub own: u64,
    /// Wherever the op's region starts.
    pub anywhere: u64,
}

/// A recorded op.
pub(super) struct Node {
    pub op: Op,
    pub inputs: SmallVec<[Input; 3]>,
    pub scalars: SmallVec<[ScalarInput; 2]>,
    pub value: Arc<Value>,
    pub hashes: Hashes,
    /// Ascending within a recording, and different in all recordings.
    pub serial: u64,
}

/// The ops that one thread has recorded and that are not flushed yet.
pub(super) struct Recording {
    list: Mutex<List>,
    /// Only the recording thread changes it, under the list's lock.
    next_serial: AtomicU64,
    orphaned: AtomicBool,
}

#[derive(Default)]
struct List {
    nodes: VecDeque<Node>,
    /// Bytes that the nodes' values would take.
    bytes: usize,
    /// Bytes of values that are not made here which the nodes read; small ones are counted at each reading.
    read_bytes: usize,
    /// The addresses of the large ones of those values.
    read: HashSet<usize, FixedState>,
    /// The `read_bytes` at which it is worth looking how much the recording really holds.
    next_look: usize,
    /// How the segments began that were cut at a bound since the last flush of everything, newest last.
    beginnings: VecDeque<Vec<(Op, TensorType)>>,
}

/// When a recording is flushed although nobody asks for a value.
pub(super) struct Bounds {
    pub ops: usize,
    /// Of the values that the recorded ops make.
    pub bytes: usize,
    /// Of buffers that only the recorded ops hold.
    pub held_bytes: usize,
}

/// A mark for each node of a segment; those of a short one need no memory of their own.
pub(super) type Marks = SmallVec<[bool; 16]>;

/// What a flush takes out of recordings, in the order in which it was recorded.
pub(super) struct Segment {
    pub nodes: Vec<Node>,
    /// For each node whether a tensor or a node that stays recorded can still ask for its value. These values are
    /// pending.
    pub wanted: Marks,
}

/// Which nodes of a recording are cut.
pub(super) enum Cut<'a> {
    Everything,
    /// Up to and including this node.
    Upto(u64),
    /// What belongs to these nodes: of the nodes up to the last of them those that share a recorded value with them,
    /// directly or through others. This depends neither on how far the thread has come meanwhile nor on unrelated work
    /// that a scheduler gave it.
    Parts(&'a [u64]),
}

/// Recordings whose threads have ended and that hold something.
static ORPHANS: AtomicUsize = AtomicUsize::new(0);

/// Whether a handle that is dropped has to look whether its value's recording is an orphan.
pub(super) fn any_orphans() -> bool {
    ORPHANS.load(Ordering::Relaxed) > 0
}

impl Recording {
    pub fn new() -> Self {
        /// Serial numbers of one recording: more than a thread can record in years.
        const SERIALS: u64 = 1 << 44;
        static RECORDINGS: AtomicU64 = AtomicU64::new(0);
        let first = RECORDINGS.fetch_add(1, Ordering::Relaxed).wrapping_mul(SERIALS);
        Self { list: Mutex::default(), next_serial: AtomicU64::new(first), orphaned: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock_anyway()
    }

    /// The serial number of the next node.
    pub fn next_serial(&self) -> u64 {
        self.next_serial.load(Ordering::Relaxed)
    }

    /// Appends a node. `value` makes its value from its serial number. Returns the value, and whether the recording has
    /// reached a bound.
    pub fn push(
        &self,
        op: Op,
        inputs: SmallVec<[Input; 3]>,
        scalars: SmallVec<[ScalarInput; 2]>,
        hashes: Hashes,
        bounds: &Bounds,
        value: impl FnOnce(u64) -> Arc<Value>,
    ) -> (Arc<Value>, bool) {
        let mut list = self.lock();
        let serial = self.next_serial.fetch_add(1, Ordering::Relaxed);
        let value = value(serial);
        list.bytes += value.ty.bytes();
        inputs.iter().filter(|input| input.producer.is_none()).for_each(|input| list.count_read(&input.value));
        list.nodes.push_back(Node { op, inputs, scalars, value: value.clone(), hashes, serial });
        let full = list.nodes.len() >= bounds.ops || list.bytes >= bounds.bytes || list.holds(bounds.held_bytes);
        (value, full)
    }

    /// Recorded ops, and the bytes of buffers that only they hold.
    pub fn waiting(&self) -> (usize, usize) {
        let list = self.lock();
        (list.nodes.len(), list.held_bytes())
    }

    /// Takes nodes out; `None` if there is nothing to take. Values that can still be asked for become pending on
    /// `ticket`.
    pub fn cut(&self, cut: Cut<'_>, ticket: &Arc<Ticket>) -> Option<Segment> {
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
        for node in &nodes {
            list.bytes -= node.value.ty.bytes();
            node.inputs.iter().for_each(|input| input.value.end_use());
        }
        (list.read_bytes, list.next_look) = (0, 0);
        list.read.clear();
        let mut wanted: Marks = nodes.iter().map(|node| node.value.wanted()).collect();
        let consumed = consumed(&nodes, &asked);
        for ((node, wanted), asked) in nodes.iter().zip(&mut wanted).zip(asked) {
            *wanted = *wanted || was_wanted(&node.value, asked, &consumed);
        }
        for (node, _) in nodes.iter().zip(&wanted).filter(|(_, wanted)| **wanted) {
            node.value.set_state(State::Pending(ticket.clone()));
        }
        Some(Segment { nodes, wanted })
    }

    /// Drops what was cut, and keeps the memory that it was in for later nodes: making room for many takes longer than
    /// recording them.
    pub fn take_back(&self, mut nodes: Vec<Node>) {
        nodes.clear();
        if nodes.capacity() <= KEPT {
            let mut list = self.lock();
            if list.nodes.capacity() < nodes.capacity() {
                nodes.extend(list.nodes.drain(..));
                list.nodes = nodes.into();
            }
        }
    }

    /// Drops the nodes whose values nobody can ask for.
    pub fn prune(&self) {
        let mut dead = Vec::new();
        let mut list = self.lock();
        if list.nodes.iter().all(|node| node.value.wanted()) {
            return;
        }
        let mut kept = VecDeque::with_capacity(list.nodes.len());
        while let Some(node) = list.nodes.pop_back() {
            if node.value.wanted() {
                kept.push_front(node);
            } else {
                node.inputs.iter().for_each(|input| input.value.end_use());
                list.bytes -= node.value.ty.bytes();
                dead.push(node);
            }
        }
        list.nodes = kept;
        // Other values may take the places of those that are dropped now.
        list.read.clear();
        drop(list);
        drop(dead);
    }

    /// The thread ends: what its values do not need is dropped, now and whenever the last tensor of a value is.
    pub fn orphan(&self) {
        self.prune();
        // Without nodes there is nothing to release later.
        if !self.lock().nodes.is_empty() {
            ORPHANS.fetch_add(1, Ordering::Relaxed);
            self.orphaned.store(true, Ordering::Release);
            // A tensor may have been dropped since.
            self.prune();
        }
    }

    /// Drops what nobody can ask for if the recording's thread has ended.
    pub fn release_if_orphaned(&self) {
        if self.orphaned.load(Ordering::Acquire) {
            self.prune();
        }
    }

    /// What to flush when a bound is reached: up to where an earlier segment began, so that a loop that never reads is
    /// cut at the same place of its body each time and its programs repeat; else everything. Only segments since the
    /// thread's last read count, so a loop that reads is cut the same way each time.
    pub fn bound_cut(&self) -> Cut<'static> {
        let mut list = self.lock();
        let List { nodes, beginnings, .. } = &mut *list;
        let own: Vec<_> = nodes.iter().take(PATTERN).map(|n| (n.op.clone(), n.value.ty.clone())).collect();
        if !beginnings.contains(&own) {
            if beginnings.len() == PATTERNS {
                beginnings.pop_front();
            }
            beginnings.push_back(own);
        }
        let begins = |at: usize, pattern: &[(Op, TensorType)]| {
            pattern.iter().zip(nodes.range(at..)).all(|((op, ty), node)| node.op == *op && node.value.ty == *ty)
        };
        (1..=nodes.len().saturating_sub(PATTERN))
            .rev()
            .find(|&at| beginnings.iter().any(|pattern| begins(at, pattern)))
            .map_or(Cut::Upto(u64::MAX), |at| Cut::Upto(nodes[at - 1].serial))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if *self.orphaned.get_mut() {
            ORPHANS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl List {
    /// Counts a value that a new node reads and that is not made here.
    fn count_read(&mut self, value: &Arc<Value>) {
        let bytes = value.ty.bytes();
        // Many slices of one large tensor are no reason to look often.
        if bytes < LARGE || self.read.insert(Arc::as_ptr(value).addr()) {
            self.read_bytes += bytes;
        }
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
        let held = self.held_bytes();
        self.next_look = self.read_bytes.saturating_add(bound.saturating_sub(held).max(bound / 4).max(1));
        held >= bound
    }

    /// Bytes of values that the nodes read, that are not made by recorded nodes, and that no tensor holds.
    fn held_bytes(&self) -> usize {
        let mut seen: HashSet<*const Value, FixedState> = HashSet::default();
        let inputs = self.nodes.iter().flat_map(|node| &node.inputs);
        let given = inputs.filter(|input| input.producer.is_none_or(|producer| self.place(producer).is_none()));
        let own = given.filter(|input| !input.value.held() && seen.insert(Arc::as_ptr(&input.value)));
        own.map(|input| input.value.ty.bytes()).sum()
    }

    fn take_first(&mut self, count: usize) -> Vec<Node> {
        // What stays is little.
        let rest = self.nodes.split_off(count.min(self.nodes.len()));
        std::mem::replace(&mut self.nodes, rest).into()
    }

    fn place(&self, serial: u64) -> Option<usize> {
        let (front, back) = self.nodes.as_slices();
        place_of(serial, front).or_else(|| Some(front.len() + place_of(serial, back)?))
    }

    /// The nodes that belong to those with these serial numbers, and for each the last of those that it belongs to.
    fn take_parts(&mut self, serials: &[u64]) -> (Vec<Node>, Vec<u64>) {
        let asked: SmallVec<[usize; 4]> = serials.iter().filter_map(|&serial| self.place(serial)).collect();
        let Some(&last) = asked.iter().max() else {
            return (Vec::new(), Vec::new());
        };
        let mut parts = Parts::new(last + 1);
        for (at, node) in self.nodes.range(..=last).enumerate() {
            for producer in node.inputs.iter().filter_map(|input| self.place(input.producer?)) {
                parts.join(at, producer);
            }
        }
        // By each part's first node, the last of its nodes that was asked for.
        let mut last_asked = vec![None; last + 1];
        for at in asked {
            let part = parts.of(at);
            last_asked[part] = last_asked[part].max(Some(self.nodes[at].serial));
        }
        let asked_of: Vec<Option<u64>> = (0..=last).map(|at| last_asked[parts.of(at)]).collect();
        let (mut nodes, mut left) = (Vec::new(), VecDeque::with_capacity(self.nodes.len()));
        for (at, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            match asked_of.get(at) {
                Some(Some(_)) => nodes.push(node),
                Some(None) | None => left.push_back(node),
            }
        }
        self.nodes = left;
        (nodes, asked_of.into_iter().flatten().collect())
    }
}

/// Where the node with this serial number is among nodes in ascending order.
pub(super) fn place_of(serial: u64, nodes: &[Node]) -> Option<usize> {
    // Without a cut of parts there are no gaps.
    let guess = serial.checked_sub(nodes.first()?.serial)? as usize;
    if nodes.get(guess).is_some_and(|node| node.serial == serial) {
        return Some(guess);
    }
    nodes.binary_search_by_key(&serial, |node| node.serial).ok()
}

#[cfg(test)]
mod tests;
