//! Locks that stay usable after a panic.
//!
//! Every change of the guarded data leaves it valid, so a panic of another thread need not stop this one, and the
//! poisoning of `std`'s locks is ignored.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also if the last holder panicked.
pub(crate) trait LockAnyway<T: ?Sized> {
    /// The guard, also of a lock whose holder panicked.
    fn lock_anyway(&self) -> MutexGuard<'_, T>;
}

impl<T: ?Sized> LockAnyway<T> for Mutex<T> {
    fn lock_anyway(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
