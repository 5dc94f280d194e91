//! Programs that differ from an earlier one only in where slices start.
//!
//! The first such program is compiled as it is, so that what stays in place (the parts of a fused projection) is a
//! plain slice. When one comes that differs in starts, those that differ are fed from then on: mini-batches cut from
//! one tensor or a token put into a cache compile once more and not again for each place.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::BuildHasher;

use super::draft::{BARRIER, Draft};
use super::program::Program;
use crate::lowering::scalar::{ScalarInput, ScalarKind};
use crate::ops::Starts;

/// The most programs that are remembered with their starts.
const KNOWN: usize = 1024;

/// The most different starts that are fed to one program. Parts of an unrolled net differ in many, and are better
/// compiled each with its own, because neighbouring time steps are then written together.
const PLACES: usize = 16;

/// Programs by what they are without their starts.
#[derive(Default)]
pub(super) struct MovingPrograms {
    known: HashMap<u64, Vec<Known>, FixedState>,
    len: usize,
}

struct Known {
    /// The program with every start left out.
    anywhere: Program,
    /// The starts of its nodes when it was first seen.
    first: Vec<Starts>,
    /// Which of them have been different since.
    moving: Vec<Vec<bool>>,
}

/// A program some of whose starts are fed.
pub(super) struct Moving {
    pub program: Program,
    pub hash: u64,
    /// For each node which of its starts are fed.
    fed: Vec<Vec<bool>>,
}

impl MovingPrograms {
    /// The form with fed starts of a program that is not compiled; `None` if no program differs from it only in starts.
    pub fn find(&mut self, draft: &Draft<'_>) -> Option<Moving> {
        let first: Vec<Starts> = draft.starts().collect();
        if first.iter().all(|starts| starts.is_empty()) {
            return None;
        }
        let anywhere = draft.program().with_moving(&everything(&first));
        let hash = FixedState::default().hash_one((&anywhere.feeds, &anywhere.nodes, &anywhere.outputs));
        let same_hash = self.known.entry(hash).or_default();
        let Some(known) = same_hash.iter_mut().find(|known| known.anywhere.is_same(&anywhere)) else {
            let moving = first.iter().map(|starts| vec![false; starts.len()]).collect();
            same_hash.push(Known { anywhere, first, moving });
            self.len += 1;
            if self.len > KNOWN {
                *self = Self::default();
            }
            return None;
        };
        let mut moving = known.moving.clone();
        let mut places = Vec::new();
        for ((moving, known), own) in moving.iter_mut().zip(&known.first).zip(&first) {
            for ((moving, known), own) in moving.iter_mut().zip(known).zip(own) {
                *moving |= known != own;
                if *moving && !places.contains(own) {
                    places.push(*own);
                }
            }
        }
        if places.is_empty() || places.len() > PLACES {
            return None;
        }
        known.moving = moving;
        let program = draft.program().with_moving(&known.moving);
        let hash = FixedState::default().hash_one((hash, &known.moving));
        Some(Moving { program, hash, fed: known.moving.clone() })
    }
}

fn everything(starts: &[Starts]) -> Vec<Vec<bool>> {
    starts.iter().map(|starts| vec![true; starts.len()]).collect()
}

impl Moving {
    /// What this run of the program feeds: each node's scalars and behind them its starts.
    pub fn scalars(&self, draft: &Draft<'_>) -> Vec<ScalarInput> {
        let mut all = Vec::new();
        for ((scalars, starts), fed) in draft.scalars_of_nodes().zip(draft.starts()).zip(&self.fed) {
            all.extend_from_slice(scalars);
            let fed = starts.iter().zip(fed).filter(|(_, fed)| **fed);
            all.extend(fed.map(|(start, _)| ScalarInput::Int(*start as i64)));
        }
        if self.program.has_barrier() {
            all.push(BARRIER);
        }
        all
    }
}

impl Program {
    /// The program with the starts left out that `moving` names for each node.
    fn with_moving(mut self, moving: &[Vec<bool>]) -> Self {
        for (node, moving) in self.nodes.iter_mut().zip(moving) {
            let count = moving.iter().filter(|moving| **moving).count();
            if count > 0 {
                node.op = node.op.with_moving_starts(moving);
                node.scalars.extend(std::iter::repeat_n(ScalarKind::Integer, count));
            }
        }
        self
    }
}
