//! The wait for a submission, as a future: no poll blocks, and who drops it waits no more.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::Submissions;
use crate::bridge::pool::Serial;
use crate::bridge::stats::Counters;
use crate::bridge::waiting::{Sleeper, Wait};

/// See [`Submissions::ended`].
pub(in crate::bridge) struct Ended<'a> {
    submissions: &'a Submissions,
    counters: &'a Counters,
    wait: Wait,
    counted: bool,
}

impl<'a> Ended<'a> {
    pub(super) fn new(submissions: &'a Submissions, wait: (Serial, Sleeper), counters: &'a Counters) -> Self {
        let (serial, sleeper) = wait;
        Self { submissions, counters, wait: Wait::new(serial, sleeper), counted: false }
    }
}

impl Future for Ended<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { submissions, counters, wait, counted } = self.get_mut();
        if submissions.is_over(wait.serial()) {
            return Poll::Ready(());
        }
        if !std::mem::replace(counted, true) {
            counters.waits.add(1);
        }
        // What has ended since the task was registered, or has to be told until another time, could wake nobody.
        let mut told_until = submissions.told_until();
        loop {
            submissions.waiting.register(wait, context.waker(), told_until);
            if submissions.is_over(wait.serial()) {
                return Poll::Ready(());
            }
            match submissions.told_until() {
                until if until == told_until => break,
                until => told_until = until,
            }
        }
        if told_until.is_some() {
            // The device does not hang.
            return Poll::Pending;
        }
        let Some(limit) = submissions.waiting.overdue(wait) else {
            return Poll::Pending;
        };
        // This task is awake.
        submissions.waiting.forget(wait);
        submissions.give_up(wait.serial(), limit);
        Poll::Ready(())
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.submissions.waiting.forget(&mut self.wait);
    }
}
