//! Locks that outlive a panic.
//!
//! What they guard is changed in steps that leave it usable, so a panic of another thread need not stop this one:
//! the poison that `std` leaves behind is passed over.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locking whatever happened to the last holder.
pub(crate) trait LockAnyway<T> {
    /// The guard, also of a lock whose holder panicked.
    fn lock_anyway(&self) -> MutexGuard<'_, T>;
}

impl<T> LockAnyway<T> for Mutex<T> {
    fn lock_anyway(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
