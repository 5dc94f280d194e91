//! A lock for what takes some instructions.
//!
//! Unlocking a mutex takes as long as locking it, because somebody may sleep until then. Nobody sleeps here: who finds
//! the lock taken looks again, and lets other threads run if that does not help, because its owner may have lost its
//! core. So who holds it neither waits nor runs code of others. As with the mutexes here ([`crate::ignore_poison`]), a
//! panic of its owner leaves good data.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often who waits looks before it lets others run.
const LOOKS: u32 = 64;

/// A value that one thread at a time has for a moment.
#[derive(Default)]
pub(crate) struct BriefLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only, and there is one at a time.
unsafe impl<T: Send> Sync for BriefLock<T> {}

/// The value, until this is dropped.
pub(crate) struct Held<'a, T> {
    lock: &'a BriefLock<T>,
}

// SAFETY: a shared guard gives out shared references to the value only.
unsafe impl<T: Sync> Sync for Held<'_, T> {}

impl<T> fmt::Debug for BriefLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BriefLock")
    }
}

impl<T> BriefLock<T> {
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        if self.taken.swap(true, Ordering::Acquire) {
            self.wait();
        }
        Held { lock: self }
    }

    /// Returns when the calling thread has taken it.
    #[cold]
    fn wait(&self) {
        let mut looks = 0;
        while self.taken.load(Ordering::Relaxed) || self.taken.swap(true, Ordering::Acquire) {
            looks += 1;
            if looks % LOOKS == 0 {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the one guard.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the one guard, borrowed alone.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let lock = BriefLock::new([0_u64; 2]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut both = lock.lock();
                        both[0] += 1;
                        both[1] += 2;
                        assert_eq!(both[1], 2 * both[0]);
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), [40_000, 80_000]);
    }

    #[test]
    fn a_panic_gives_it_back() {
        let lock = BriefLock::new(7);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("with the lock, on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*lock.lock(), 7);
    }
}
