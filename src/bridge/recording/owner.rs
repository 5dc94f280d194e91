//! Which thread records into which recording.
//!
//! A recording lives as long as the process, so that a value names its own without counting references: each count that
//! threads share costs nanoseconds, and every op makes a value. A recording whose thread has ended is an orphan: it
//! keeps only what its values depend on. When it is empty it waits for the next thread that needs one, so there are as
//! many as there were threads and orphans at a time.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use smallvec::SmallVec;

use super::given::Given;
use super::{Bounds, List, Novelty, Recording};
use crate::lock::LockAnyway;

/// Who records into a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody; it is empty.
    #[default]
    Nobody,
    Thread,
    /// Nobody, because its thread has ended; it is not empty.
    Ended,
}

/// Serial numbers of one recording: more than its threads can record in months. There are numbers for a million
/// recordings.
const SERIALS: u64 = 1 << 44;

/// Every recording.
static ALL: Mutex<Vec<&'static Recording>> = Mutex::new(Vec::new());

/// Those that nobody records into and that are empty.
static FREE: Mutex<Vec<&'static Recording>> = Mutex::new(Vec::new());

/// What is counted of all orphans. They are counters without a lock, because each tensor that is dropped looks here.
static ORPHANS: Orphans = Orphans {
    count: AtomicUsize::new(0),
    ops: AtomicUsize::new(0),
    held_bytes: AtomicUsize::new(0),
    read_bytes: AtomicUsize::new(0),
};

struct Orphans {
    /// Recordings whose threads have ended and that hold something.
    count: AtomicUsize,
    /// Ops that all orphans hold.
    ops: AtomicUsize,
    /// Bytes of buffers that only orphans held when each of them was counted last.
    held_bytes: AtomicUsize,
    /// Bytes of buffers that recordings read which have become orphans since all orphans were counted. Somebody else
    /// may have held these buffers then and have dropped them since, which nobody is told of.
    read_bytes: AtomicUsize,
}

/// What a recording keeps whose thread has ended.
#[derive(Clone, Copy, Default)]
pub(super) struct Holdings {
    ops: usize,
    /// Bytes of buffers that only it holds.
    held_bytes: usize,
}

/// Whether a handle that has given up its value has to look whether the value's recording is an orphan.
pub(in crate::bridge) fn any_orphans() -> bool {
    // If the recording becomes an orphan just now, either it is counted here, or its thread sees that the value was
    // given up.
    fence(Ordering::SeqCst);
    ORPHANS.count.load(Ordering::Relaxed) > 0
}

impl Recording {
    /// One that the calling thread records into until it calls [`Self::orphan`].
    pub fn of_thread() -> &'static Self {
        let free = FREE.lock_anyway().pop();
        let recording = free.unwrap_or_else(|| {
            let mut all = ALL.lock_anyway();
            let first_serial = (all.len() as u64).wrapping_mul(SERIALS);
            let new: &'static Self = Box::leak(Box::new(Self::with_first_serial(first_serial)));
            all.push(new);
            new
        });
        recording.lock().owner = Owner::Thread;
        recording.in_use.store(true, Ordering::Release);
        recording
    }

    /// All recordings.
    pub fn all() -> SmallVec<[&'static Self; 4]> {
        SmallVec::from_slice(&ALL.lock_anyway())
    }

    /// Those that may hold something.
    pub fn all_in_use() -> SmallVec<[&'static Self; 4]> {
        ALL.lock_anyway().iter().copied().filter(|recording| recording.is_in_use()).collect()
    }

    /// Whether a thread records into it, or may ask for one of its values.
    pub fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire)
    }

    /// Its thread has ended, or needs it no longer: what its values do not need is dropped, now and whenever the last
    /// tensor of a value is.
    pub fn orphan(&'static self) {
        let mut list = self.lock();
        list.owner = Owner::Ended;
        let kept = (list.nodes.take_places(), std::mem::take(&mut list.beginnings));
        // Counted first: a tensor that is dropped from now on looks here, and what was dropped before is seen below.
        ORPHANS.count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        drop(list);
        drop(kept);
        self.prune();
    }

    /// The recordings to flush before this one becomes an orphan, so that all orphans together have the bounds of one
    /// recording: this one, if it is too much with them, and of the others those that hold most, if they do by
    /// themselves.
    pub fn too_much_with_orphans(&'static self, bounds: &Bounds) -> SmallVec<[&'static Self; 4]> {
        self.prune();
        let (holdings, read_bytes) = {
            let list = self.lock();
            (list.holdings(), Given::to(&list.nodes).all().map(|value| value.bytes()).sum::<usize>())
        };
        // To count them costs a walk over their nodes.
        let read_before = ORPHANS.read_bytes.fetch_add(read_bytes, Ordering::Relaxed);
        if read_before.saturating_add(read_bytes) >= bounds.held_bytes / 4 {
            ORPHANS.read_bytes.store(0, Ordering::Relaxed);
            Self::all_in_use().iter().for_each(|recording| recording.lock().count_orphan());
        }
        let ops = ORPHANS.ops.load(Ordering::Relaxed).saturating_add(holdings.ops);
        let held_bytes = ORPHANS.held_bytes.load(Ordering::Relaxed);
        let mut too_much = SmallVec::new();
        if ops >= bounds.ops || held_bytes.saturating_add(holdings.held_bytes) >= bounds.held_bytes {
            too_much.push(self);
        }
        if held_bytes >= bounds.held_bytes {
            too_much.extend(Self::orphans_that_hold(held_bytes - bounds.held_bytes));
        }
        too_much
    }

    /// Orphans that hold more than so many bytes together, as few as are enough.
    fn orphans_that_hold(mut bytes: usize) -> impl Iterator<Item = &'static Self> {
        let held = |recording: &'static Self| (recording.lock().holdings.held_bytes, recording);
        let mut orphans: Vec<_> = Self::all_in_use().into_iter().map(held).filter(|(held, _)| *held > 0).collect();
        orphans.sort_by_key(|(held, _)| Reverse(*held));
        let mut is_enough = false;
        let needed = orphans.into_iter().take_while(move |(held, _)| {
            let was_enough = std::mem::replace(&mut is_enough, *held > bytes);
            bytes = bytes.saturating_sub(*held);
            !was_enough
        });
        needed.map(|(_, recording)| recording)
    }

    /// Drops what nobody can ask for if its thread has ended.
    pub fn prune_if_orphaned(&'static self) {
        let owner = self.lock().owner;
        if owner == Owner::Ended {
            self.prune();
        }
    }

    /// After nodes have left: an orphan that is empty is given to the next thread that needs a recording.
    pub(super) fn give_away(&'static self, list: &mut List) {
        if list.owner == Owner::Ended && list.nodes.is_empty() {
            *list = List::default();
            *self.novelty.lock_anyway() = Novelty::default();
            self.in_use.store(false, Ordering::Release);
            ORPHANS.count.fetch_sub(1, Ordering::Relaxed);
            FREE.lock_anyway().push(self);
        }
    }
}

impl List {
    fn holdings(&self) -> Holdings {
        Holdings { ops: self.nodes.len(), held_bytes: self.held_bytes().0 }
    }

    /// Counts what an orphan keeps now.
    pub(super) fn count_orphan(&mut self) {
        if self.owner == Owner::Ended {
            let now = self.holdings();
            let before = std::mem::replace(&mut self.holdings, now);
            let Orphans { ops, held_bytes, .. } = &ORPHANS;
            for (all, now, before) in [(ops, now.ops, before.ops), (held_bytes, now.held_bytes, before.held_bytes)] {
                all.fetch_add(now, Ordering::Relaxed);
                all.fetch_sub(before, Ordering::Relaxed);
            }
        }
    }
}
