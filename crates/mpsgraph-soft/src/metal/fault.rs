//! Fault injection for tests: what a device does when it runs out of memory or hangs.
//!
//! Plain Rust functions, because Metal has no message for this. Each injection counts the events that follow, fails one
//! of them and is then used up. While there are no injections, a check costs one relaxed load.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard};
use std::thread::ThreadId;
use std::time::Duration;

use crate::ignore_poison::IgnorePoison;

/// What happens to an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// It ends with this error code.
    Error { code: usize },
    /// It goes on when [`end_hangs`] has been called so many times.
    Hang { until: usize },
}

struct Injection {
    /// Events still to come, counting the one that fails; at least 1.
    countdown: usize,
    thread: Option<ThreadId>,
    fault: Fault,
}

impl Injection {
    fn new(countdown: usize, fault: Fault) -> Self {
        Self { countdown, thread: None, fault }
    }

    fn here(self) -> Self {
        Self { thread: Some(std::thread::current().id()), ..self }
    }
}

struct Injections {
    waiting: AtomicUsize,
    list: Mutex<Vec<Injection>>,
}

impl Injections {
    const fn new() -> Self {
        Self { waiting: AtomicUsize::new(0), list: Mutex::new(Vec::new()) }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Injection>> {
        self.list.lock().ignore_poison()
    }

    fn place(&self, injection: Injection) {
        assert!(injection.countdown > 0, "the next event is number 1");
        let mut list = self.list();
        list.push(injection);
        self.waiting.store(list.len(), Relaxed);
    }

    fn due(&self) -> Option<Fault> {
        if self.waiting.load(Relaxed) == 0 {
            return None;
        }
        let here = std::thread::current().id();
        let mut list = self.list();
        let mut due = None;
        list.retain_mut(|injection| {
            if injection.thread.is_some_and(|thread| thread != here) {
                return true;
            }
            injection.countdown -= 1;
            if injection.countdown == 0 {
                due = Some(injection.fault);
            }
            injection.countdown > 0
        });
        self.waiting.store(list.len(), Relaxed);
        due
    }

    fn clear(&self) {
        self.list().clear();
        self.waiting.store(0, Relaxed);
    }
}

static COMMITS: Injections = Injections::new();
static ALLOCATIONS: Injections = Injections::new();
/// How often [`end_hangs`] was called.
static HANGS_ENDED: Mutex<usize> = Mutex::new(0);
static HANG_ENDED: Condvar = Condvar::new();
static COMMITS_INSIDE_ENCODE: LazyLock<AtomicUsize> = LazyLock::new(|| {
    AtomicUsize::new(match std::env::var("MPSGRAPH_SOFT_ENCODE_COMMITS") {
        Ok(text) if text.is_empty() => 0,
        Ok(text) => text
            .trim()
            .parse()
            .unwrap_or_else(|_| panic!("MPSGRAPH_SOFT_ENCODE_COMMITS is `{text}`; expected a number of commits")),
        Err(_) => 0,
    })
});
/// A [`Telling`]: the nanoseconds after which, [`IN_ORDER`] or [`NEVER`].
static TELLING: AtomicU64 = AtomicU64::new(IN_ORDER);
const IN_ORDER: u64 = 0;
const NEVER: u64 = u64::MAX;
static HANG_MILLISECONDS: AtomicUsize = AtomicUsize::new(10_000);

/// The `n`-th command buffer committed from now on (1 is the next) runs nothing and ends in error with this
/// `MTLCommandBufferError` code, for example 8, out of memory.
pub fn fail_next(n: usize, code: usize) {
    COMMITS.place(Injection::new(n, Fault::Error { code }));
}

/// As [`fail_next`], counting only what the calling thread commits, so that tests can run side by side.
pub fn fail_next_here(n: usize, code: usize) {
    COMMITS.place(Injection::new(n, Fault::Error { code }).here());
}

/// The `n`-th buffer that the calling thread asks for from now on is refused: `newBuffer…` gives nil.
pub fn refuse_allocation_here(n: usize) {
    ALLOCATIONS.place(Injection::new(n, Fault::Error { code: 0 }).here());
}

/// The `n`-th command buffer committed from now on hangs: it is scheduled, but neither it nor what is behind it on its
/// queue ends before [`end_hangs`]. Then it computes after all, late, as a device may that was only very slow.
pub fn hang_next(n: usize) {
    COMMITS.place(Injection::new(n, Fault::Hang { until: *HANGS_ENDED.lock().ignore_poison() + 1 }));
}

/// Lets all go on that hangs because of an earlier [`hang_next`].
pub fn end_hangs() {
    *HANGS_ENDED.lock().ignore_poison() += 1;
    HANG_ENDED.notify_all();
}

/// Returns when hangs have been ended so many times.
pub(super) fn hang(until: usize) {
    let ended = HANGS_ENDED.lock().ignore_poison();
    drop(HANG_ENDED.wait_while(ended, |ended| *ended < until).ignore_poison());
}

/// Forgets all injections that are not used up.
pub fn clear() {
    COMMITS.clear();
    ALLOCATIONS.clear();
}

/// From now on, every encode calls `commitAndContinue` this many times, as MPSGraph may do with large work: it commits
/// the command buffer that the caller wrapped, the work ends in another one, and results are right only if all of them
/// succeed. A process begins with the number in the environment variable `MPSGRAPH_SOFT_ENCODE_COMMITS`, or with 0.
/// Returns the number before.
pub fn commit_inside_encode(times: usize) -> usize {
    COMMITS_INSIDE_ENCODE.swap(times, Relaxed)
}

/// When the completion handlers of executions are called: Apple documents only that it is when an execution has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// From the completion of the last command buffer, before the handlers that are added to that after the encode.
    InOrder,
    /// So long after that, on another thread.
    After(Duration),
    /// Not at all.
    Never,
}

/// Sets when the completion handlers of executions that are encoded from now on are called. Returns what was set
/// before.
pub fn tell_executions(telling: Telling) -> Telling {
    let raw = match telling {
        Telling::InOrder => IN_ORDER,
        Telling::After(time) => u64::try_from(time.as_nanos()).unwrap_or(NEVER).clamp(IN_ORDER + 1, NEVER - 1),
        Telling::Never => NEVER,
    };
    Telling::from_raw(TELLING.swap(raw, Relaxed))
}

pub(crate) fn telling() -> Telling {
    Telling::from_raw(TELLING.load(Relaxed))
}

impl Telling {
    fn from_raw(raw: u64) -> Self {
        match raw {
            IN_ORDER => Telling::InOrder,
            NEVER => Telling::Never,
            nanoseconds => Telling::After(Duration::from_nanos(nanoseconds)),
        }
    }
}

/// How long `-[MTLCommandQueue commandBuffer]` waits for a place, and `-[MTLCommandBuffer waitUntilCompleted]` for its
/// turn, while no committed work can bring it. Then they report a hang, which it would be on a device. 10 seconds
/// unless set.
pub fn report_hang_after(limit: Duration) {
    HANG_MILLISECONDS.store(usize::try_from(limit.as_millis()).unwrap_or(usize::MAX), Relaxed);
}

pub(super) fn commit_due() -> Option<Fault> {
    COMMITS.due()
}

pub(super) fn allocation_due() -> bool {
    ALLOCATIONS.due().is_some()
}

pub(crate) fn commits_inside_encode() -> usize {
    COMMITS_INSIDE_ENCODE.load(Relaxed)
}

pub(super) fn hang_limit() -> Duration {
    Duration::from_millis(HANG_MILLISECONDS.load(Relaxed) as u64)
}
