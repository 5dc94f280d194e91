//! One list of recorded ops per thread, and where it is cut.
//!
//! Threads do not share a list, because a data loader's ops between those of the training thread would make every
//! program a new one. A recording's lock is held for the push of a node or the cut of a prefix, never while compiling
//! or waiting. A node's inputs are made by earlier nodes of its own recording or are ready: a value that another thread
//! has recorded but not flushed is flushed there (up to its producer) before it is used here. What a thread leaves
//! behind when it ends stays recorded as long as a tensor holds a value of it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use super::flush::FlushReason;
use super::runtime::Runtime;
use super::value::{Handle, State, Value};
use crate::lock::LockAnyway;
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;
use burn_backend::Shape;

/// The number of ops that are compared to find where an earlier segment began.
const PATTERN: usize = 12;
/// The number of segment beginnings that are remembered.
const PATTERNS: usize = 8;

/// An operand as the node sees it: the value under a shape of as many elements.
pub(super) struct Input {
    pub value: Arc<Value>,
    pub shape: Shape,
}

/// A recorded op.
pub(super) struct Node {
    pub op: Op,
    pub inputs: SmallVec<[Input; 3]>,
    pub scalars: SmallVec<[ScalarInput; 2]>,
    pub value: Arc<Value>,
}

/// The ops that one thread has recorded and that are not flushed yet.
pub(super) struct Recording {
    list: Mutex<List>,
}

struct List {
    nodes: VecDeque<Node>,
    /// Serial number of the first node.
    base: u64,
    /// Bytes that the nodes' values would take.
    bytes: usize,
    /// How earlier segments that were cut at a bound began, newest last.
    beginnings: VecDeque<Vec<(Op, TensorType)>>,
}

/// A prefix taken out of a recording; `wanted[i]` tells whether a tensor or a later node can still ask for node `i`'s
/// value.
pub(super) struct Segment {
    pub nodes: Vec<Node>,
    pub wanted: Vec<bool>,
}

impl Recording {
    fn new() -> Self {
        let list = List { nodes: VecDeque::new(), base: 0, bytes: 0, beginnings: VecDeque::new() };
        Self { list: Mutex::new(list) }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock_anyway()
    }

    /// Takes out the nodes up to and including serial number `upto` (all if `None`); `None` if they are gone already.
    pub fn cut(&self, upto: Option<u64>) -> Option<Segment> {
        let mut list = self.lock();
        let count = match upto {
            None => list.nodes.len(),
            Some(serial) => (serial + 1).saturating_sub(list.base) as usize,
        };
        if count == 0 {
            return None;
        }
        let nodes: Vec<Node> = list.nodes.drain(..count).collect();
        list.base += count as u64;
        for node in &nodes {
            list.bytes -= node.value.ty.bytes();
            node.inputs.iter().for_each(|input| input.value.end_use());
        }
        let wanted = nodes.iter().map(|node| node.value.wanted()).collect();
        Some(Segment { nodes, wanted })
    }

    /// Drops all nodes if no tensor holds any of their values. Returns whether nothing is left.
    pub fn forget_unheld(&self) -> bool {
        let mut list = self.lock();
        if list.nodes.iter().any(|node| node.value.held()) {
            return false;
        }
        list.base += list.nodes.len() as u64;
        list.bytes = 0;
        let forgotten = std::mem::take(&mut list.nodes);
        drop(list);
        forgotten.iter().flat_map(|node| &node.inputs).for_each(|input| input.value.end_use());
        true
    }

    /// Serial number of the last node to flush when a bound is reached: where an earlier segment began, so that a loop
    /// that never reads is cut at the same place of its body each time and its programs repeat; else everything.
    fn bound_cut(&self) -> Option<u64> {
        let mut list = self.lock();
        let List { nodes, beginnings, base, .. } = &mut *list;
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
            .map(|at| *base + at as u64 - 1)
    }
}

/// Gives the thread's recording to the runtime when the thread ends.
struct Current(Arc<Recording>);

impl Drop for Current {
    fn drop(&mut self) {
        if !self.0.forget_unheld() {
            Runtime::get().adopt(self.0.clone());
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

thread_local! {
    static EAGER: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with every op of this thread compiled and run by itself as soon as it is recorded, as
/// `BURN_MPSGRAPH_EAGER=1` does everywhere: for finding the op that goes wrong.
pub fn eagerly<R>(work: impl FnOnce() -> R) -> R {
    /// Restores the setting, also when `work` panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            EAGER.set(self.0);
        }
    }
    let _before = Before(EAGER.replace(true));
    work()
}

/// The calling thread's recording.
pub(super) fn current() -> Arc<Recording> {
    CURRENT
        .try_with(|current| current.borrow_mut().get_or_insert_with(|| Current(Arc::new(Recording::new()))).0.clone())
        // The thread is ending and its list is gone: an op recorded by another thread-local's destructor gets a list of
        // its own, which the value keeps alive until it is read.
        .unwrap_or_else(|_| Arc::new(Recording::new()))
}

/// Records an op on the calling thread and returns its value, which is computed when it is needed.
///
/// `output` is the value's shape and dtype. A value without elements is not recorded.
///
/// # Panics
/// With [`Error::Unsupported`](crate::Error::Unsupported)'s text if a tensor of `output`'s size cannot exist on the
/// device.
pub(crate) fn record(
    op: Op,
    inputs: &[&MpsGraphTensor],
    scalars: &[ScalarInput],
    output: TensorType,
) -> MpsGraphTensor {
    let runtime = Runtime::get();
    if let Err(error) = runtime.check_size(op.name(), &output) {
        error.raise();
    }
    if output.elements() == 0 {
        return MpsGraphTensor::new(Handle::of(output, State::Empty));
    }
    let recording = current();
    for input in inputs {
        if let Some((other, serial)) = input.value.0.recorded_in()
            && !Arc::ptr_eq(&other, &recording)
        {
            runtime.flush(&other, Some(serial), FlushReason::OtherThread);
        }
        match input.value.0.state() {
            State::Recorded { .. } | State::Ready(_) => {}
            State::Failed(error) => {
                return MpsGraphTensor::new(Handle::of(output, State::Failed(error)));
            }
            State::Empty => unreachable!("{}: an op over no elements is answered before it is recorded", op.name()),
        }
    }
    let inputs = inputs
        .iter()
        .map(|input| {
            input.value.0.begin_use();
            Input { value: input.value.0.clone(), shape: input.shape.clone() }
        })
        .collect();
    let bytes = output.bytes();
    let (handle, full) = {
        let mut list = recording.lock();
        let serial = list.base + list.nodes.len() as u64;
        let state = State::Recorded { recording: recording.clone(), serial };
        let value = Arc::new(Value::new(output, state));
        list.nodes.push_back(Node { op, inputs, scalars: scalars.into(), value: value.clone() });
        list.bytes += bytes;
        (Handle::new(value), runtime.over_bound(list.nodes.len(), list.bytes))
    };
    runtime.count_recorded();
    if runtime.eager() || EAGER.get() {
        runtime.flush(&recording, None, FlushReason::Eager);
    } else if full {
        let upto = recording.bound_cut();
        runtime.flush(&recording, upto, FlushReason::Bound);
    }
    MpsGraphTensor::new(handle)
}
