//! A flush under way. Values that it will make are pending on its ticket until they are ready or failed, or for ever if
//! it panics.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use super::waiting::wake;
use crate::error::Error;
use crate::lock::LockAnyway;

/// Tells that a flush has ended.
#[derive(Default)]
pub(super) struct Ticket(Mutex<Stage>);

#[derive(Default)]
struct Stage {
    end: Option<End>,
    /// Of the tasks that wait.
    wakers: Vec<Waker>,
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

    /// Waits until the flush has ended.
    ///
    /// Flushes wait for those that were cut before them only, so they never wait in a circle: a flush waits for what
    /// its ops read, an op reads what was pending when it was recorded, and a flush is cut after its ops are recorded.
    /// There is no limit of time: a flush compiles, and waits for the device no longer than that has one.
    pub async fn ended(&self) {
        poll_fn(|context| {
            let mut stage = self.lock();
            if stage.end.is_some() {
                return Poll::Ready(());
            }
            if !stage.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                stage.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
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
        let wakers = std::mem::take(&mut stage.wakers);
        drop(stage);
        wake(wakers);
    }
}
