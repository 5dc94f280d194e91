//! A lock for what takes some instructions.
//!
//! Unlocking a mutex takes as long as locking it, because somebody may sleep until then. Nobody sleeps here: who finds
//! the lock taken looks again, and lets other threads run if that does not help, because its owner may have lost its
//! core. So who holds it neither waits nor runs code of others. As with the mutexes here ([`crate::ignore_poison`]), a
//! panic of its owner leaves good data.

use std::hint::spin_loop;
use std::thread::yield_now;

use spin::mutex::{SpinMutex, SpinMutexGuard};

/// How often who waits looks before it lets others run.
const LOOKS: u32 = 64;

/// A value that one thread at a time has for a moment.
#[derive(Debug, Default)]
pub(crate) struct BriefLock<T>(SpinMutex<T>);

/// The value, until this is dropped.
pub(crate) type Held<'a, T> = SpinMutexGuard<'a, T>;

impl<T> BriefLock<T> {
    pub const fn new(value: T) -> Self {
        Self(SpinMutex::new(value))
    }

    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        self.0.try_lock().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> Held<'_, T> {
        loop {
            for _ in 0..LOOKS {
                spin_loop();
                // A look takes the cache line from nobody; an attempt would.
                if !self.0.is_locked()
                    && let Some(held) = self.0.try_lock()
                {
                    return held;
                }
            }
            yield_now();
        }
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
