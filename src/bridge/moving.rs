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

/// The most different starts that are fed to one program. Parts of an unrolled net differ in many, and are better
/// compiled each with its own, because neighbouring time steps are then written together.
const PLACES: usize = 16;

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
    used: u64,
}

/// A program some of whose starts are fed.
pub(super) struct Moving {
    pub program: Arc<Program>,
    pub hash: u64,
    /// For each node which of its starts are fed.
    fed: Vec<Fed>,
}

impl MovingPrograms {
    /// The form with fed starts of a program that is not compiled; `None` if no program differs from it only in starts.
    pub fn find(&mut self, draft: &Draft<'_>) -> Option<Arc<Moving>> {
        if self.len == 0 || !has_starts(draft) {
            return None;
        }
        let hash = draft.hash_anywhere();
        let same_hash = self.known.get_mut(&hash)?;
        self.clock += 1;
        // A program with fed starts of which this is a run.
        let form = |known: &mut Known| {
            let moving = known.moving.as_ref().filter(|moving| moving.is_form_of(draft))?;
            known.used = self.clock;
            Some(moving.clone())
        };
        if let Some(moving) = same_hash.iter_mut().find_map(form) {
            return has_few_places(draft, &moving.fed).then_some(moving);
        }
        // Else one is made, in which all starts are fed that have ever been different.
        let known = same_hash.iter_mut().find(|known| is_elsewhere(draft, &known.first))?;
        known.used = self.clock;
        let fed = known.fed(draft);
        if !has_few_places(draft, &fed) {
            return None;
        }
        let program = Arc::new(draft.program().with_moving(&fed));
        let hash = FixedState::default().hash_one((hash, &fed));
        known.moving = Some(Arc::new(Moving { program, hash, fed }));
        known.moving.clone()
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
        same_hash.push(Known { first: program.clone(), moving: None, used: self.clock });
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
    /// For each node which of its starts have been different since the first program.
    fn fed(&self, draft: &Draft<'_>) -> Vec<Fed> {
        let of_node = |(at, (own, first)): (usize, (&Op, &ProgramNode))| {
            let before = self.moving.as_ref().map_or(&[][..], |moving| &moving.fed[at]);
            if before.is_empty() && *own == first.op {
                return Fed::new();
            }
            let (own, first) = (own.starts(), first.op.starts());
            (0..own.len()).map(|axis| before.get(axis) == Some(&true) || own[axis] != first[axis]).collect()
        };
        draft.op_of_each().zip(&self.first.nodes).enumerate().map(of_node).collect()
    }
}

/// Whether some starts are fed, but not too many different ones.
fn has_few_places(draft: &Draft<'_>, fed: &[Fed]) -> bool {
    let mut places: SmallVec<[usize; PLACES]> = SmallVec::new();
    for (op, fed) in draft.op_of_each().zip(fed).filter(|(_, fed)| !fed.is_empty()) {
        for (start, _) in op.starts().iter().zip(fed).filter(|(_, fed)| **fed) {
            if !places.contains(start) {
                if places.len() == PLACES {
                    return false;
                }
                places.push(*start);
            }
        }
    }
    !places.is_empty()
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
