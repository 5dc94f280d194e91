//! A value: the data of a tensor, computed or not.
//!
//! A value is recorded (a node of a recording will make it), pending (a flush under way makes it), ready (in a buffer,
//! or being written by submitted work), empty (it has no elements and is never on the device) or failed. It counts the
//! tensors that hold it, and the recorded nodes that read it from elsewhere than the recording that makes it; which of
//! its own nodes read it, a recording knows. What none of these asks for, a flush does not compute.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burn_std::future::block_on;

use super::list::{self, Recording};
use super::pool::Allocation;
use super::ticket::Ticket;
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
    /// The flush with this ticket makes it.
    Pending(Arc<Ticket>),
    /// In a buffer once the submission that writes it is done.
    Ready(Arc<Allocation>),
    /// The work that should have made it could not be submitted.
    Failed(Box<Error>),
}

/// The shared part of all tensors with the same data.
pub(super) struct Value {
    pub ty: TensorType,
    /// The serial number of the node that makes or has made it, or [`NO_NODE`].
    made_by: u64,
    state: Mutex<State>,
    /// Tensors that hold the value.
    handles: AtomicU32,
    /// Recorded nodes, not yet flushed, that read it and are not in one recording with the node that makes it.
    uses: AtomicU32,
    /// The serial number that its recording would have given next when the last tensor was dropped.
    dropped_before: AtomicU64,
}

/// The serial number of no node.
const NO_NODE: u64 = u64::MAX;

impl Value {
    /// A value with its first handle.
    fn new(ty: TensorType, state: State, made_by: u64) -> Self {
        Self {
            ty,
            made_by,
            state: Mutex::new(state),
            handles: AtomicU32::new(1),
            uses: AtomicU32::new(0),
            dropped_before: AtomicU64::new(0),
        }
    }

    /// A value that the node at `serial` will make. [`Handle::of_recorded`] has to be called once.
    pub fn recorded(ty: &TensorType, recording: &Arc<Recording>, serial: u64) -> Self {
        Self::new(ty.copied(), State::Recorded { recording: recording.clone(), serial }, serial)
    }

    /// As [`Self::recorded`], in the place of a value that nobody has.
    pub fn become_recorded(&mut self, ty: &TensorType, recording: &Arc<Recording>, serial: u64) {
        // Each field where it is: as a whole it would be copied.
        self.ty.set(ty);
        self.made_by = serial;
        *self.state.get_mut().unwrap_or_else(PoisonError::into_inner) =
            State::Recorded { recording: recording.clone(), serial };
        *self.handles.get_mut() = 1;
        *self.uses.get_mut() = 0;
        *self.dropped_before.get_mut() = 0;
    }

    /// The serial number of the node that makes or has made the value, or of none.
    pub fn made_by(&self) -> u64 {
        self.made_by
    }

    /// Whether a node makes or has made it; else it was uploaded, or never computed.
    pub fn is_of_node(&self) -> bool {
        self.made_by != NO_NODE
    }

    /// Drops the data. Only for a value that nobody has.
    pub fn clear(&mut self) {
        *self.state.get_mut().unwrap_or_else(PoisonError::into_inner) = State::Empty;
    }

    /// The state, locked.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock_anyway()
    }

    pub fn set_state(&self, state: State) {
        let before = std::mem::replace(&mut *self.lock(), state);
        // Dropped after the lock: it may be the last reference to a recording.
        drop(before);
    }

    /// The data, once no flush is making the value. `Ok(None)` if the value has no elements.
    ///
    /// The value must not be recorded.
    pub async fn settled(&self) -> Result<Option<Arc<Allocation>>, Error> {
        loop {
            match self.data() {
                Ok(data) => return data,
                Err(ticket) => ticket.ended().await,
            }
        }
    }

    /// As [`Self::settled`], for a caller that may block.
    pub fn settle(&self) -> Result<Option<Arc<Allocation>>, Error> {
        loop {
            match self.data() {
                Ok(data) => return data,
                Err(ticket) => block_on(ticket.ended()),
            }
        }
    }

    /// The data, or the ticket of the flush that is making it.
    fn data(&self) -> Result<Result<Option<Arc<Allocation>>, Error>, Arc<Ticket>> {
        match &*self.lock() {
            State::Empty => Ok(Ok(None)),
            State::Ready(allocation) => Ok(Ok(Some(allocation.clone()))),
            State::Failed(error) => Ok(Err((**error).clone())),
            State::Pending(ticket) => Err(ticket.clone()),
            State::Recorded { .. } => unreachable!("a value that is asked for is flushed first"),
        }
    }

    /// The recording that has yet to make the value, and where in it.
    pub fn recorded_in(&self) -> Option<(Arc<Recording>, u64)> {
        match &*self.lock() {
            State::Recorded { recording, serial } => Some((recording.clone(), *serial)),
            State::Empty | State::Pending(_) | State::Ready(_) | State::Failed(_) => None,
        }
    }

    /// Counts one more node that reads the value and is not in one recording with the node that makes it.
    pub fn begin_use(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// The node has left its recording.
    pub fn end_use(&self) {
        self.uses.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a tensor can still ask for the value, or a recorded node that is not in one recording with the node that
    /// makes it.
    ///
    /// Exact while the lock of the value's recording is held: a node can only be recorded by a thread that holds a
    /// tensor of the value, and recording takes that lock before the tensor is dropped.
    pub fn wanted(&self) -> bool {
        self.held() || self.uses.load(Ordering::Relaxed) > 0
    }

    /// The serial number of the first node that was recorded after the last tensor of the value was dropped, or will
    /// be.
    pub fn dropped_before(&self) -> u64 {
        self.dropped_before.load(Ordering::Relaxed)
    }

    /// Whether a tensor holds the value now.
    pub fn held(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }
}

/// A tensor's handle of a value; as long as one exists, the value can be asked for.
pub(crate) struct Handle(pub(super) Arc<Value>);

impl Handle {
    /// The first handle of a new value.
    pub(super) fn of(ty: TensorType, state: State) -> Self {
        Self(Arc::new(Value::new(ty, state, NO_NODE)))
    }

    /// The first handle of a [recorded](Value::recorded) value.
    pub(super) fn of_recorded(value: Arc<Value>) -> Self {
        Self(value)
    }

    /// The value's own type; a tensor may see it with another shape of as many elements.
    pub fn ty(&self) -> &TensorType {
        &self.0.ty
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        self.0.handles.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let value = &self.0;
        if value.handles.load(Ordering::Acquire) == 1 {
            // Noted first: who sees no handle must see when the last was dropped.
            let state = value.lock();
            if let State::Recorded { recording, .. } = &*state {
                value.dropped_before.store(recording.next_serial(), Ordering::Relaxed);
            }
        }
        if value.handles.fetch_sub(1, Ordering::Release) == 1
            && list::any_orphans()
            && let Some((recording, _)) = value.recorded_in()
        {
            recording.release_if_orphaned();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &*self.0.lock() {
            State::Empty => "empty",
            State::Recorded { .. } => "recorded",
            State::Pending(_) => "being submitted",
            State::Ready(_) => "in a buffer",
            State::Failed(_) => "failed",
        })
    }
}
