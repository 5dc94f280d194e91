//! A flush: cuts recordings and submits what it took out, usually as one program; `run` runs a program.
//!
//! No lock is held over a flush. What it takes out is pending on its ticket, so other threads record on top of it,
//! flush other programs and wait for it meanwhile; compiling takes turns, and so does encoding.

mod open;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::{Arc, Mutex};

use open::{OpenSegment, fed};
use smallvec::SmallVec;

use super::division::{self, Division, Grain};
use super::draft::{self, Draft};
use super::novelty::Novelty;
use super::recording::{Cut, Marks, Recording, Segment};
use super::runtime::Runtime;
use super::ticket::{End, Ticket};
use super::under_way::Begun;
use super::value::Maker;
use super::waiting::deferring;
use crate::ffi;
use crate::lock::LockAnyway;

/// The parts of a flush that are not submitted yet, the next one last.
type Unsubmitted = SmallVec<[(Grain, Segment); 1]>;

/// Why a recording is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushReason {
    /// The recording thread reads a value.
    Read,
    /// Another thread reads or uses a value.
    OtherThread,
    /// `sync` or `flush` was called, or an upload found no memory.
    Sync,
    /// Too many ops or bytes are recorded, also by ended threads together, when one more ends.
    Bound,
    /// Each op is submitted as soon as it is recorded: by `BURN_MPSGRAPH_EAGER=1`, by `eagerly`, or in a thread that is
    /// ending.
    Eager,
}

impl Runtime {
    /// Submits what `cut` takes out of a recording without waiting for it. A failure to submit is kept in the values
    /// that the work should have made.
    pub(super) fn flush(&self, recording: &'static Recording, cut: Cut<'_>, reason: FlushReason) {
        let begun = self.under_way.begin();
        let Some(segment) = recording.cut(cut, begun.ticket()) else { return begun.end(End::Submitted) };
        let last = self.submit(segment, &recording.novelty, begun, reason);
        recording.take_back(last.nodes);
    }

    /// Submits what other threads' recordings hold of these values, as one program.
    pub(super) fn flush_others(&self, mut values: Vec<Maker>) {
        /// Held while several recordings are cut. A flush waits for what was cut before it; of two that cut the same
        /// recordings at a time, each could have cut one before the other.
        static SEVERAL: Mutex<()> = Mutex::new(());

        let begun = self.under_way.begin();
        // Serial numbers of one recording follow each other.
        values.sort_by_key(|(_, serial)| *serial);
        let (mut nodes, mut wanted, mut novelty) = (Vec::new(), Marks::new(), None);
        let alone = SEVERAL.lock_anyway();
        for same in values.chunk_by(|a, b| ptr::eq(a.0, b.0)) {
            let serials: SmallVec<[u64; 4]> = same.iter().map(|(_, serial)| *serial).collect();
            if let Some(segment) = same[0].0.cut(Cut::Parts(&serials), begun.ticket()) {
                nodes.extend(segment.nodes);
                wanted.extend(segment.wanted);
                novelty = Some(&same[0].0.novelty);
            }
        }
        drop(alone);
        match novelty {
            Some(novelty) => {
                self.submit(Segment { nodes: nodes.into(), wanted }, novelty, begun, FlushReason::OtherThread);
            }
            None => begun.end(End::Submitted),
        }
    }

    /// Submits a segment and ends its flush, whose ticket then says why, if values stay pending. Returns the part that
    /// was submitted last. Tasks that are woken meanwhile go on when the flush has ended: they may wait for it.
    fn submit(&self, segment: Segment, novelty: &Mutex<Novelty>, begun: Begun<'_>, reason: FlushReason) -> Segment {
        deferring(|| self.submit_now(segment, novelty, begun, reason))
    }

    fn submit_now(&self, segment: Segment, novelty: &Mutex<Novelty>, begun: Begun<'_>, reason: FlushReason) -> Segment {
        self.counters.flushes(reason).add(1);
        let mut parts = Unsubmitted::from_buf([(Grain::Whole, segment)]);
        let work = || {
            self.log.flush(reason, parts[0].1.nodes.len());
            self.submit_parts(&mut parts, novelty, begun.ticket());
        };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        begun.end(match &outcome {
            Ok(()) => End::Submitted,
            Err(panic) => End::Panicked(text_of(&**panic).to_string()),
        });
        match (outcome, parts.pop()) {
            (Ok(()), Some((_, last))) => last,
            (Ok(()), None) => unreachable!("the last part is left"),
            (Err(panic), _) => resume_unwind(panic),
        }
    }

    /// Submits parts from the last one on, or divides them first. All but the first are dropped when they are
    /// submitted, with the values between them that nobody can ask for.
    fn submit_parts(&self, parts: &mut Unsubmitted, novelty: &Mutex<Novelty>, ticket: &Arc<Ticket>) {
        while let Some((grain, part)) = parts.last() {
            let division = ffi::autoreleasepool(|| self.submit_segment(part, *grain, novelty));
            if division.is_none() && parts.len() == 1 {
                return;
            }
            let part = parts.pop();
            if let (Some((_, part)), Some(Division { begins, into })) = (part, division) {
                let ops = part.nodes.len();
                let divided = part.divide(&begins, ticket);
                self.log.divided(ops, into, divided.len());
                parts.extend(divided.into_iter().rev().map(|part| (into, part)));
            }
        }
    }

    /// Submits a segment, or says how it has to be divided first.
    fn submit_segment(&self, segment: &Segment, grain: Grain, novelty: &Mutex<Novelty>) -> Option<Division> {
        let key = draft::key(segment);
        if self.run_again(segment, key) {
            division::note_not_new(segment, grain, &mut novelty.lock_anyway());
            return None;
        }
        OpenSegment::submit_whole(self, segment, grain, novelty, key)
    }

    /// Runs a segment if it is recorded like an earlier one; says whether it has. Otherwise it has done nothing.
    fn run_again(&self, segment: &Segment, key: u64) -> bool {
        let mut draft = Draft::default();
        let Some(plan) = self.follow(segment, key, &mut draft) else { return false };
        fed(&draft).is_ok_and(|feeds| self.run(&plan, &draft, &feeds).is_ok())
    }
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "no message",
    }
}
