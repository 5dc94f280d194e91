//! Autorelease pools as scopes.

use std::cell::Cell;
use std::ffi::c_void;

use crate::ffi::symbols;

/// Runs `work` with an autorelease pool of its own, drained when `work` returns or unwinds.
///
/// Whatever a message returns at +0 inside is retained by the wrapper that received it, so nothing that leaves the
/// closure as a Rust value is freed by the drain.
pub(crate) fn autoreleasepool<R>(work: impl FnOnce() -> R) -> R {
    let _pool = Pool::push();
    work()
}

/// Runs `work` in the pool that this thread is inside of, if there is one, or else in one of its own: for what puts
/// little into it.
pub(crate) fn in_some_pool<R>(work: impl FnOnce() -> R) -> R {
    if in_autoreleasepool() { work() } else { autoreleasepool(work) }
}

thread_local! {
    /// How many pools of this module this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is inside of an [`autoreleasepool`].
pub(crate) fn in_autoreleasepool() -> bool {
    // Not while the thread's locals are destroyed; then nobody runs programs.
    DEPTH.try_with(Cell::get).is_ok_and(|depth| depth > 0)
}

struct Pool(*mut c_void);

impl Pool {
    fn push() -> Self {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
        // SAFETY: push has no preconditions; the token stays on this thread and is popped once, by drop.
        Self(unsafe { symbols::objc_autoreleasePoolPush() })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the token comes from push on this thread, and scopes end in the reverse order of their begin.
        unsafe { symbols::objc_autoreleasePoolPop(self.0) }
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    }
}
