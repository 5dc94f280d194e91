//! Locks that stay usable after a panic.
//!
//! Every change of the guarded data leaves it valid, so a panic of another thread need not stop this one, and the
//! poisoning of `std`'s locks is ignored.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Takes what a lock gives whether or not a thread panicked while it held the lock. `mpsgraph-soft` has the same for
/// its own locks.
pub(crate) trait IgnorePoison {
    /// The guard, or what comes with it.
    type Guard;

    /// The guard, poisoned or not.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

/// [`IgnorePoison`] for the most frequent case, in one word.
pub(crate) trait LockAnyway<T: ?Sized> {
    /// The guard, also of a lock whose holder panicked.
    fn lock_anyway(&self) -> MutexGuard<'_, T>;
}

impl<T: ?Sized> LockAnyway<T> for Mutex<T> {
    fn lock_anyway(&self) -> MutexGuard<'_, T> {
        self.lock().ignore_poison()
    }
}
