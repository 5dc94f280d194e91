//! A value: the data of a tensor, computed or not.
//!
//! A value is recorded (a node of a recording will make it), pending (a flush under way makes it), ready (in a buffer,
//! or being written by submitted work), empty (it has no elements and is never on the device) or failed. Whoever can
//! ask for it has a reference: the tensors that hold it, and the recorded nodes that read it from elsewhere than the
//! recording that makes it; which of its own nodes read it, a recording knows. What none of these asks for, a flush
//! does not compute. Counts and locks that threads share are most of what recording an op costs, so there are few.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard};

use burn_backend::DType;

use super::pool::Allocation;
use super::recording::{self, Recording};
use super::ticket::Ticket;
use crate::error::Error;
use crate::lock::{IgnorePoison, LockAnyway};
use crate::tensor_type::{TensorType, shape};

/// Where a value's data is.
#[derive(Clone)]
pub(super) enum State {
    /// No elements; there is nothing to compute or to store.
    Empty,
    /// Its [maker](Value::maker) will make it.
    Recorded,
    /// The flush with this ticket makes it, or has panicked before it could.
    Pending(Arc<Ticket>),
    /// In a buffer once the submission that writes it is done.
    Ready(Arc<Allocation>),
    /// The work that should have made it could not be submitted.
    Failed(Box<Error>),
}

/// The node that makes a value: its recording and its serial number.
pub(super) type Maker = (&'static Recording, u64);

/// The shared part of all tensors with the same data.
pub(super) struct Value {
    pub ty: TensorType,
    /// Of its elements.
    bytes: usize,
    /// The node that makes or has made it; of none if it was uploaded, or never computed.
    maker: Option<Maker>,
    state: Mutex<State>,
    /// Whether the state is pending or ready, for who need not know more.
    submitted: AtomicBool,
    /// The serial number that its recording would have given next when the last tensor was dropped.
    dropped_before: AtomicU64,
}

/// What there is of a value that somebody asks for.
enum Data {
    /// No flush makes it any more; none if it has no elements.
    Settled(Result<Option<Arc<Allocation>>, Error>),
    /// The flush with this ticket is making it.
    UnderWay(Arc<Ticket>),
}

/// The serial number of no node.
const NO_NODE: u64 = u64::MAX;

impl State {
    fn is_submitted(&self) -> bool {
        match self {
            Self::Pending(_) | Self::Ready(_) => true,
            Self::Empty | Self::Recorded | Self::Failed(_) => false,
        }
    }
}

impl Value {
    fn new(ty: TensorType, bytes: usize, state: State, maker: Option<Maker>) -> Self {
        let submitted = AtomicBool::new(state.is_submitted());
        Self { ty, bytes, maker, state: Mutex::new(state), submitted, dropped_before: AtomicU64::new(0) }
    }

    /// A value without elements, to be made another one before anybody gets it.
    pub fn unused() -> Self {
        Self::new(TensorType::new(DType::F32, shape(&[0])), 0, State::Empty, None)
    }

    /// Gives up what `own` holds: its data, if nobody else has the value, so that the value can be used for another
    /// node; otherwise the value itself, and an unused one takes its place.
    pub fn free(own: &mut Arc<Self>) {
        if Self::holders(own) > 1 {
            *own = Arc::new(Self::unused());
        } else if own.is_submitted() {
            own.set_state(State::Empty);
        }
    }

    /// Becomes a value that this node will make. `ty` is its type, and becomes another one. [`Handle::of_recorded`] has
    /// to be called once.
    pub fn become_recorded(&mut self, ty: &mut TensorType, bytes: usize, maker: Maker) {
        // Each field where it is: as a whole it would be copied.
        std::mem::swap(&mut self.ty, ty);
        self.bytes = bytes;
        self.maker = Some(maker);
        *self.state.get_mut().ignore_poison() = State::Recorded;
        *self.submitted.get_mut() = false;
        *self.dropped_before.get_mut() = 0;
    }

    /// Packed size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The node that makes or has made the value; `None` if it was uploaded, or never computed.
    pub fn maker(&self) -> Option<Maker> {
        self.maker
    }

    /// The serial number of the node that makes or has made the value, or of none.
    pub fn made_by(&self) -> u64 {
        self.maker.map_or(NO_NODE, |(_, serial)| serial)
    }

    /// Whether a program that is submitted from now on may read the value: it is pending or ready.
    pub fn is_submitted(&self) -> bool {
        self.submitted.load(Ordering::Acquire)
    }

    /// The state, locked.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock_anyway()
    }

    pub fn set_state(&self, state: State) {
        let mut now = self.lock();
        self.submitted.store(state.is_submitted(), Ordering::Release);
        let before = std::mem::replace(&mut *now, state);
        drop(now);
        // Dropped after the lock: it may be the last reference to a buffer.
        drop(before);
    }

    /// The data, once no flush is making the value. `Ok(None)` if the value has no elements.
    ///
    /// The value must not be recorded.
    pub async fn settled(&self) -> Result<Option<Arc<Allocation>>, Error> {
        loop {
            match self.data() {
                Data::Settled(data) => return data,
                Data::UnderWay(ticket) => ticket.ended().await,
            }
        }
    }

    /// As [`Self::settled`], for a caller that may block.
    pub fn settle(&self) -> Result<Option<Arc<Allocation>>, Error> {
        loop {
            match self.data() {
                Data::Settled(data) => return data,
                Data::UnderWay(ticket) => ticket.wait(),
            }
        }
    }

    fn data(&self) -> Data {
        match &*self.lock() {
            State::Empty => Data::Settled(Ok(None)),
            State::Ready(allocation) => Data::Settled(Ok(Some(allocation.clone()))),
            State::Failed(error) => Data::Settled(Err((**error).clone())),
            State::Pending(ticket) => match ticket.left_pending() {
                Some(error) => Data::Settled(Err(error)),
                None => Data::UnderWay(ticket.clone()),
            },
            State::Recorded => unreachable!("a value that is asked for is flushed first"),
        }
    }

    /// The node that has yet to make the value.
    pub fn recorded_in(&self) -> Option<Maker> {
        match &*self.lock() {
            State::Recorded => self.maker,
            State::Empty | State::Pending(_) | State::Ready(_) | State::Failed(_) => None,
        }
    }

    /// How many have the value: tensors, nodes that are given it, and the node that makes it until its segment is
    /// dropped. Who sees that somebody has given it up sees what that one did before.
    pub fn holders(value: &Arc<Self>) -> usize {
        let holders = Arc::strong_count(value);
        // With the release of whoever gave it up.
        fence(Ordering::Acquire);
        holders
    }

    /// The serial number of the first node that was recorded after the last tensor of the value was dropped, or will
    /// be.
    pub fn dropped_before(&self) -> u64 {
        self.dropped_before.load(Ordering::Relaxed)
    }
}

/// A tensor's handle of a value; as long as one exists, the value can be asked for.
#[derive(Clone)]
pub(crate) struct Handle(pub(super) Arc<Value>, Afterwards);

/// What is done when a handle has given up its value.
#[derive(Default)]
struct Afterwards(Option<&'static Recording>);

impl Handle {
    /// The first handle of a new value.
    pub(super) fn of(ty: TensorType, state: State) -> Self {
        let bytes = ty.bytes();
        Self(Arc::new(Value::new(ty, bytes, state, None)), Afterwards::default())
    }

    /// The first handle of a [recorded](Value::become_recorded) value.
    pub(super) fn of_recorded(value: Arc<Value>) -> Self {
        Self(value, Afterwards::default())
    }

    /// The value's own type; a tensor may see it with another shape of as many elements.
    pub fn ty(&self) -> &TensorType {
        &self.0.ty
    }
}

impl Clone for Afterwards {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let value = &self.0;
        let Some((recording, _)) = value.maker else { return };
        let holders = Arc::strong_count(value);
        // This one and the node. Noted first: who sees no handle must see when the last was dropped.
        if holders <= 2 {
            value.dropped_before.store(recording.next_serial(), Ordering::Relaxed);
        }
        // Also if there are more handles, which other threads may be dropping.
        if !value.is_submitted() {
            self.1.0 = Some(recording);
        }
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        if let Some(recording) = self.0
            && recording::any_orphans()
        {
            recording.prune_if_orphaned();
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &*self.0.lock() {
            State::Empty => "empty",
            State::Recorded => "recorded",
            State::Pending(_) => "being submitted",
            State::Ready(_) => "in a buffer",
            State::Failed(_) => "failed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::ticket::End;

    /// A flush that panics also fails the values of parts that it has not begun.
    #[test]
    fn a_flush_that_panics_fails_what_is_pending() {
        let ticket = Arc::<Ticket>::default();
        let handle = Handle::of(TensorType::new(DType::F32, shape(&[2])), State::Pending(ticket.clone()));
        Ticket::end(&ticket, End::Panicked("for a test".into()));
        let error = handle.0.settle().err().expect("it was not made").to_string();
        assert!(error.contains("panicked: for a test"), "{error}");
    }
}
