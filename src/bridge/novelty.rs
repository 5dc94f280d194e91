//! Whether many flushes of a thread ask for programs that were never asked for before.
//!
//! A loop whose steps are alike asks for the same programs again soon. One whose rounds have different shapes and that
//! reads seldom asks for programs of several rounds, and hardly ever for one of them twice; so does one whose steps are
//! different ops, such as one that walks over trees, for programs of one round. Each flush would compile, for ever, so
//! their programs are divided.

use std::collections::VecDeque;

/// Flushes that are looked at for new programs of several rounds, and how many have to be such.
const FLUSHES: u32 = 16;
const MANY_OF_SEVERAL: u32 = 3;
/// Flushes of one length that are looked at: beside the steps that differ there may be others.
const OF_LENGTH: u32 = 64;
/// Rounds that are looked at.
const ROUNDS: u32 = 16;
/// How many of those have to be new. A model asks for a few new programs when it begins.
const MANY: u32 = 8;
/// New rounds among the last ones from which on a round is divided that was never asked for: where there are many
/// kinds, half of them may return.
const SOME: u32 = 4;
/// Programs that were not found which are remembered.
const MISSED: usize = 16;

/// What the last flushes of a recording asked for.
#[derive(Default)]
pub(super) struct Novelty {
    /// For flushes, whether the program was new and of several rounds.
    pub several_rounds: History,
    /// For long flushes, whether the program was new.
    pub long: History,
    /// The same for short ones: a loop may have both.
    pub short: History,
    /// For rounds of divided flushes, whether the program was new.
    pub rounds: History,
    /// The programs of the last flushes that were not found, the last one first.
    missed: VecDeque<u64>,
}

impl Novelty {
    pub fn several_rounds_are_new(&self) -> bool {
        self.several_rounds.count_new(FLUSHES) >= MANY_OF_SEVERAL
    }

    /// Whether many rounds are new, to one that was asked for before or not.
    pub fn rounds_are_new(&self, was_asked: bool) -> bool {
        self.rounds.count_new(ROUNDS) >= if was_asked { MANY } else { SOME }
    }

    /// Notes a program that was not found, and says whether it was not found lately either, as that of a loop that
    /// begins.
    pub fn note_missed(&mut self, hash: u64) -> bool {
        let missed_lately = self.missed.contains(&hash);
        self.missed.truncate(MISSED - 1);
        self.missed.push_front(hash);
        missed_lately
    }
}

/// Which of the last ones were new, the last one in the lowest bit.
#[derive(Default)]
pub(super) struct History(u64);

impl History {
    pub fn note(&mut self, is_new: bool) {
        self.0 = self.0 << 1 | u64::from(is_new);
    }

    /// Whether many of the last ones were new.
    pub fn has_many_new(&self) -> bool {
        self.count_new(OF_LENGTH) >= MANY
    }

    /// How many of so many last ones were new.
    fn count_new(&self, last: u32) -> u32 {
        (self.0 & (u64::MAX >> (u64::BITS - last))).count_ones()
    }
}
