//! Locks that stay usable after a panic.

use std::sync::LockResult;

/// Takes the guard of a lock whether or not a thread panicked while it held the lock.
///
/// A violation is a panic that unwinds into the sender, often with locks held, and tests go on after it. Nothing here
/// is left half changed by a panic: every critical section either changes its data in one step or panics before it
/// changes anything. So a poisoned lock guards data that is as good as ever.
pub(crate) trait IgnorePoison {
    /// The guard.
    type Guard;

    /// The guard, poisoned or not.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
