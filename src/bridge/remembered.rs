//! The newest of the hashes that were noted.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

/// Hashes that are remembered at most.
const REMEMBERED: usize = 1 << 14;

/// Hashes, and how often each of them is among the newest.
#[derive(Default)]
pub(super) struct Remembered {
    order: VecDeque<u64>,
    count: HashMap<u64, u32, FixedState>,
}

impl Remembered {
    /// Notes a hash, also one that is remembered.
    pub fn note(&mut self, hash: u64) {
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
            && let Some(count) = self.count.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.count.remove(&oldest);
            }
        }
        self.order.push_back(hash);
        *self.count.entry(hash).or_default() += 1;
    }

    /// Notes a hash if it is not remembered.
    pub fn note_new(&mut self, hash: u64) {
        if !self.contains(hash) {
            self.note(hash);
        }
    }

    pub fn contains(&self, hash: u64) -> bool {
        self.count(hash) > 0
    }

    /// How often a hash is remembered.
    pub fn count(&self, hash: u64) -> u32 {
        self.count.get(&hash).copied().unwrap_or(0)
    }
}
