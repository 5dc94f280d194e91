//! A value: the data of a tensor, computed or not.
//!
//! A value is recorded (a node of a recording will make it), ready (in a buffer, or being written by submitted work),
//! empty (it has no elements and is never on the device) or failed. It counts the tensors that hold it and the recorded
//! nodes that read it; when both are zero it cannot be asked for any more, so a flush does not compute it.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::pool::Allocation;
use super::recording::Recording;
use crate::error::Error;
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

/// Where a value's data is.
#[derive(Clone)]
pub(super) enum State {
    /// No elements; there is nothing to compute or to store.
    Empty,
    /// The node at `serial` of `recording` will make it.
    Recorded { recording: Arc<Recording>, serial: u64 },
    /// In a buffer once the submission that writes it is done.
    Ready(Arc<Allocation>),
    /// The work that should have made it could not be submitted.
    Failed(Error),
}

/// The shared part of all tensors with the same data.
pub(super) struct Value {
    pub ty: TensorType,
    state: Mutex<State>,
    /// Tensors that hold the value.
    handles: AtomicUsize,
    /// Recorded nodes, not yet flushed, that read it.
    uses: AtomicUsize,
    /// Scratch for the current flush, which holds the submission lock: the flush's number and the value's index in it.
    slot: AtomicU64,
}

impl Value {
    pub fn new(ty: TensorType, state: State) -> Self {
        Self {
            ty,
            state: Mutex::new(state),
            handles: AtomicUsize::new(0),
            uses: AtomicUsize::new(0),
            slot: AtomicU64::new(0),
        }
    }

    pub fn state(&self) -> State {
        self.state.lock_anyway().clone()
    }

    pub fn set_state(&self, state: State) {
        *self.state.lock_anyway() = state;
    }

    /// The recording that has yet to make the value, and where in it.
    pub fn recorded_in(&self) -> Option<(Arc<Recording>, u64)> {
        match &*self.state.lock_anyway() {
            State::Recorded { recording, serial } => Some((recording.clone(), *serial)),
            State::Empty | State::Ready(_) | State::Failed(_) => None,
        }
    }

    /// Counts one more recorded node that reads the value.
    pub fn begin_use(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// The node has left its recording.
    pub fn end_use(&self) {
        self.uses.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a tensor or a recorded node can still ask for the value.
    ///
    /// Exact while the lock of the value's recording is held: a node can only be recorded by a thread that holds a
    /// tensor of the value, and recording takes that lock before the tensor is dropped.
    pub fn wanted(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0 || self.uses.load(Ordering::Relaxed) > 0
    }

    /// Whether a tensor holds the value now.
    pub fn held(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    pub fn is_ready(&self) -> bool {
        matches!(&*self.state.lock_anyway(), State::Ready(_))
    }

    /// Index given by [`Value::set_slot`] in flush `epoch`, if any.
    pub fn slot(&self, epoch: u32) -> Option<u32> {
        let slot = self.slot.load(Ordering::Relaxed);
        (slot >> 32 == u64::from(epoch)).then_some(slot as u32)
    }

    pub fn set_slot(&self, epoch: u32, index: u32) {
        self.slot.store(u64::from(epoch) << 32 | u64::from(index), Ordering::Relaxed);
    }
}

/// A tensor's handle of a value; as long as one exists, the value can be asked for.
pub(crate) struct Handle(pub(super) Arc<Value>);

impl Handle {
    /// The first handle of a new value.
    pub(super) fn of(ty: TensorType, state: State) -> Self {
        Self::new(Arc::new(Value::new(ty, state)))
    }

    /// One more handle of a value.
    pub(super) fn new(value: Arc<Value>) -> Self {
        value.handles.fetch_add(1, Ordering::Relaxed);
        Self(value)
    }

    /// The value's own type; a tensor may see it with another shape of as many elements.
    pub fn ty(&self) -> &TensorType {
        &self.0.ty
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.handles.fetch_sub(1, Ordering::Release);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.state() {
            State::Empty => "empty",
            State::Recorded { .. } => "recorded",
            State::Ready(_) => "in a buffer",
            State::Failed(_) => "failed",
        })
    }
}
