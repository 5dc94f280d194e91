//! Flushes that have begun and not ended. What they have cut is neither recorded any more nor in flight yet.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use super::ticket::{End, Ticket};
use crate::lock::LockAnyway;

/// Flushes of all threads.
#[derive(Default)]
pub(super) struct UnderWay(Mutex<Vec<Entry>>);

struct Entry {
    ticket: Arc<Ticket>,
    /// Which thread it runs on, see [`here`].
    thread: usize,
}

/// A flush that has begun.
pub(super) struct Begun<'a> {
    all: &'a UnderWay,
    ticket: Arc<Ticket>,
    end: Option<End>,
}

impl UnderWay {
    /// Begins a flush. It has cut nothing yet, so who finds something cut finds the flush here.
    pub fn begin(&self) -> Begun<'_> {
        let ticket = Arc::<Ticket>::default();
        self.0.lock_anyway().push(Entry { ticket: ticket.clone(), thread: here() });
        Begun { all: self, ticket, end: None }
    }

    /// Waits until the flushes that are under way now have ended.
    ///
    /// Not if one of them runs on the calling thread: it would wait for itself, and the others may wait for it.
    pub fn wait(&self) {
        let tickets: SmallVec<[Arc<Ticket>; 4]> = {
            let (all, here) = (self.0.lock_anyway(), here());
            if all.iter().any(|entry| entry.thread == here) {
                return;
            }
            all.iter().map(|entry| entry.ticket.clone()).collect()
        };
        tickets.iter().for_each(|ticket| ticket.wait());
    }
}

impl Begun<'_> {
    /// What the values are pending on that the flush makes.
    pub fn ticket(&self) -> &Arc<Ticket> {
        &self.ticket
    }

    /// Ends the flush, which otherwise ends as one that panics does.
    pub fn end(mut self, end: End) {
        self.end = Some(end);
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut all = self.all.0.lock_anyway();
        // Few are under way at a time.
        if let Some(at) = all.iter().position(|entry| Arc::ptr_eq(&entry.ticket, &self.ticket)) {
            all.swap_remove(at);
        }
        drop(all);
        let end = self.end.take().unwrap_or_else(|| End::Panicked("before it was submitted".into()));
        Ticket::end(&self.ticket, end);
    }
}

/// A number of the calling thread that no other has as long as it lives.
fn here() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn flushes_of_other_threads_are_waited_for() {
        let all = UnderWay::default();
        all.wait();
        let (first, second) = (all.begin(), all.begin());
        all.wait();
        thread::scope(|scope| {
            let (waited, has_waited) = mpsc::channel();
            let all = &all;
            scope.spawn(move || {
                all.wait();
                waited.send(()).expect("somebody listens");
            });
            first.end(End::Submitted);
            assert!(has_waited.recv_timeout(Duration::from_millis(30)).is_err(), "one is under way");
            drop(second);
            has_waited.recv().expect("it has waited");
        });
        assert!(all.0.lock_anyway().is_empty());
    }
}
