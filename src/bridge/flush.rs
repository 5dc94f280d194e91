//! A flush: cuts recordings and submits what it took out, usually as one program; `run` runs a program.
//!
//! No lock is held over a flush. What it takes out is pending on its ticket, so other threads record on top of it,
//! flush other programs and wait for it meanwhile; compiling takes turns, and so does encoding.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use super::draft::{self, Draft, Flow};
use super::novelty::Novelty;
use super::pool::Allocation;
use super::recording::{Cut, Divided, Marks, Recording, Segment, rounds};
use super::run::Miss;
use super::runtime::Runtime;
use super::ticket::Ticket;
use super::value::{Maker, State};
use crate::error::Error;
use crate::ffi;
use crate::lock::LockAnyway;

/// Why a recording is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushReason {
    /// The recording thread reads a value.
    Read,
    /// Another thread reads or uses a value.
    OtherThread,
    /// `sync` or `flush` was called.
    Sync,
    /// Too many ops or bytes are recorded.
    Bound,
    /// `BURN_MPSGRAPH_EAGER=1`, or a thread that is ending.
    Eager,
}

impl Runtime {
    /// Submits what `cut` takes out of a recording without waiting for it. A failure to submit is kept in the values
    /// that the work should have made.
    pub(super) fn flush(&self, recording: &'static Recording, cut: Cut<'_>, reason: FlushReason) {
        let ticket = Arc::<Ticket>::default();
        if let Some(segment) = recording.cut(cut, &ticket) {
            for part in self.submit(segment, &ticket, reason) {
                recording.take_back(part.nodes);
            }
        }
    }

    /// Submits what other threads' recordings hold of these values, as one program.
    pub(super) fn flush_others(&self, mut values: Vec<Maker>) {
        /// Held while several recordings are cut. A flush waits for what was cut before it; of two that cut the same
        /// recordings at a time, each could have cut one before the other.
        static SEVERAL: Mutex<()> = Mutex::new(());

        let ticket = Arc::<Ticket>::default();
        // Serial numbers of one recording follow each other.
        values.sort_by_key(|(_, serial)| *serial);
        let (mut nodes, mut wanted) = (Vec::new(), Marks::new());
        let alone = SEVERAL.lock_anyway();
        for same in values.chunk_by(|a, b| ptr::eq(a.0, b.0)) {
            let serials: SmallVec<[u64; 4]> = same.iter().map(|(_, serial)| *serial).collect();
            if let Some(segment) = same[0].0.cut(Cut::Parts(&serials), &ticket) {
                nodes.extend(segment.nodes);
                wanted.extend(segment.wanted);
            }
        }
        drop(alone);
        if !nodes.is_empty() {
            self.submit(Segment { nodes: nodes.into(), wanted }, &ticket, FlushReason::OtherThread);
        }
    }

    /// Submits a segment and ends its ticket. However that ends, no value stays pending. Returns what was submitted.
    fn submit(&self, segment: Segment, ticket: &Arc<Ticket>, reason: FlushReason) -> Divided {
        self.counters.flushes(reason).add(1);
        let mut parts = Divided::from_buf([segment]);
        let work = || {
            self.log.flush(reason, parts[0].nodes.len());
            ffi::autoreleasepool(|| self.submit_parts(&mut parts, ticket));
        };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        if let Err(panic) = &outcome {
            let reason = format!("the flush that should have made this value panicked: {}", text_of(&**panic));
            let nodes = parts.iter().flat_map(|part| part.nodes.iter().zip(&part.wanted));
            for (node, _) in nodes.filter(|(_, wanted)| **wanted) {
                if matches!(*node.value.lock(), State::Pending(_)) {
                    node.value.set_state(State::Failed(Box::new(Error::Device { reason: reason.clone() })));
                }
            }
        }
        Ticket::end(ticket);
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
        parts
    }

    /// Submits a segment as one program, or divides it into its rounds first and submits each.
    fn submit_parts(&self, parts: &mut Divided, ticket: &Arc<Ticket>) {
        let Some(rounds) = self.submit_segment(&parts[0], Some(&self.novelty)) else { return };
        *parts = parts.swap_remove(0).divide(&rounds, ticket);
        self.log.divided(parts.len());
        for part in &*parts {
            self.submit_segment(part, None);
        }
    }

    /// Submits a segment, or says where it has to be divided first.
    fn submit_segment(&self, segment: &Segment, novelty: Option<&Novelty>) -> Option<Vec<usize>> {
        let key = draft::key(segment);
        if self.run_again(segment, key) {
            if let Some(novelty) = novelty {
                novelty.note(false);
            }
            return None;
        }
        let mut open = OpenSegment { novelty, key: Some(key), ..OpenSegment::of(self, segment) };
        open.submit(segment.wanted.clone());
        open.rounds
    }

    /// Runs a segment that is recorded like an earlier one. If that cannot be done, nothing is.
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

/// A segment while its nodes are submitted.
struct OpenSegment<'a> {
    runtime: &'a Runtime,
    flow: Flow<'a>,
    /// Nodes whose values are ready.
    done: Marks,
    /// Nodes whose values cannot be made.
    failed: Marks,
    /// Where a whole segment notes, once, whether its program is new; parts do not.
    novelty: Option<&'a Novelty>,
    /// The segment's key, until its program has been looked up.
    key: Option<u64>,
    /// Nothing is submitted, because the segment has to be divided here.
    rounds: Option<Vec<usize>>,
}

impl<'a> OpenSegment<'a> {
    fn of(runtime: &'a Runtime, segment: &'a Segment) -> Self {
        let none = Marks::from_elem(false, segment.nodes.len());
        let flow = Flow::new(segment);
        Self { runtime, flow, done: none.clone(), failed: none, novelty: None, key: None, rounds: None }
    }

    /// Notes whether the program was asked for before, and says whether the segment has to be divided.
    fn divides(&mut self, is_new: bool) -> bool {
        let Some(novelty) = self.novelty.take() else { return false };
        let Segment { nodes, wanted } = self.flow.segment;
        let rounds = if is_new { rounds(nodes, wanted) } else { Vec::new() };
        let divides = novelty.note(!rounds.is_empty()) && !rounds.is_empty();
        self.rounds = divides.then_some(rounds);
        divides
    }

    /// Makes the `wanted` values of nodes.
    ///
    /// A program that was never asked for may begin with the ops that initialise a model. Those run by themselves, so
    /// the rest is the program of later steps too, which is then compiled already.
    fn submit(&mut self, mut wanted: Marks) {
        loop {
            let key = self.key.take();
            for (at, wanted) in wanted.iter_mut().enumerate() {
                *wanted &= !self.done[at] && !self.failed[at];
            }
            let Some(draft) = Draft::new(&self.flow, &wanted, &self.done) else {
                return;
            };
            let feeds = match fed(&draft) {
                Ok(feeds) => feeds,
                Err((feed, error)) => {
                    let readers = self.flow.readers(draft.feeds[feed]);
                    self.fail(readers, &error);
                    continue;
                }
            };
            let found = self.runtime.look_up(&draft, key);
            if self.divides(matches!(found, Err(Miss { first_seen: true, .. }))) {
                return;
            }
            let plan = match found {
                Ok(plan) => plan,
                Err(Miss { first_seen, moving }) => {
                    if first_seen && let Some(initial) = self.flow.initializers(&wanted) {
                        drop(draft);
                        self.submit(initial);
                        continue;
                    }
                    self.runtime.compile(&draft, moving)
                }
            };
            match self.runtime.run(&plan, &draft, &feeds) {
                Ok(()) => {
                    self.done.iter_mut().zip(&wanted).for_each(|(done, wanted)| *done |= wanted);
                    return;
                }
                Err(error @ Error::OutOfMemory { .. }) => {
                    let needed = draft.recorded_nodes();
                    drop((draft, feeds));
                    self.divide(needed, &wanted, &error);
                }
                // The device hangs. If a feed was lost in that, only what reads it is.
                Err(_) if fed(&draft).is_err() => (),
                Err(error) => {
                    drop((draft, feeds));
                    let all = wanted.clone();
                    self.fail(all, &error);
                }
            }
        }
    }

    /// After a program that did not find memory: makes the first half of it by itself, so that only what really does
    /// not fit is lost.
    fn divide(&mut self, needed: Vec<usize>, wanted: &[bool], error: &Error) {
        let mut first = Marks::from_elem(false, wanted.len());
        if let [only] = needed[..] {
            first[only] = true;
            return self.fail(first, error);
        }
        let (early, late) = needed.split_at(needed.len() / 2);
        let early_until = early[early.len() - 1];
        for &at in early {
            first[at] = wanted[at];
        }
        for &at in late {
            self.flow.producers_of(at).filter(|&producer| producer <= early_until).for_each(|at| first[at] = true);
        }
        self.submit(first);
    }

    /// Fails the values of these nodes and of all that depend on them.
    fn fail(&mut self, nodes: Marks, error: &Error) {
        self.runtime.queue.note(error);
        let affected = self.flow.dependants(nodes);
        for (at, node) in self.flow.segment.nodes.iter().enumerate() {
            if affected[at] && !self.done[at] && !self.failed[at] {
                self.failed[at] = true;
                node.value.set_state(State::Failed(Box::new(error.clone())));
            }
        }
    }
}

/// The buffers of a draft's feeds, once no flush is making them; `Err` with the number of one that has failed or holds
/// garbage.
fn fed(draft: &Draft<'_>) -> Result<SmallVec<[Arc<Allocation>; 4]>, (usize, Error)> {
    let mut allocations = SmallVec::with_capacity(draft.feeds.len());
    for (at, value) in draft.feeds.iter().enumerate() {
        match value.settle() {
            Ok(Some(allocation)) => match allocation.fault.get() {
                None => allocations.push(allocation),
                Some(fault) => return Err((at, (**fault).clone())),
            },
            Ok(None) => unreachable!("an op over no elements is not recorded"),
            Err(error) => return Err((at, error)),
        }
    }
    Ok(allocations)
}
