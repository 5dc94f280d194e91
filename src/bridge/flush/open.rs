//! A segment while its nodes are submitted: as one program if that goes, else as several.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use crate::bridge::cache::Seen;
use crate::bridge::division::{Division, Grain, note_not_new};
use crate::bridge::draft::{Draft, Flow};
use crate::bridge::novelty::Novelty;
use crate::bridge::pool::Allocation;
use crate::bridge::recording::{Marks, Segment};
use crate::bridge::run::Miss;
use crate::bridge::runtime::Runtime;
use crate::bridge::value::State;
use crate::error::Error;
use crate::lock::LockAnyway;

/// How a segment is asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    grain: Grain,
    key: u64,
    novelty: &'a Mutex<Novelty>,
}

/// A segment while its nodes are submitted.
pub(super) struct OpenSegment<'a> {
    runtime: &'a Runtime,
    flow: Flow<'a>,
    /// Nodes whose values are ready.
    done: Marks,
    /// Nodes whose values cannot be made.
    failed: Marks,
    /// What the segment is asked for as, until its program has been looked up.
    asked: Option<Asked<'a>>,
    /// Nothing is submitted, because the segment has to be divided so.
    division: Option<Division>,
}

impl<'a> OpenSegment<'a> {
    /// Submits a segment with this key, or says how it has to be divided first.
    pub fn submit_whole(
        runtime: &'a Runtime,
        segment: &'a Segment,
        grain: Grain,
        novelty: &'a Mutex<Novelty>,
        key: u64,
    ) -> Option<Division> {
        let done = Marks::from_elem(false, segment.nodes.len());
        let (failed, flow) = (done.clone(), Flow::new(segment));
        let asked = Some(Asked { grain, key, novelty });
        let mut open = Self { runtime, flow, done, failed, asked, division: None };
        open.submit(segment.wanted.clone());
        open.division
    }

    /// Whether the segment, whose program was found or not, has to be divided.
    fn divides(&mut self, asked: Asked<'_>, miss: Option<&Miss>) -> bool {
        let Asked { grain, novelty, .. } = asked;
        let (segment, novelty) = (self.flow.segment, &mut novelty.lock_anyway());
        self.division = match miss {
            None => {
                note_not_new(segment, grain, novelty);
                None
            }
            Some(miss) => self.runtime.divisions.lock_anyway().of_missed(segment, grain, miss, novelty),
        };
        self.division.is_some()
    }

    /// Makes the `wanted` values of nodes.
    ///
    /// A program that was never asked for may begin with the ops that initialise a model. Those run by themselves, so
    /// the rest is the program of later steps too, which is then compiled already.
    fn submit(&mut self, mut wanted: Marks) {
        loop {
            let asked = self.asked.take();
            for (at, wanted) in wanted.iter_mut().enumerate() {
                *wanted &= !self.done[at] && !self.failed[at];
            }
            let Some(draft) = Draft::new(&self.flow, &wanted, &self.done) else {
                return;
            };
            let feeds = match fed(&draft) {
                Ok(feeds) => feeds,
                Err((feed, error)) => {
                    let readers = self.flow.readers(draft.feeds[feed].value);
                    self.fail(readers, &error);
                    continue;
                }
            };
            let found = self.runtime.look_up(&draft, asked.map(|asked| asked.key));
            if asked.is_some_and(|asked| self.divides(asked, found.as_ref().err())) {
                return;
            }
            let plan = match found {
                Ok(plan) => plan,
                Err(Miss { seen, moving, .. }) => {
                    if seen == Seen::Never
                        && let Some(initial) = self.flow.initializers(&wanted)
                    {
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
                    self.halve(needed, &wanted, &error);
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
    fn halve(&mut self, needed: Vec<usize>, wanted: &[bool], error: &Error) {
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
        self.runtime.submissions.note(error);
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
pub(super) fn fed(draft: &Draft<'_>) -> Result<SmallVec<[Arc<Allocation>; 4]>, (usize, Error)> {
    let mut allocations = SmallVec::with_capacity(draft.feeds.len());
    for (at, feed) in draft.feeds.iter().enumerate() {
        match feed.value.settle() {
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
