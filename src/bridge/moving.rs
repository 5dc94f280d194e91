//! Programs that differ from an earlier one only in where slices start.
//!
//! The first such program is compiled as it is, so that what stays in place (the parts of a fused projection) is a
//! plain slice. When one comes that differs in starts, those that differ are fed from then on: mini-batches cut from
//! one tensor or a token put into a cache compile once more and not again for each place.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use smallvec::SmallVec;

use super::draft::{BARRIER, Draft, SameOp};
use super::program::{Program, ProgramNode};
use crate::lowering::scalar::{ScalarInput, ScalarKind};
use crate::ops::Op;

/// The most programs that are remembered with their starts, and the most ops of all of them.
const KNOWN: usize = 1024;
const KNOWN_OPS: usize = 1 << 17;

/// The most different starts that are fed to a program as soon as one moves. Parts of an unrolled net differ in many,
/// and are better compiled each with its own, because neighbouring time steps are then written together.
const PLACES: usize = 16;
/// How many programs have to differ in more starts before those are fed too. An unrolled net has fewer parts that are
/// alike, and asks for the same ones in each step; crops at random places are at other ones each time.
const CROWDED: u32 = 64;

/// Which of a node's starts are fed; empty if none is.
type Fed = SmallVec<[bool; 8]>;

/// Programs by what they are without their starts.
///
/// A program that slices `x[start.., 0..]`, run with the starts 0, 64 and 128, is compiled twice:
///
/// ```text
/// start    the cache has it    `find`                               compiled
/// 0        no                  no program to compare with           as it is, and `note`d
/// 64       no                  differs from the first in a start    with that start fed; the 0 of the columns stays
/// 128      no                  is a run of the one with the fed start
/// 0        yes
/// ```
#[derive(Default)]
pub(super) struct MovingPrograms {
    known: HashMap<u64, Vec<Known>, FixedState>,
    len: usize,
    ops: usize,
    clock: u64,
}

struct Known {
    /// The program that was compiled first.
    first: Arc<Program>,
    /// Its form without the starts that have been different since.
    moving: Option<Arc<Moving>>,
    /// How many programs differed in too many starts, and in which any of them did.
    crowded: u32,
    of_crowded: Vec<Fed>,
    used: u64,
}

/// What a program is asked for as that is not compiled.
pub(super) enum Form {
    /// With the starts fed that move.
    Moving(Arc<Moving>),
    /// As it is. Programs that will be runs of one form, once it is compiled, have the same hash.
    Plain { hash: u64 },
}

/// A program some of whose starts are fed.
pub(super) struct Moving {
    pub program: Arc<Program>,
    pub hash: u64,
    /// For each node which of its starts are fed.
    fed: Vec<Fed>,
}

impl MovingPrograms {
    /// What a program is asked for as that is not compiled, has this hash, and was never asked for if it `is_new`.
    pub fn find(&mut self, draft: &Draft<'_>, hash: u64, is_new: bool) -> Form {
        if !has_starts(draft) {
            return Form::Plain { hash };
        }
        let anywhere = draft.hash_anywhere();
        let same_hash = self.known.get_mut(&anywhere).map_or(&mut [][..], |same_hash| &mut same_hash[..]);
        // A form of which this is a run, or else a program that differs in other starts too.
        let is_run = |known: &Known| known.moving.as_ref().is_some_and(|moving| moving.is_form_of(draft));
        let run = same_hash.iter().position(is_run);
        let place = run.or_else(|| same_hash.iter().position(|known| is_elsewhere(draft, &known.first)));
        let Some(place) = place else { return Form::Plain { hash: anywhere } };
        self.clock += 1;
        let known = &mut same_hash[place];
        known.used = self.clock;
        match known.form(draft, anywhere, run.is_some(), is_new) {
            Some(moving) => Form::Moving(moving),
            None => Form::Plain { hash },
        }
    }

    /// Remembers a program that was compiled as it is.
    pub fn note(&mut self, draft: &Draft<'_>, program: &Arc<Program>) {
        if !has_starts(draft) {
            return;
        }
        let same_hash = self.known.entry(draft.hash_anywhere()).or_default();
        if same_hash.iter().any(|known| is_elsewhere(draft, &known.first)) {
            return;
        }
        self.clock += 1;
        let first = program.clone();
        same_hash.push(Known { first, moving: None, crowded: 0, of_crowded: Vec::new(), used: self.clock });
        self.len += 1;
        self.ops += program.nodes.len();
        if self.len > KNOWN || self.ops > KNOWN_OPS {
            self.forget_half();
        }
    }

    /// Forgets the programs that were not asked for lately.
    fn forget_half(&mut self) {
        let mut used: Vec<u64> = self.known.values().flatten().map(|known| known.used).collect();
        used.sort_unstable();
        let oldest = used[used.len() / 2];
        self.known.retain(|_, same_hash| {
            same_hash.retain(|known| known.used >= oldest);
            !same_hash.is_empty()
        });
        self.len = self.known.values().map(Vec::len).sum();
        self.ops = self.known.values().flatten().map(|known| known.first.nodes.len()).sum();
    }
}

impl Known {
    /// The form with fed starts of a draft that differs only in these, the one that is there if it is a run of that;
    /// `None` if none or too many differ.
    fn form(&mut self, draft: &Draft<'_>, hash: u64, is_run: bool, is_new: bool) -> Option<Arc<Moving>> {
        if let Some(moving) = self.moving.as_ref().filter(|_| is_run)
            && (self.crowded >= CROWDED || places(draft, &moving.fed) <= PLACES)
        {
            return Some(moving.clone());
        }
        // All starts are fed that have ever been different.
        let mut fed = self.different(draft, self.moving.as_ref().map_or(&[], |moving| &moving.fed));
        match places(draft, &fed) {
            0 => return None,
            1..=PLACES => (),
            _ => {
                self.crowded = self.crowded.saturating_add(is_new.into());
                self.of_crowded = self.different(draft, &self.of_crowded);
                if self.crowded < CROWDED {
                    return None;
                }
                fed.clone_from(&self.of_crowded);
            }
        }
        let program = Arc::new(draft.program().with_moving(&fed));
        let hash = FixedState::default().hash_one((hash, &fed));
        self.moving = Some(Arc::new(Moving { program, hash, fed }));
        self.moving.clone()
    }

    /// For each node which of its starts are different in a draft than in the first program, or were before.
    fn different(&self, draft: &Draft<'_>, before: &[Fed]) -> Vec<Fed> {
        let of_node = |(at, (own, first)): (usize, (&Op, &ProgramNode))| {
            let before = before.get(at).map_or(&[][..], |before| &before[..]);
            if before.is_empty() && *own == first.op {
                return Fed::new();
            }
            let (own, first) = (own.starts(), first.op.starts());
            (0..own.len()).map(|axis| before.get(axis) == Some(&true) || own[axis] != first[axis]).collect()
        };
        draft.op_of_each().zip(&self.first.nodes).enumerate().map(of_node).collect()
    }
}

/// How many different starts are fed, [`PLACES`] and one at most.
fn places(draft: &Draft<'_>, fed: &[Fed]) -> usize {
    let mut places: SmallVec<[usize; PLACES + 1]> = SmallVec::new();
    for (op, fed) in draft.op_of_each().zip(fed).filter(|(_, fed)| !fed.is_empty()) {
        for (start, _) in op.starts().iter().zip(fed).filter(|(_, fed)| **fed) {
            if !places.contains(start) {
                places.push(*start);
                if places.len() > PLACES {
                    return places.len();
                }
            }
        }
    }
    places.len()
}

fn has_starts(draft: &Draft<'_>) -> bool {
    draft.op_of_each().any(Op::has_starts)
}

/// Whether the draft differs from a program at most in starts.
fn is_elsewhere(draft: &Draft<'_>, first: &Program) -> bool {
    let anywhere = |op: &Op| match op.starts().len() {
        0 => None,
        count => Some(op.with_moving_starts(&vec![true; count])),
    };
    draft.is_but_for(first, |_, own, first| {
        (own == first || anywhere(own).is_some_and(|own| Some(own) == anywhere(first))).then_some(0)
    })
}

impl Moving {
    /// Whether this is the program.
    pub fn is(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(program, &self.program) || program.is_same(&self.program)
    }

    /// Whether a draft is this program but for what is fed.
    pub fn is_form_of(&self, draft: &Draft<'_>) -> bool {
        draft.is_but_for(&self.program, self.same_op())
    }

    /// How the program's ops are compared with those of its runs.
    pub fn same_op(&self) -> impl SameOp {
        |at, own: &Op, known: &Op| match &self.fed[at][..] {
            [] => (own == known).then_some(0),
            fed => (own.with_moving_starts(fed) == *known).then(|| count(fed)),
        }
    }

    /// What this run of the program feeds: each node's scalars and behind them its starts.
    pub fn scalars(&self, draft: &Draft<'_>) -> Vec<ScalarInput> {
        let mut all = Vec::with_capacity(draft.scalars.len());
        for ((scalars, op), fed) in draft.scalars_of_nodes().zip(draft.op_of_each()).zip(&self.fed) {
            all.extend_from_slice(scalars);
            if !fed.is_empty() {
                for (start, _) in op.starts().iter().zip(fed).filter(|(_, fed)| **fed) {
                    all.push(ScalarInput::Int(*start as i64));
                }
            }
        }
        if draft.has_barrier {
            all.push(BARRIER);
        }
        all
    }
}

fn count(fed: &[bool]) -> usize {
    fed.iter().filter(|fed| **fed).count()
}

impl Program {
    /// The program with the starts left out that are fed to each node.
    fn with_moving(mut self, fed: &[Fed]) -> Self {
        for (node, fed) in self.nodes.iter_mut().zip(fed).filter(|(_, fed)| !fed.is_empty()) {
            node.op = node.op.with_moving_starts(fed);
            node.scalars.extend(std::iter::repeat_n(ScalarKind::Integer, count(fed)));
        }
        self
    }
}

#[cfg(test)]
mod tests;
