//! The calling thread's recording, and running op by op.
//!
//! Burn names the stream that an op belongs to. It is the thread itself, except where one thread works for others: a
//! server runs all threads of its client on one. Their ops must not share a recording, as those of threads do not.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::flush::FlushReason;
use super::recording::{Cut, Recording};
use super::runtime::Runtime;
use crate::burn::stream;

/// Streams that a thread has recordings for at most. Nobody says when a stream has ended.
const STREAMS: usize = 64;

/// A living thread's recordings by stream, the one that was used last at the end.
struct Current(Vec<(u64, &'static Recording)>);

impl Current {
    /// Takes out the recording that has to end before a new stream gets one, if there are as many as there may be: of
    /// those that hold nothing, or else of all, the one whose stream was silent longest. Others that hold nothing stay,
    /// because a recording knows what its earlier flushes were.
    fn one_too_many(&mut self, stream: u64) -> Option<&'static Recording> {
        if self.0.len() < STREAMS || self.0.iter().any(|(own, _)| *own == stream) {
            return None;
        }
        let empty = self.0.iter().position(|(_, recording)| recording.waiting().0 == 0);
        Some(self.0.remove(empty.unwrap_or(0)).1)
    }

    fn of(&mut self, stream: u64) -> &'static Recording {
        match self.0.iter().rposition(|(own, _)| *own == stream) {
            Some(at) => self.0[at..].rotate_left(1),
            None => self.0.push((stream, Recording::of_thread())),
        }
        self.0[self.0.len() - 1].1
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        LAST.set(None);
        self.0.iter().for_each(|(_, recording)| end(recording));
    }
}

/// Nobody records into it any more. What such recordings hold has the bounds of one; beyond them, what can still be
/// asked for is submitted.
fn end(recording: &'static Recording) {
    if recording.waiting().0 > 0 {
        let runtime = Runtime::get();
        for recording in recording.too_much_with_orphans(&runtime.bounds()) {
            let flush = || runtime.flush(recording, Cut::Everything, FlushReason::Bound);
            // A panic would end the process here. The values have its text.
            let _ = catch_unwind(AssertUnwindSafe(flush));
        }
    }
    recording.orphan();
}

thread_local! {
    /// The stream and the recording that were asked for last, until the recordings of the thread are destroyed: for the
    /// next op of that stream no list is searched.
    static LAST: Cell<Option<(u64, &'static Recording)>> = const { Cell::new(None) };
    static CURRENT: RefCell<Current> = const { RefCell::new(Current(Vec::new())) };
    static EAGER: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread's recording for its stream; `None` while the thread's locals are being destroyed, after the
/// recordings are.
pub(super) fn current() -> Option<&'static Recording> {
    let stream = stream();
    if let Some((_, recording)) = LAST.get().filter(|(last, _)| *last == stream) {
        return Some(recording);
    }
    of_stream(stream, end)
}

/// The calling thread's recording for a stream, likewise; `end` ends those that make room for it.
fn of_stream(stream: u64, end: fn(&'static Recording)) -> Option<&'static Recording> {
    // Ended without the borrow: this may flush, which may call a waker that records on this thread.
    while let Some(silent) = CURRENT.try_with(|current| current.borrow_mut().one_too_many(stream)).ok()? {
        LAST.set(None);
        end(silent);
    }
    let recording = CURRENT.try_with(|current| current.borrow_mut().of(stream)).ok()?;
    LAST.set(Some((stream, recording)));
    Some(recording)
}

/// Does something with the calling thread's recording for its stream; `work` is told whether the thread is ending: one
/// whose locals are gone has no recording that could wait for a later flush, so it gets one for this time.
pub(super) fn with_current<R>(work: impl FnOnce(&'static Recording, bool) -> R) -> R {
    if let Some(recording) = current() {
        return work(recording, false);
    }
    let recording = Recording::of_thread();
    let result = work(recording, true);
    recording.orphan();
    result
}

/// Runs `work` with every op of this thread compiled and run by itself as soon as it is recorded, as
/// `BURN_MPSGRAPH_EAGER=1` does everywhere: for finding the op that goes wrong. What the thread has recorded before
/// runs together with the first of them, unless a [`sync`](crate::MpsGraphDevice::sync) comes before. Ops that `work`
/// records on other threads are not affected.
pub fn eagerly<R>(work: impl FnOnce() -> R) -> R {
    /// Restores the setting, also when `work` panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            EAGER.set(self.0);
        }
    }
    let _before = Before(EAGER.replace(true));
    work()
}

/// Whether [`eagerly`] runs on this thread.
pub(super) fn is_eager() -> bool {
    EAGER.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stream: u64) -> &'static Recording {
        of_stream(stream, end).expect("the thread is not ending")
    }

    fn has(stream: u64) -> bool {
        CURRENT.with(|current| current.borrow().0.iter().any(|(own, _)| *own == stream))
    }

    #[test]
    fn streams_that_take_turns_keep_their_recordings() {
        let [first, second] = [1, 2].map(of);
        assert!(!std::ptr::eq(first, second));
        for _ in 0..2 {
            assert!(std::ptr::eq(of(2), second) && std::ptr::eq(of(1), first));
        }
        for stream in 3..=STREAMS as u64 + 1 {
            of(stream);
        }
        assert_eq!(CURRENT.with(|current| current.borrow().0.len()), STREAMS);
        assert!(!has(2), "it was silent longest");
        assert!(std::ptr::eq(of(1), first));
    }

    /// As a waker does that the flush of the silent stream calls.
    #[test]
    fn the_end_of_a_silent_stream_may_record_on_its_thread() {
        const OTHER: u64 = 1000;
        fn end_and_record(recording: &'static Recording) {
            end(recording);
            of(OTHER);
        }
        for stream in 1..=STREAMS as u64 {
            of(stream);
        }
        let new = of_stream(OTHER + 1, end_and_record).expect("the thread is not ending");
        assert!(std::ptr::eq(of(OTHER + 1), new) && has(OTHER));
        assert_eq!(CURRENT.with(|current| current.borrow().0.len()), STREAMS);
    }
}
