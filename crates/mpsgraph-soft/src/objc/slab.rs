//! Memory of object headers.
//!
//! Headers come from blocks that are never freed, and a buried header is handed out again only after
//! [`ZOMBIES`] later burials. Until then it keeps the zombie of its class as `isa`, so an over-release and a message to
//! a dead object can be reported with the name of the class. Reading a header through a stale address is always safe.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::object::Object;
use crate::brief_lock::BriefLock;
use crate::prefetch::prefetch;

/// Headers that stay zombies: a header may be used again after this many later deallocations.
pub(crate) const ZOMBIES: usize = 65_536;
const BLOCK: usize = 1024;

struct Slab {
    fresh: &'static [Object],
    /// The dead, oldest first, linked through `Object::next_dead`.
    oldest: Option<&'static Object>,
    newest: Option<&'static Object>,
    dead: usize,
    taken: u64,
    buried: u64,
}

static SLAB: BriefLock<Slab> =
    BriefLock::new(Slab { fresh: &[], oldest: None, newest: None, dead: 0, taken: 0, buried: 0 });

/// How many headers were taken and buried since the process began.
pub(crate) fn totals() -> (u64, u64) {
    let slab = SLAB.lock();
    (slab.taken, slab.buried)
}

/// A header that nothing refers to, for one more live instance of a class.
pub(crate) fn take(live: &AtomicUsize) -> &'static Object {
    let mut slab = SLAB.lock();
    slab.taken += 1;
    // Changed under the lock only, which costs less than to add atomically.
    live.store(live.load(Relaxed) + 1, Relaxed);
    if slab.dead > ZOMBIES
        && let Some(oldest) = slab.oldest
    {
        slab.dead -= 1;
        slab.oldest = oldest.next_dead();
        slab.oldest.inspect(|next| expect(next));
        return oldest;
    }
    if slab.fresh.is_empty() {
        slab.fresh = Box::leak((0..BLOCK).map(|_| Object::vacant()).collect::<Box<[_]>>());
    }
    let (first, rest) = slab.fresh.split_first().expect("a block was just added");
    slab.fresh = rest;
    first
}

/// Lets the processor fetch the beginning of what will be taken next: it has not been touched for a long time.
fn expect(next: &'static Object) {
    prefetch(std::ptr::from_ref(next).cast(), 1);
}

/// Puts a header whose object is dead at the end of the queue; its class has one live instance less.
pub(crate) fn bury(object: &'static Object, live: &AtomicUsize) {
    object.next_dead.store(std::ptr::null_mut(), Relaxed);
    let mut slab = SLAB.lock();
    live.store(live.load(Relaxed) - 1, Relaxed);
    match slab.newest.replace(object) {
        Some(previous) if slab.dead > 0 => {
            previous.next_dead.store(std::ptr::from_ref(object).cast_mut(), Relaxed);
        }
        _ => slab.oldest = Some(object),
    }
    slab.dead += 1;
    slab.buried += 1;
}
