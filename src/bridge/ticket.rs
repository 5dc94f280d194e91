//! A flush under way. Values that it will make are pending on its ticket until they are ready or failed, or for ever if
//! it panics.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use super::blocking::block_on;
use super::waiting::{Sleeper, renew, wake};
use crate::error::Error;
use crate::lock::LockAnyway;

/// Tells that a flush has ended.
#[derive(Default)]
pub(super) struct Ticket(Mutex<Stage>);

#[derive(Default)]
struct Stage {
    end: Option<End>,
    /// Who waits, by a key of their own.
    sleepers: Vec<(u64, Sleeper, Waker)>,
    /// Of the newest one.
    key: u64,
}

/// How a flush has ended.
pub(super) enum End {
    /// Its work is submitted or has failed; the device need not be done.
    Submitted,
    /// A bug of ours, with this message.
    Panicked(String),
}

impl Ticket {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.0.lock_anyway()
    }

    /// Waits until the flush has ended. The thread sleeps.
    pub fn wait(&self) {
        block_on(Ended { ticket: self, sleeper: Sleeper::Thread, key: None });
    }

    /// The flush has ended; for a task that waits.
    ///
    /// Flushes wait for those that were cut before them only, so they never wait in a circle: a flush waits for what
    /// its ops read, an op reads what was pending when it was recorded, and a flush is cut after its ops are recorded.
    /// There is no limit of time: a flush compiles, and waits for the device no longer than that has one.
    pub fn ended(&self) -> impl Future<Output = ()> + Send {
        Ended { ticket: self, sleeper: Sleeper::Task, key: None }
    }

    /// The error of a value that is still pending; `None` as long as the flush goes on. The caller holds the lock of
    /// the value's state: the flush sets the state before it ends.
    pub fn left_pending(&self) -> Option<Error> {
        match &self.lock().end {
            None => None,
            Some(End::Submitted) => unreachable!("a flush that ends makes or fails all its values"),
            Some(End::Panicked(message)) => {
                let reason = format!("the flush that should have made this value panicked: {message}");
                Some(Error::Device { reason })
            }
        }
    }

    /// Ends the flush and wakes who waits for it.
    pub fn end(ticket: &Arc<Self>, end: End) {
        // Nobody else has it, so nobody waits or will.
        if Arc::strong_count(ticket) == 1 {
            return;
        }
        let mut stage = ticket.lock();
        stage.end = Some(end);
        let sleepers = std::mem::take(&mut stage.sleepers);
        drop(stage);
        wake(sleepers.into_iter().map(|(_, sleeper, waker)| (sleeper, waker)));
    }
}

/// The wait for a flush. Who drops it waits no more.
struct Ended<'a> {
    ticket: &'a Ticket,
    sleeper: Sleeper,
    key: Option<u64>,
}

impl Future for Ended<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Dropped without the lock.
        let mut _replaced = None;
        let (ticket, waker) = (self.ticket, context.waker());
        let mut stage = ticket.lock();
        if stage.end.is_some() {
            return Poll::Ready(());
        }
        if let Some((.., known)) = stage.sleepers.iter_mut().find(|(key, ..)| Some(*key) == self.key) {
            _replaced = renew(known, waker);
        } else {
            stage.key += 1;
            self.key = Some(stage.key);
            let sleeper = (stage.key, self.sleeper, waker.clone());
            stage.sleepers.push(sleeper);
        }
        Poll::Pending
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let Some(own) = self.key else { return };
        let mut stage = self.ticket.lock();
        let at = stage.sleepers.iter().position(|(key, ..)| *key == own);
        let forgotten = at.map(|at| stage.sleepers.swap_remove(at));
        drop(stage);
        // Without the lock: it may be the last reference to a task that waits, too.
        drop(forgotten);
    }
}
