//! How a program is divided that would otherwise be compiled for one flush alone.
//!
//! Rounds of a loop repeat even if their sequence does not. Of what has no rounds, or new ones, pieces repeat: where
//! one ends is decided by its own ops, so that a model behind a random augmentation has the same ones each time. Those
//! with which nearly all steps end or begin are one stretch. What was seldom asked for is divided further, at last into
//! single ops, which are compiled once each; the rest is compiled as it is.

mod stretches;

use super::cache::Seen;
use super::novelty::{History, Novelty};
use super::recording::{Node, Segment, pieces, rounds};
use super::remembered::Remembered;
use super::run::Miss;
use stretches::Stretches;

/// Ops of a long flush, at least.
const LONG: usize = 8;
/// An op is known when it was in this many programs that were not found. Fewer would not do: a short training with a
/// new batch size has the same ops in its first step, which makes the moments, in its later steps, and when it is
/// evaluated.
const FAMILIAR: u32 = 4;
/// How often a program is divided before it is compiled, which takes as long as some such runs.
const SELDOM: u32 = 16;
/// On how many ops on both sides the end of a piece depends: half of the ops that a piece has in the mean.
const PIECE: usize = 8;
/// On how many ops on both sides the end of a fragment depends: half of the ops that a fragment has in the mean.
const FRAGMENT: usize = 2;

/// What a segment is a part of, and so into what it may be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// What a flush took out.
    Whole,
    /// A round of a loop.
    Round,
    /// Pieces with which nearly all steps end or begin.
    Stretch,
    /// About sixteen ops, which may repeat.
    Piece,
    /// About four ops.
    Fragment,
    /// One op.
    Op,
}

impl Grain {
    /// The parts of what is not rounds.
    fn smaller(self) -> &'static [Self] {
        match self {
            Self::Whole | Self::Round => &[Self::Stretch, Self::Piece, Self::Fragment, Self::Op],
            Self::Stretch => &[Self::Piece, Self::Fragment, Self::Op],
            Self::Piece => &[Self::Fragment, Self::Op],
            Self::Fragment => &[Self::Op],
            Self::Op => &[],
        }
    }
}

/// How a segment is divided.
pub(super) struct Division {
    /// The numbers of the nodes that begin another part, ascending; there is at least one.
    pub begins: Vec<usize>,
    /// What the parts are.
    pub into: Grain,
}

/// Hashes of what was asked for, on all threads.
#[derive(Default)]
pub(super) struct Divisions {
    /// The ops of segments whose programs were new.
    ops: Remembered,
    /// The programs that were divided into stretches or less.
    divided: Remembered,
    /// What steps end and begin with.
    stretches: Stretches,
}

/// Notes that the program of a segment is not a new one: it was found, or it is compiled, but with other lanes.
pub(super) fn note_not_new(segment: &Segment, grain: Grain, novelty: &mut Novelty) {
    match grain {
        Grain::Whole => {
            novelty.several_rounds.note(false);
            if let Some(history) = history(segment, novelty) {
                history.note(false);
            }
        }
        Grain::Round => novelty.rounds.note_found(),
        Grain::Stretch | Grain::Piece | Grain::Fragment | Grain::Op => (),
    }
}

/// The history of flushes as long as this one; `None` for one op.
fn history<'a>(segment: &Segment, novelty: &'a mut Novelty) -> Option<&'a mut History> {
    match segment.nodes.len() {
        0 | 1 => None,
        2..LONG => Some(&mut novelty.short),
        LONG.. => Some(&mut novelty.long),
    }
}

impl Divisions {
    /// Notes that the program of a segment was not found, and says how the segment is divided; `None` if the program is
    /// compiled.
    pub fn of_missed(
        &mut self,
        segment: &Segment,
        grain: Grain,
        miss: &Miss,
        novelty: &mut Novelty,
    ) -> Option<Division> {
        let Miss { hash, seen, .. } = *miss;
        match (seen, grain) {
            (Seen::Compiled, _) => {
                note_not_new(segment, grain, novelty);
                None
            }
            (Seen::Never | Seen::Asked, Grain::Whole) => self.of_whole(segment, hash, novelty),
            (Seen::Never | Seen::Asked, Grain::Round) => {
                // Rounds of ops that are known are other sequences of them, of which there may be any number.
                if self.are_known(segment) && !novelty.rounds.take() {
                    return self.smaller_parts(segment, grain, hash);
                }
                None
            }
            (Seen::Never | Seen::Asked, Grain::Stretch | Grain::Piece | Grain::Fragment | Grain::Op) => {
                self.smaller_parts(segment, grain, hash)
            }
        }
    }

    fn of_whole(&mut self, segment: &Segment, hash: u64, novelty: &mut Novelty) -> Option<Division> {
        let missed_lately = novelty.note_missed(hash);
        let rounds = if missed_lately { None } else { self.divide(segment, Grain::Round) };
        novelty.several_rounds.note(rounds.is_some());
        let are_new = history(segment, novelty).is_some_and(|history| {
            history.note(!missed_lately);
            history.has_many_new()
        });
        if rounds.is_some() && (are_new || novelty.several_rounds_are_new()) {
            return rounds;
        }
        let divides = self.are_known(segment) && are_new && !missed_lately;
        if divides { self.smaller_parts(segment, Grain::Whole, hash) } else { None }
    }

    /// Whether nearly all ops were asked for often before; notes that they are now. Ops of shapes that were never seen
    /// would be compiled one by one.
    fn are_known(&mut self, segment: &Segment) -> bool {
        let nodes = &segment.nodes;
        // An unknown op that the segment has several times is counted each time.
        let unknown = nodes.iter().map(Node::hash_anywhere).filter(|hash| self.ops.count(*hash) < FAMILIAR);
        let mut unknown: Vec<u64> = unknown.collect();
        let are_known = unknown.len() <= nodes.len() / 10;
        unknown.sort_unstable();
        unknown.dedup();
        unknown.into_iter().for_each(|hash| self.ops.note(hash));
        are_known
    }

    /// Divides a segment that was seldom asked for into the largest parts of which it has several.
    fn smaller_parts(&mut self, segment: &Segment, grain: Grain, hash: u64) -> Option<Division> {
        if self.divided.count(hash) >= SELDOM {
            return None;
        }
        let division = grain.smaller().iter().find_map(|&part| self.divide(segment, part))?;
        self.divided.note(hash);
        Some(division)
    }

    /// How a segment is divided into such parts; `None` if only one part of it has values that somebody needs.
    fn divide(&mut self, segment: &Segment, into: Grain) -> Option<Division> {
        let Segment { nodes, wanted } = segment;
        let begins = match into {
            Grain::Whole => Vec::new(),
            Grain::Round => rounds(nodes, wanted),
            Grain::Stretch => self.stretches.of(nodes, &pieces(nodes, PIECE)),
            Grain::Piece => pieces(nodes, PIECE),
            Grain::Fragment => pieces(nodes, FRAGMENT),
            Grain::Op => (1..nodes.len()).collect(),
        };
        let begins = segment.dividing(begins);
        (!begins.is_empty()).then_some(Division { begins, into })
    }
}
