//! Compiled programs, with the program itself as key. Count and bytes are bounded; the least recently used program is
//! dropped first.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;

use super::compile::Compiled;
use super::program::Program;

struct Entry {
    compiled: Arc<Compiled>,
    bytes: usize,
    used: u64,
}

/// The executables that can run again without compiling.
pub(super) struct Cache {
    entries: HashMap<Program, Entry, foldhash::fast::RandomState>,
    clock: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    pub evictions: u64,
    /// Hashes of programs that were asked for but not in the cache, newest last.
    missed: VecDeque<u64>,
}

/// Missed programs that are remembered.
const MISSED: usize = 64;

impl Cache {
    /// A cache of at most `max_entries` programs whose inner values add up to at most `max_bytes`.
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: HashMap::default(),
            clock: 0,
            bytes: 0,
            max_entries,
            max_bytes,
            evictions: 0,
            missed: VecDeque::new(),
        }
    }

    pub fn get(&mut self, program: &Program) -> Option<Arc<Compiled>> {
        self.clock += 1;
        let entry = self.entries.get_mut(program)?;
        entry.used = self.clock;
        Some(entry.compiled.clone())
    }

    /// Whether the program is not in the cache and, as far as the cache remembers, was never asked for before.
    pub fn first_seen(&mut self, program: &Program) -> bool {
        if self.entries.contains_key(program) {
            return false;
        }
        let hash = self.entries.hasher().hash_one(program);
        if self.missed.contains(&hash) {
            return false;
        }
        if self.missed.len() == MISSED {
            self.missed.pop_front();
        }
        self.missed.push_back(hash);
        true
    }

    /// Keeps a program of any size, and drops older ones until the bounds hold.
    pub fn insert(&mut self, program: Program, compiled: Arc<Compiled>) {
        let bytes = program.inner_bytes();
        while !self.entries.is_empty()
            && (self.entries.len() >= self.max_entries || self.bytes.saturating_add(bytes) > self.max_bytes)
        {
            self.evict_oldest();
        }
        self.clock += 1;
        self.bytes += bytes;
        self.entries.insert(program, Entry { compiled, bytes, used: self.clock });
    }

    fn evict_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(program, _)| program.clone());
        if let Some(entry) = oldest.and_then(|program| self.entries.remove(&program)) {
            self.bytes -= entry.bytes;
            self.evictions += 1;
        }
    }

    /// Drops every program, and forgets which ones were asked for.
    pub fn clear(&mut self) {
        self.evictions += self.entries.len() as u64;
        self.entries.clear();
        self.missed.clear();
        self.bytes = 0;
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}
