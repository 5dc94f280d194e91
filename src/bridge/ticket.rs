//! A flush under way. Values that it will make are pending on its ticket until they are ready or failed.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::lock::LockAnyway;

/// Tells that a flush has ended.
#[derive(Default)]
pub(super) struct Ticket {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Ticket {
    /// Waits until the flush has ended: until its work is submitted or has failed, not until the device is done.
    ///
    /// Flushes wait for those that were cut before them only, so they never wait in a circle: a flush waits for what
    /// its ops read, an op reads what was pending when it was recorded, and a flush is cut after its ops are recorded.
    /// There is no limit of time: a flush compiles, and waits for the device no longer than that has one.
    pub fn wait(&self) {
        let mut ended = self.ended.lock_anyway();
        while !*ended {
            ended = self.changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn end(&self) {
        *self.ended.lock_anyway() = true;
        self.changed.notify_all();
    }
}
