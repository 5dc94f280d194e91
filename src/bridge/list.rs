//! One list of recorded ops per thread, and what a flush cuts out of it.
//!
//! Threads do not share a list, because a data loader's ops between those of the training thread would make every
//! program a new one. A list's lock is held for the push of a node or a cut, never while compiling or waiting. A node's
//! inputs are made by earlier nodes of its own recording, are pending or are ready: a value that another thread has
//! recorded is flushed there before it is used here.
//!
//! A recording whose thread has ended is an orphan. Only its values keep it, and it keeps only what they depend on.

mod cut;
mod node;
mod parts;
mod seams;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::FixedState;
use smallvec::SmallVec;

pub(super) use cut::{Cut, Divided, Marks, Segment};
use node::place_of;
pub(super) use node::{Input, NewNode, Node, Refused};
pub(super) use seams::rounds;

use super::value::{Handle, State, Value};
use crate::lock::LockAnyway;
use crate::ops::Op;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Bytes from which on a value that nodes read is counted once, however many do.
const LARGE: usize = 4096;
/// Nodes and values for which a recording keeps room when it is empty, less than a megabyte.
const KEPT: usize = 2048;

/// The ops that one thread has recorded and that are not flushed yet.
pub(super) struct Recording {
    list: Mutex<List>,
    first_serial: u64,
    /// Only the recording thread changes it, under the list's lock.
    next_serial: AtomicU64,
    orphaned: AtomicBool,
}

#[derive(Default)]
struct List {
    nodes: Vec<Node>,
    /// Values that nobody has, in whose memory later ones are made.
    spare: Vec<Arc<Value>>,
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

/// Recordings whose threads have ended and that hold something.
static ORPHANS: AtomicUsize = AtomicUsize::new(0);

/// Ops that were recorded in recordings that are no more.
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// The serial numbers at which recordings that are no more have ended.
static ENDED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Whether a handle that is dropped has to look whether its value's recording is an orphan.
pub(super) fn any_orphans() -> bool {
    ORPHANS.load(Ordering::Relaxed) > 0
}

/// Ops that were recorded in recordings that are no more.
pub(super) fn recorded_before() -> u64 {
    RECORDED.load(Ordering::Relaxed)
}

impl Recording {
    pub fn new() -> Self {
        /// Serial numbers of one recording: more than a thread can record in months.
        const SERIALS: u64 = 1 << 44;
        static RECORDINGS: AtomicU64 = AtomicU64::new(0);
        // There are numbers for a million recordings at a time. A process may begin more of them, one for each thread
        // of each request, so a new one goes on where an ended one stopped.
        let ended = ENDED.lock_anyway().pop();
        let first = ended.unwrap_or_else(|| RECORDINGS.fetch_add(1, Ordering::Relaxed).wrapping_mul(SERIALS));
        Self {
            list: Mutex::default(),
            first_serial: first,
            next_serial: AtomicU64::new(first),
            orphaned: AtomicBool::new(false),
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
    pub fn push(self: &Arc<Self>, new: &mut NewNode<'_>, bounds: &Bounds) -> Result<Handle, Box<Refused>> {
        let Some(op) = &new.op else { unreachable!("an op is recorded once") };
        let hash = node::hash(op, new.scalars, &new.output);
        let mut list = self.lock();
        if std::mem::take(&mut list.full) {
            return Err(Box::new(Refused::Full(self.clone())));
        }
        let mut given = Marks::new();
        list.check_operands(op, new.inputs, &mut given)?;
        for (tensor, _) in new.inputs.iter().zip(&given).filter(|(_, given)| **given) {
            let value = &tensor.value.0;
            value.begin_use();
            list.count_read(value);
        }
        let serial = self.next_serial();
        self.next_serial.store(serial.wrapping_add(1), Ordering::Relaxed);
        list.bytes += new.output.bytes();
        let value = list.value(&new.output, self, serial);
        let handle = Handle::of_recorded(value.clone());
        let Some(op) = new.op.take() else { unreachable!("it was there above") };
        list.nodes.push(Node { op, inputs: SmallVec::new(), scalars: SmallVec::new(), value, hash, serial });
        if let Some(node) = list.nodes.last_mut() {
            node.add(new.inputs, &given, new.scalars);
        }
        list.full = list.nodes.len() >= bounds.ops || list.bytes >= bounds.bytes || list.holds(bounds.held_bytes);
        Ok(handle)
    }

    /// Recorded ops, and the bytes of buffers that only they hold.
    pub fn waiting(&self) -> (usize, usize) {
        let list = self.lock();
        (list.nodes.len(), list.held_bytes())
    }

    /// Drops the nodes whose values nobody can ask for.
    pub fn prune(&self) {
        let mut list = self.lock();
        let wanted = list.wanted();
        if !wanted.contains(&false) {
            return;
        }
        let (mut kept, mut dead) = (Vec::with_capacity(list.nodes.len()), Vec::new());
        for (node, wanted) in std::mem::take(&mut list.nodes).into_iter().zip(wanted) {
            if wanted {
                kept.push(node);
            } else {
                node.end_uses();
                list.bytes -= node.value.ty.bytes();
                dead.push(node);
            }
        }
        list.nodes = kept;
        list.full = false;
        // Other values may take the places of those that are dropped now.
        list.read.clear();
        drop(list);
        drop(dead);
    }

    /// The thread ends: what its values do not need is dropped, now and whenever the last tensor of a value is.
    pub fn orphan(&self) {
        drop(std::mem::take(&mut self.lock().spare));
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
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDED.fetch_add(self.recorded(), Ordering::Relaxed);
        ENDED.lock_anyway().push(self.next_serial());
        if *self.orphaned.get_mut() {
            ORPHANS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl List {
    /// Whether a node can read these operands, and for each whether it is given to the node, as no node here makes it.
    fn check_operands(&self, op: &Op, operands: &[&MpsGraphTensor], given: &mut Marks) -> Result<(), Box<Refused>> {
        let mut foreign: Vec<(Arc<Recording>, u64)> = Vec::new();
        for tensor in operands {
            let value = &tensor.value.0;
            let is_given = place_of(value.made_by(), &self.nodes).is_none();
            given.push(is_given);
            if !is_given {
                continue;
            }
            match &*value.lock() {
                State::Ready(_) | State::Pending(_) => (),
                State::Recorded { recording, serial } => foreign.push((recording.clone(), *serial)),
                State::Failed(error) => return Err(Box::new(Refused::Failed(State::Failed(error.clone())))),
                State::Empty => {
                    unreachable!("{}: an op over no elements is answered before it is recorded", op.name())
                }
            }
        }
        if foreign.is_empty() { Ok(()) } else { Err(Box::new(Refused::Foreign(foreign))) }
    }

    /// The value of a new node.
    fn value(&mut self, ty: &TensorType, recording: &Arc<Recording>, serial: u64) -> Arc<Value> {
        if let Some(mut spare) = self.spare.pop()
            && let Some(value) = Arc::get_mut(&mut spare)
        {
            value.become_recorded(ty, recording, serial);
            return spare;
        }
        Arc::new(Value::recorded(ty, recording, serial))
    }

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
        let given = self.nodes.iter().flat_map(|node| &node.inputs).filter_map(Input::given);
        let own = given.filter(|value| !value.held() && seen.insert(Arc::as_ptr(value)));
        own.map(|value| value.ty.bytes()).sum()
    }

    /// For each node whether a tensor can ask for its value, or another such node reads it.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted: Vec<bool> = self.nodes.iter().map(|node| node.value.wanted()).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if wanted[at] {
                for producer in node.inputs.iter().filter_map(|input| input.place_in(&self.nodes)) {
                    wanted[producer] = true;
                }
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests;
