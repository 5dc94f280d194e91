//! Compiled programs. Their number and the ops that they keep are bounded; the least recently used is dropped first.
//!
//! The bounds grow when programs that were dropped are asked for again, so a set of programs that repeats is compiled
//! at most twice, and a stream of programs that seldom repeat keeps little.

mod lately;
mod recent;

use std::sync::{Arc, Weak};

use lately::Lately;
use recent::Recent;

use super::compile::Compiled;
use super::draft::{self, Draft, Track};
use super::moving::{Form, Moving, MovingPrograms};
use super::program::Program;
use super::recording::Segment;
use super::remembered::Remembered;

/// Ops that are kept at first for each program that may be kept.
const OPS_PER_PROGRAM: usize = 512;
/// How often the bounds may double.
const DOUBLINGS: u32 = 4;
/// Orders in which segments are remembered to have been recorded.
const TRACKS: usize = 256;

struct Entry {
    program: Arc<Program>,
    compiled: Arc<Compiled>,
}

/// A program of which a segment was a run, with the segment's order.
struct Tracked {
    /// The program's in the cache.
    hash: u64,
    /// If some of its starts are fed.
    moving: Option<Weak<Moving>>,
    track: Track,
}

/// How a program was seen before that is not in the cache, as far as is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Never,
    /// It was asked for, but not compiled.
    Asked,
    /// It was compiled, or one was that differs in numbers or starts alone.
    Compiled,
}

/// What a segment asks for that is recorded like an earlier one.
pub(super) struct Followed {
    pub compiled: Arc<Compiled>,
    /// If some of the program's starts are fed.
    pub moving: Option<Arc<Moving>>,
}

/// The executables that can run again without compiling.
pub(super) struct Cache {
    /// The most programs that are kept at first.
    programs: usize,
    /// By the drafts' hashes.
    entries: Recent<Vec<Entry>>,
    len: usize,
    ops: usize,
    doublings: u32,
    pub evictions: u64,
    /// Programs that were asked for but not in the cache.
    missed: Remembered,
    /// Programs that were dropped.
    dropped: Remembered,
    /// What was compiled lately: the bounds double if much of that had been dropped before. Among programs of ever new
    /// shapes little has, and those would fill the memory for a few that are asked for again.
    lately: Lately,
    /// Programs whose slices move.
    moving: MovingPrograms,
    /// Programs of segments, by the segments' keys.
    tracks: Recent<Tracked>,
}

impl Cache {
    /// A cache of at most `programs` programs at first.
    pub fn new(programs: usize) -> Self {
        Self {
            programs,
            entries: Recent::default(),
            len: 0,
            ops: 0,
            doublings: 0,
            evictions: 0,
            missed: Remembered::default(),
            dropped: Remembered::default(),
            lately: Lately::default(),
            moving: MovingPrograms::default(),
            tracks: Recent::default(),
        }
    }

    /// The program that a draft asks for, whose hash is given.
    pub fn get(&mut self, draft: &Draft<'_>, hash: u64) -> Option<Arc<Compiled>> {
        self.find(hash, |program| draft.is(program))
    }

    /// The program that a segment asks for, if one with its key was recorded like it; then `draft` becomes its draft.
    pub fn follow<'a>(&mut self, segment: &'a Segment, key: u64, draft: &mut Draft<'a>) -> Option<Followed> {
        let Tracked { hash, moving, track } = self.tracks.get_mut(key)?;
        let moving = match moving {
            Some(moving) => Some(moving.upgrade()?),
            None => None,
        };
        let mut is_it = |program: &Arc<Program>| match &moving {
            Some(moving) => moving.is(program) && track.draft(program, segment, moving.same_op(), draft),
            None => track.draft(program, segment, draft::same, draft),
        };
        let entry = self.entries.get_mut(*hash)?.iter().find(|entry| is_it(&entry.program))?;
        Some(Followed { compiled: entry.compiled.clone(), moving })
    }

    /// Remembers the order in which the segment with this key was recorded, whose draft asked for the program with this
    /// hash.
    pub fn note_track(&mut self, key: u64, draft: &Draft<'_>, hash: u64, moving: Option<&Arc<Moving>>) {
        self.tracks.insert(key, Tracked { hash, moving: moving.map(Arc::downgrade), track: Track::of(draft) });
        if self.tracks.len() > TRACKS {
            self.tracks.pop_oldest();
        }
    }

    /// A program with fed starts.
    pub fn get_moving(&mut self, moving: &Moving) -> Option<Arc<Compiled>> {
        self.find(moving.hash, |program| moving.is(program))
    }

    fn find(&mut self, hash: u64, is_it: impl Fn(&Arc<Program>) -> bool) -> Option<Arc<Compiled>> {
        let entry = self.entries.get_mut(hash)?.iter().find(|entry| is_it(&entry.program))?;
        Some(entry.compiled.clone())
    }

    /// What a program is asked for as that is not in the cache.
    pub fn form(&mut self, draft: &Draft<'_>, hash: u64) -> Form {
        self.moving.find(draft, hash, !self.missed.contains(hash))
    }

    /// Remembers where the slices of a program start that is compiled as it is.
    pub fn note_places(&mut self, draft: &Draft<'_>, program: &Arc<Program>) {
        self.moving.note(draft, program);
    }

    /// All programs.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.entries.values().flatten().map(|entry| &*entry.program)
    }

    /// Notes that a program is not in the cache, and says how it was seen before.
    pub fn miss(&mut self, hash: u64) -> Seen {
        let (was_asked, was_dropped) = (self.missed.contains(hash), self.dropped.contains(hash));
        self.missed.note_new(hash);
        match (was_dropped, was_asked) {
            (true, _) => Seen::Compiled,
            (false, true) => Seen::Asked,
            (false, false) => Seen::Never,
        }
    }

    /// Whether one more program of the mean size would be too many.
    fn is_full(&self) -> bool {
        let ops = self.ops / self.len.max(1);
        self.len >= self.most_programs() || self.ops + ops > self.most_ops()
    }

    fn most_programs(&self) -> usize {
        self.programs << self.doublings
    }

    fn most_ops(&self) -> usize {
        self.most_programs() * OPS_PER_PROGRAM
    }

    /// Keeps a program of any size, and drops older ones until the bounds hold. One that is compiled again, because
    /// scalars no longer share lanes, takes its own place.
    pub fn insert(&mut self, hash: u64, program: Arc<Program>, compiled: Arc<Compiled>) {
        let same_hash = self.entries.get_mut(hash);
        let same = same_hash.and_then(|entries| entries.iter_mut().find(|entry| entry.program.is_same(&program)));
        if let Some(entry) = same {
            entry.compiled = compiled;
            return;
        }
        let ops = program.nodes.len();
        self.lately.note(ops, self.dropped.contains(hash));
        if self.lately.many_return(self.programs) && self.doublings < DOUBLINGS && self.is_full() {
            self.doublings += 1;
        }
        while self.len > 0 && (self.len >= self.most_programs() || self.ops.saturating_add(ops) > self.most_ops()) {
            self.evict_oldest();
        }
        self.len += 1;
        self.ops += ops;
        let entry = Entry { program, compiled };
        match self.entries.get_mut(hash) {
            Some(entries) => entries.push(entry),
            None => self.entries.insert(hash, vec![entry]),
        }
    }

    /// Drops the program that was used longest ago, with any others of the same hash.
    fn evict_oldest(&mut self) {
        let Some((hash, entries)) = self.entries.pop_oldest() else {
            unreachable!("there are {} programs", self.len);
        };
        self.len -= entries.len();
        self.ops -= entries.iter().map(|entry| entry.program.nodes.len()).sum::<usize>();
        self.evictions += entries.len() as u64;
        self.dropped.note(hash);
    }

    /// Drops every program, and forgets which ones were asked for.
    pub fn clear(&mut self) {
        *self = Self { evictions: self.evictions, ..Self::new(self.programs) };
    }

    pub fn len(&self) -> usize {
        self.len
    }
}
