//! A flush under way. Values that it will make are pending on its ticket until they are ready or failed.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use crate::lock::LockAnyway;

/// Tells that a flush has ended.
#[derive(Default)]
pub(super) struct Ticket(Mutex<Stage>);

#[derive(Default)]
struct Stage {
    ended: bool,
    /// Of the tasks that wait.
    wakers: Vec<Waker>,
}

impl Ticket {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.0.lock_anyway()
    }

    /// The flush has ended: its work is submitted or has failed; the device need not be done.
    ///
    /// Flushes wait for those that were cut before them only, so they never wait in a circle: a flush waits for what
    /// its ops read, an op reads what was pending when it was recorded, and a flush is cut after its ops are recorded.
    /// There is no limit of time: a flush compiles, and waits for the device no longer than that has one.
    pub async fn ended(&self) {
        poll_fn(|context| {
            let mut progress = self.lock();
            if progress.ended {
                return Poll::Ready(());
            }
            if !progress.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                progress.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// The flush has ended.
    pub fn end(ticket: &Arc<Self>) {
        // Nobody else has it, so nobody waits or will.
        if Arc::strong_count(ticket) == 1 {
            return;
        }
        let mut progress = ticket.lock();
        progress.ended = true;
        let wakers = std::mem::take(&mut progress.wakers);
        // Without the lock: a waker may poll at once.
        drop(progress);
        wakers.into_iter().for_each(Waker::wake);
    }
}
