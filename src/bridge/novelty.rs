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
/// How many of those have to be new. A model asks for a few new programs when it begins.
const MANY: u32 = 8;
/// New rounds of known ops that may be compiled one after the other. A loop of a few kinds of rounds has no more.
const ROUNDS: u32 = 8;
/// Rounds that have to be found before one more may be: among many kinds those that are found again and again are no
/// sign that the others will be.
const FOUND: u32 = 64;
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
    /// For rounds of divided flushes, which new ones are compiled.
    pub rounds: Rounds,
    /// The programs of the last flushes that were not found, the last one first.
    missed: VecDeque<u64>,
}

impl Novelty {
    pub fn several_rounds_are_new(&self) -> bool {
        self.several_rounds.count_new(FLUSHES) >= MANY_OF_SEVERAL
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

/// How many new rounds may be compiled.
pub(super) struct Rounds {
    /// The number times [`FOUND`].
    left: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { left: ROUNDS * FOUND }
    }
}

impl Rounds {
    pub fn note_found(&mut self) {
        self.left = (self.left + 1).min(ROUNDS * FOUND);
    }

    /// Whether one more may be compiled, which then counts as such.
    pub fn take(&mut self) -> bool {
        let left = self.left.checked_sub(FOUND);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}
