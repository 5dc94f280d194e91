//! The calling thread's recording, all recordings, and running op by op.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;

use super::list::Recording;
use crate::lock::LockAnyway;

/// Every recording that a thread or a value still has.
static RECORDINGS: Mutex<Vec<Weak<Recording>>> = Mutex::new(Vec::new());

fn new_recording() -> Arc<Recording> {
    let recording = Arc::new(Recording::new());
    let mut recordings = RECORDINGS.lock_anyway();
    if recordings.len() == recordings.capacity() {
        recordings.retain(|recording| recording.strong_count() > 0);
    }
    recordings.push(Arc::downgrade(&recording));
    recording
}

/// The recordings of all threads, also of those that have ended.
pub(super) fn recordings() -> SmallVec<[Arc<Recording>; 4]> {
    RECORDINGS.lock_anyway().iter().filter_map(Weak::upgrade).collect()
}

/// A living thread's recording.
struct Current(Arc<Recording>);

impl Drop for Current {
    fn drop(&mut self) {
        self.0.orphan();
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
    static EAGER: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread's recording; `None` while the thread's locals are being destroyed, after the recording is.
pub(super) fn current() -> Option<Arc<Recording>> {
    let own = |current: &RefCell<Option<Current>>| {
        current.borrow_mut().get_or_insert_with(|| Current(new_recording())).0.clone()
    };
    CURRENT.try_with(own).ok()
}

/// Runs `work` with every op of this thread compiled and run by itself as soon as it is recorded, as
/// `BURN_MPSGRAPH_EAGER=1` does everywhere: for finding the op that goes wrong. Ops that `work` records on other
/// threads are not affected.
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

/// Whether [`eagerly`] runs on this thread.
pub(super) fn is_eager() -> bool {
    EAGER.get()
}
