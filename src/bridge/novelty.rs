//! Whether most flushes ask for programs that were never asked for before.
//!
//! A loop whose rounds have different shapes and that reads seldom asks for programs of several rounds, and hardly ever
//! for one of them twice: each flush compiles, for ever. Then programs are divided into rounds, which repeat. A loop
//! whose rounds are alike asks for the same programs again soon, so theirs stay whole.

use std::sync::atomic::{AtomicU32, Ordering};

/// Flushes that are remembered, and how many of them have to be new.
const REMEMBERED: u32 = 16;
const MANY: u32 = 3;

/// What the last flushes were, the last one in the lowest bit: 1 for a program of several rounds that was new.
#[derive(Default)]
pub(super) struct Novelty(AtomicU32);

impl Novelty {
    /// Notes a flush, and says whether many were new lately. Flushes on several threads may be noted as one.
    pub fn note(&self, is_new: bool) -> bool {
        let flushes = self.0.load(Ordering::Relaxed) << 1 | u32::from(is_new);
        self.0.store(flushes, Ordering::Relaxed);
        (flushes & ((1 << REMEMBERED) - 1)).count_ones() >= MANY
    }
}
