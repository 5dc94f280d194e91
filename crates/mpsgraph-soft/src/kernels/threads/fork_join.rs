//! The threads that help who shares work.
//!
//! Shared work is one function, which every thread that takes part calls once and which returns when nothing is left to
//! take. The caller opens the work, calls the function, closes it, so that nobody joins any more, and waits for those
//! who have joined. Nobody who waits does anything else meanwhile, and who has joined waits only for work that it has
//! opened itself, inside of the other; so waits are never in a circle, whatever thread calls.
//!
//! Waking a thread costs some microseconds, and it runs late. Therefore helpers stay awake for a while before they
//! sleep ([`spin`](super::spin)), who waits for them does so, too, and one that is woken wakes the next.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::slots::Slots;
use super::spin::{Patience, spin_until};
use crate::ignore_poison::IgnorePoison;

/// How long who shared work spins for its helpers: as long as a piece may take.
const WAIT_SPIN: Duration = Duration::from_micros(100);

/// Those who help, and those who wait for them.
///
/// They do not yield while they stay awake: on a busy machine who yields gets its core back when all others have had
/// theirs. But there the system may give a helper the core of who has woken it; then it sleeps as soon as nothing is
/// left to do.
struct Helpers {
    slots: Slots,
    /// How many helpers are awake.
    awake: AtomicUsize,
    /// How many sleep; who sleeps or wakes counts itself under the lock.
    asleep: AtomicUsize,
    /// Callers that sleep until their helpers have left.
    waiting: AtomicUsize,
    /// The core of who shared work last and is no helper.
    core: AtomicUsize,
    lock: Mutex<()>,
    opened: Condvar,
    left: Condvar,
}

static HELPERS: Helpers = Helpers::new();

/// The most threads that somebody may ask for. Of some ten thousand the system has no memory for their stacks, and a
/// thread that finds that out when it starts ends the process.
const MOST: usize = 256;

/// How many threads compute, the calling one included: one for each core, or as many as `RAYON_NUM_THREADS` says, which
/// the thread pools of other crates obey too, but not more than [`MOST`] and the cores.
pub fn count() -> usize {
    static COUNT: LazyLock<usize> = LazyLock::new(|| {
        let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
        asked.filter(|&asked| asked > 0).map_or(cores().get(), |asked: usize| asked.min(MOST.max(cores().get())))
    });
    *COUNT
}

/// Whether to share work that is too small to wake a helper for it alone: one is awake, or the last such work was a
/// moment ago, so the next will find awake who is woken now.
pub fn shares_small_work() -> bool {
    static LAST: Recent = Recent(AtomicU64::new(0));
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    HELPERS.awake.load(Ordering::Relaxed) > 0 || LAST.again(ORIGIN.elapsed())
}

/// Until when what happened last is a moment ago, in nanoseconds; 0 before it has happened.
struct Recent(AtomicU64);

impl Recent {
    /// Notes that it happens, and says whether it did a moment before.
    fn again(&self, now: Duration) -> bool {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        nanoseconds(now) < self.0.swap(nanoseconds(now + Patience::LONG), Ordering::Relaxed)
    }
}

/// How many threads the system runs at a time.
pub(super) fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The number of the core that runs this thread, where the system tells.
fn core() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it takes nothing and touches no memory of this process.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Calls `part` on this thread, and on others if `pieces` is more than 1 and they come before it returns here.
pub fn run(pieces: usize, part: &(dyn Fn() + Sync)) {
    let seats = pieces.min(count()).saturating_sub(1);
    if seats == 0 {
        return part();
    }
    // Nothing needs a helper, and a system that gives no more threads has given some.
    static STARTED: LazyLock<bool> = LazyLock::new(|| (1..count()).all(start));
    LazyLock::force(&STARTED);
    let panic = Mutex::new(None);
    let part = || {
        if let Err(caught) = catch_unwind(AssertUnwindSafe(part)) {
            let mut first = panic.lock().ignore_poison();
            match *first {
                None => *first = Some(caught),
                // The caller hears of one. To drop what another one carries may panic again, with nobody to catch it.
                Some(_) => std::mem::forget(caught),
            }
        }
    };
    HELPERS.share(&part, seats);
    if let Some(panic) = panic.into_inner().ignore_poison() {
        resume_unwind(panic);
    }
}

/// Starts a helper; whether there is one more.
fn start(at: usize) -> bool {
    let thread = std::thread::Builder::new().name(format!("mpsgraph-soft-{at}"));
    let help = move || {
        NUMBER.set(at);
        HELPERS.help();
    };
    thread.spawn(help).is_ok()
}

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The number of this thread: helpers count from 1, all others are 0.
pub fn number() -> usize {
    NUMBER.get()
}

impl Helpers {
    const fn new() -> Self {
        Self {
            slots: Slots::new(),
            awake: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            core: AtomicUsize::new(usize::MAX),
            lock: Mutex::new(()),
            opened: Condvar::new(),
            left: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().ignore_poison()
    }

    /// Calls `part`, which does not unwind, on this thread and on so many others, if they come before it returns here.
    fn share(&self, part: &(dyn Fn() + Sync), seats: usize) {
        // SAFETY: this does not return before it is closed and left, and nothing in between unwinds.
        let Some(opened) = (unsafe { self.slots.open(part, seats) }) else { return part() };
        if number() == 0 {
            // A helper that shares what it does would be in its own way.
            self.core.store(core().unwrap_or(usize::MAX), Ordering::Relaxed);
        }
        // Who goes to sleep either sees what is open, or is seen to sleep.
        fence(Ordering::SeqCst);
        self.wake_one();
        part();
        opened.close();
        if !spin_until(WAIT_SPIN, || opened.is_left()) {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            drop(self.left.wait_while(self.lock(), |()| !opened.is_left()).ignore_poison());
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        opened.give_back();
    }

    /// Wakes a helper, if one sleeps.
    fn wake_one(&self) {
        if self.asleep.load(Ordering::Relaxed) > 0 {
            // Who has counted itself sleeps when the lock is free.
            drop(self.lock());
            self.opened.notify_one();
        }
    }

    /// What a helper does.
    fn help(&self) {
        let mut patience = Patience::SHORT;
        self.awake.fetch_add(1, Ordering::Relaxed);
        loop {
            let idle = Instant::now();
            if patience.wait(|| self.slots.has_seats(), || self.is_in_the_way()) {
                self.take_part();
            } else if self.sleep() {
                // Who is woken for work that ends before it comes stays awake for what follows, or it would always
                // come too late.
                patience.learn(idle.elapsed());
            }
        }
    }

    /// Whether a helper, this thread, has the core of who needs one.
    fn is_in_the_way(&self) -> bool {
        core() == Some(self.core.load(Ordering::Relaxed))
    }

    /// Sleeps until somebody opens work, which may be closed again by then; not if there is some. Whether it slept.
    fn sleep(&self) -> bool {
        let lock = self.lock();
        self.asleep.fetch_add(1, Ordering::Relaxed);
        self.awake.fetch_sub(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let sleeps = !self.slots.has_seats();
        if sleeps {
            drop(self.opened.wait(lock).ignore_poison());
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        self.awake.fetch_add(1, Ordering::Relaxed);
        sleeps
    }

    /// Takes part in open work, if there still is some.
    fn take_part(&self) {
        let Some(joined) = self.slots.join() else { return };
        if joined.has_seats {
            self.wake_one();
        }
        joined.work();
        drop(joined);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Who waits looks while it holds the lock, so it either sees that this one has left or is asleep now.
            drop(self.lock());
            self.left.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
