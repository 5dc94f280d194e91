//! The threads that help who shares work.
//!
//! Shared work is one function, which every thread that takes part calls once and which returns when nothing is left to
//! take. The caller opens the work, calls the function, closes it, so that nobody joins any more, and waits for those
//! who have joined. Nobody who waits does anything else meanwhile, and who has joined waits only for work that it has
//! opened itself, inside of the other; so waits are never in a circle, whatever thread calls.
//!
//! Waking a thread costs some microseconds, and it runs late. Therefore helpers stay awake for a while before they
//! sleep ([`spin`](super::spin)), who waits for them does so, too, and one that is woken wakes the next. They do not
//! yield meanwhile: on a busy machine who yields gets its core back when all others have had theirs.

use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::spin::{Patience, spin_until};
use crate::ignore_poison::IgnorePoison;

/// How long who shared work spins for its helpers: as long as a piece may take.
const WAIT_SPIN: Duration = Duration::from_micros(100);

/// Work that is shared, on the stack of who shares it.
struct Work<'a> {
    part: &'a (dyn Fn() + Sync),
    /// Helpers that have joined and not left.
    joined: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Work that helpers may join.
struct Open {
    work: *const Work<'static>,
    /// How many more may.
    seats: usize,
}

// SAFETY: a `Work` is made of parts that threads may share, and is there as long as it is open (`run`).
unsafe impl Send for Open {}

/// What has a cache line to itself, so that writing it takes nothing else from another core.
#[repr(align(128))]
struct OwnLine<T>(T);

struct Helpers {
    state: Mutex<State>,
    /// Free seats, for those who spin.
    seats: AtomicUsize,
    /// Helpers that stay awake without work.
    spinning: OwnLine<AtomicUsize>,
    /// Callers that sleep until their helpers have left.
    waiting: AtomicUsize,
    opened: Condvar,
    left: Condvar,
}

struct State {
    open: Vec<Open>,
    asleep: usize,
}

static HELPERS: Helpers = Helpers::new();

/// How many threads compute, the calling one included: one for each core, or as many as `RAYON_NUM_THREADS` says, which
/// the thread pools of other crates obey too.
pub fn count() -> usize {
    static COUNT: LazyLock<usize> = LazyLock::new(|| {
        let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
        asked.filter(|&asked| asked > 0).unwrap_or_else(|| cores().get())
    });
    *COUNT
}

/// Whether to share work that is too small to wake a helper for it alone: one waits awake, or the last such work was a
/// moment ago, so the next will find awake who is woken now.
pub fn shares_small_work() -> bool {
    static LAST: Recent = Recent(AtomicU64::new(0));
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    HELPERS.spinning.0.load(Ordering::Relaxed) > 0 || LAST.again(ORIGIN.elapsed())
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

/// Calls `part` on this thread, and on others if `pieces` is more than 1 and they come before it returns here.
pub fn run(pieces: usize, part: &(dyn Fn() + Sync)) {
    let seats = pieces.min(count()).saturating_sub(1);
    if seats == 0 {
        return part();
    }
    static STARTED: LazyLock<()> = LazyLock::new(|| (1..count()).for_each(start));
    LazyLock::force(&STARTED);
    let work = Work { part, joined: AtomicUsize::new(0), panic: Mutex::default() };
    HELPERS.open(&work, seats);
    let outcome = catch_unwind(AssertUnwindSafe(part));
    HELPERS.close(&work);
    let panic = outcome.err().or_else(|| work.panic.into_inner().ignore_poison());
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

fn start(at: usize) {
    let thread = std::thread::Builder::new().name(format!("mpsgraph-soft-{at}"));
    let help = move || {
        NUMBER.set(at);
        HELPERS.help();
    };
    thread.spawn(help).expect("the device needs its threads");
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
            state: Mutex::new(State { open: Vec::new(), asleep: 0 }),
            seats: AtomicUsize::new(0),
            spinning: OwnLine(AtomicUsize::new(0)),
            waiting: AtomicUsize::new(0),
            opened: Condvar::new(),
            left: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn open(&self, work: &Work<'_>, seats: usize) {
        // The lifetime is not known to the list; `run` closes what it opened before it returns.
        let work = std::ptr::from_ref(work).cast();
        let mut state = self.lock();
        state.open.push(Open { work, seats });
        self.seats.fetch_add(seats, Ordering::Relaxed);
        let wakes = state.asleep > 0;
        drop(state);
        if wakes {
            self.opened.notify_one();
        }
    }

    /// Returns when no helper works on it and none can join.
    fn close(&self, work: &Work<'_>) {
        let mut state = self.lock();
        let is_it = |open: &Open| std::ptr::addr_eq(open.work, work);
        let at = state.open.iter().rposition(is_it).expect("it is open until here");
        let Open { seats, .. } = state.open.swap_remove(at);
        self.seats.fetch_sub(seats, Ordering::Relaxed);
        drop(state);
        if spin_until(WAIT_SPIN, || work.joined.load(Ordering::Acquire) == 0) {
            return;
        }
        let state = self.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let state = self.left.wait_while(state, |_| work.joined.load(Ordering::SeqCst) > 0).ignore_poison();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        drop(state);
    }

    /// What a helper does.
    fn help(&self) {
        let mut patience = Patience::SHORT;
        loop {
            let idle = Instant::now();
            self.spinning.0.fetch_add(1, Ordering::Relaxed);
            patience.wait(|| self.seats.load(Ordering::Relaxed) > 0);
            self.spinning.0.fetch_sub(1, Ordering::Relaxed);
            match self.join() {
                // SAFETY: this thread has joined.
                Some(work) => unsafe { self.work(work) },
                // Who is woken for work that ends before it comes stays awake for what follows, or it would always come
                // too late.
                None => patience.learn(idle.elapsed()),
            }
        }
    }

    /// Joins work. If there is none, sleeps until somebody opens some, which may be closed again by then.
    fn join(&self) -> Option<*const Work<'static>> {
        let mut state = self.lock();
        let Some(open) = state.open.iter_mut().rev().find(|open| open.seats > 0) else {
            state.asleep += 1;
            state = self.opened.wait(state).ignore_poison();
            state.asleep -= 1;
            return None;
        };
        open.seats -= 1;
        let work = open.work;
        // SAFETY: it is in the list, and is taken out under the lock before it goes.
        unsafe { &(*work).joined }.fetch_add(1, Ordering::Relaxed);
        let free = self.seats.fetch_sub(1, Ordering::Relaxed) - 1;
        let wakes = free > 0 && state.asleep > 0;
        drop(state);
        if wakes {
            self.opened.notify_one();
        }
        Some(work)
    }

    /// Does its part of the work, and leaves it.
    ///
    /// # Safety
    /// This thread has joined the work, and not left it.
    unsafe fn work(&self, work: *const Work<'static>) {
        // SAFETY: this thread has joined (the caller), so `close` waits for it.
        let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { ((*work).part)() }));
        if let Err(panic) = outcome {
            // SAFETY: as above.
            unsafe { &(*work).panic }.lock().ignore_poison().get_or_insert(panic);
        }
        // SAFETY: as above, up to here: the work may be gone when this helper has left.
        unsafe { &(*work).joined }.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Who waits looks while it holds the lock, so it either sees that this one has left or is asleep now.
            drop(self.lock());
            self.left.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
