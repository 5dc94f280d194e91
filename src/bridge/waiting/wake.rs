//! Calling wakers, which are others' code: a task's may do anything, also go on with its task at once.
//!
//! So no lock is held, and none that panics keeps the next one asleep or ends the thread. Threads that sleep here are
//! woken first, because a task may wait for what one of them does. A task that goes on may also wait for the flush that
//! wakes it, for what only the clock ends, or for work whose end Metal tells on the thread that tells this one's. So a
//! flush wakes tasks when it has ended ([`deferring`]), and the clock and Metal's handlers let another thread do it
//! ([`elsewhere`]).

use std::cell::{Cell, RefCell};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;

use crate::lock::LockAnyway;

/// Who is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bridge) enum Sleeper {
    /// A thread of whoever called this crate, which [`block_on`](crate::bridge::blocking::block_on) lets sleep. Its
    /// waker returns at once.
    Thread,
    /// Whoever polls a future of this crate.
    Task,
}

/// Puts the waker of the last poll in place of the one before, which is returned if it is another: it may be the last
/// reference to a task that waits, too, so the caller drops it without a lock.
#[must_use]
pub(in crate::bridge) fn renew(known: &mut Waker, waker: &Waker) -> Option<Waker> {
    (!known.will_wake(waker)).then(|| std::mem::replace(known, waker.clone()))
}

/// Wakes these, threads first; tasks when the flush that runs on this thread has ended, if there is one.
pub(in crate::bridge) fn wake(sleepers: impl IntoIterator<Item = (Sleeper, Waker)>) {
    let mut tasks = wake_threads(sleepers);
    // A thread that is ending may have no variables any more.
    let _ = DEFERRED.try_with(|deferred| deferred.take_in(&mut tasks));
    tasks.into_iter().for_each(call);
}

/// The same for a thread that has to go on, because what a task waits for may have no end but by it: the clock's, and
/// that on which Metal calls handlers.
pub(super) fn elsewhere(sleepers: impl IntoIterator<Item = (Sleeper, Waker)>) {
    let tasks = wake_threads(sleepers);
    if tasks.is_empty() {
        return;
    }
    // Shared, because a thread that cannot be started takes what it was given along.
    let left = Arc::new(Mutex::new(tasks));
    let wake_left = {
        let left = left.clone();
        move || take(&mut *left.lock_anyway()).into_iter().for_each(call)
    };
    let thread = thread::Builder::new().name("burn-mpsgraph-waker".into());
    if thread.spawn(wake_left.clone()).is_err() {
        wake_left();
    }
}

/// Wakes the threads of these; the tasks are left.
fn wake_threads(sleepers: impl IntoIterator<Item = (Sleeper, Waker)>) -> Vec<Waker> {
    let mut tasks = Vec::new();
    for (sleeper, waker) in sleepers {
        match sleeper {
            Sleeper::Thread => waker.wake(),
            Sleeper::Task => tasks.push(waker),
        }
    }
    tasks
}

fn call(waker: Waker) {
    // The panic is the task's own, and its message is printed.
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
}

thread_local! {
    static DEFERRED: Deferred = const { Deferred { flushes: Cell::new(0), tasks: RefCell::new(Vec::new()) } };
}

/// The tasks that a thread wakes when its flush has ended.
struct Deferred {
    /// Flushes that run on the thread, one inside of the other.
    flushes: Cell<usize>,
    tasks: RefCell<Vec<Waker>>,
}

impl Deferred {
    /// Takes tasks if a flush runs.
    fn take_in(&self, tasks: &mut Vec<Waker>) {
        if self.flushes.get() > 0 {
            self.tasks.borrow_mut().append(tasks);
        }
    }

    /// A flush has ended: the tasks to wake, if it was the only one.
    fn end(&self) -> Vec<Waker> {
        self.flushes.set(self.flushes.get() - 1);
        if self.flushes.get() == 0 { take(&mut *self.tasks.borrow_mut()) } else { Vec::new() }
    }
}

/// Does the work of a flush; tasks that it wakes are woken when it is done.
pub(in crate::bridge) fn deferring<R>(work: impl FnOnce() -> R) -> R {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            DEFERRED.try_with(Deferred::end).unwrap_or_default().into_iter().for_each(call);
        }
    }
    // As in `wake`.
    let _end = DEFERRED.try_with(|deferred| deferred.flushes.set(deferred.flushes.get() + 1)).is_ok().then_some(End);
    work()
}
