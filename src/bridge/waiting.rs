//! Who waits for submissions, and who wakes them.
//!
//! A submission's completed handler wakes who waits for it (`wake.rs`). If the device ends nothing for longer than the
//! limit, no handler comes, and a clock wakes them: a thread that starts with the first wait and looks who is late
//! (`clock.rs`). It also wakes who wants to look again at some time.

mod clock;
mod wake;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::task::Waker;
use std::time::{Duration, Instant};

use clock::{Clock, Lateness, WaitList, Waiter};
pub(super) use wake::{Sleeper, deferring, renew, wake};

use super::pool::Serial;
use crate::lock::{IgnorePoison, LockAnyway};

/// The shortest limit.
const LEAST: Duration = Duration::from_millis(10);

/// The longest limit: more than a program runs.
const NEVER: Duration = Duration::from_secs(1 << 30);

/// Threads and tasks that wait.
pub(super) struct Waiting {
    /// How many; a handler that finds none takes no lock.
    count: AtomicUsize,
    list: Mutex<WaitList>,
    /// Tells the clock that it has to look earlier than it thinks.
    earlier: Condvar,
}

/// Somebody who waits for a submission.
pub(super) struct Wait {
    serial: Serial,
    sleeper: Sleeper,
    /// Since it was registered.
    since: Option<Instant>,
    key: Option<u64>,
}

impl Wait {
    pub fn new(serial: Serial, sleeper: Sleeper) -> Self {
        Self { serial, sleeper, since: None, key: None }
    }

    pub fn serial(&self) -> Serial {
        self.serial
    }
}

impl Waiting {
    pub fn new(limit: Duration) -> Self {
        let list = WaitList::new(Lateness { last_end: Instant::now(), limit: limit.min(NEVER) });
        Self { count: AtomicUsize::new(0), list: Mutex::new(list), earlier: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, WaitList> {
        self.list.lock_anyway()
    }

    /// Sets how long the device may end nothing while somebody waits; work that is well takes some time, too.
    pub fn set_limit(&self, limit: Duration) {
        self.lock().lateness.limit = limit.clamp(LEAST, NEVER);
        self.earlier.notify_one();
    }

    /// A submission's handler was called: wakes who waits for it, or for an earlier one whose handler came too early to
    /// find all command buffers ended.
    pub fn ended(&self, serial: Serial) {
        wake::elsewhere(self.take_up_to(serial, |list| list.lateness.last_end = Instant::now()));
    }

    /// Submissions up to this one were given up: wakes who waits for them. The device has ended none.
    pub fn given_up(&self, serial: Serial) {
        wake(self.take_up_to(serial, |_| ()));
    }

    /// Takes out who waits for a submission up to this one; `note` changes the list before.
    fn take_up_to(&self, serial: Serial, note: impl FnOnce(&mut WaitList)) -> Vec<(Sleeper, Waker)> {
        // Adding nothing puts this in one order with who registers: whoever does so later looks again afterwards, and
        // sees what has ended before. The limit of a wait that begins later counts from its own begin.
        if self.count.fetch_add(0, Ordering::AcqRel) == 0 {
            return Vec::new();
        }
        let mut list = self.lock();
        note(&mut list);
        let taken = list.waiters.extract_if(.., |waiter| waiter.serial <= serial);
        let taken: Vec<_> = taken.map(|waiter| (waiter.sleeper, waiter.waker)).collect();
        drop(list);
        self.count.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Lets `waker` be woken when the submission has ended, or at the time `look`, or, without one, when it is late.
    /// The caller looks again whether it has ended after this, and then, if it gave no `look`, whether it is
    /// [overdue](Self::overdue).
    pub fn register(&'static self, wait: &mut Wait, waker: &Waker, look: Option<Instant>) {
        // Dropped without the lock.
        let mut _replaced = None;
        let mut list = self.lock();
        let now = Instant::now();
        let since = *wait.since.get_or_insert(now);
        let woken_at = look.unwrap_or_else(|| list.lateness.of(since));
        let known = list.waiters.iter_mut().find(|waiter| Some(waiter.key) == wait.key);
        if let Some(known) = known {
            _replaced = renew(&mut known.waker, waker);
            if known.look == look {
                return;
            }
            (known.look, known.late) = (look, false);
        } else {
            let (key, serial, sleeper, waker) = (list.new_key(), wait.serial, wait.sleeper, waker.clone());
            wait.key = Some(key);
            list.waiters.push(Waiter { key, serial, sleeper, since, look, waker, late: false });
            self.count.fetch_add(1, Ordering::AcqRel);
        }
        self.set_clock(list, now, woken_at);
    }

    /// The task does not wait any more.
    pub fn forget(&self, wait: &mut Wait) {
        if let Some(key) = wait.key.take() {
            let mut list = self.lock();
            let at = list.waiters.iter().position(|waiter| waiter.key == key);
            let waiter = at.map(|at| list.waiters.swap_remove(at));
            drop(list);
            self.count.fetch_sub(usize::from(waiter.is_some()), Ordering::Relaxed);
            // Without the lock: it may be the last reference to the task.
            drop(waiter);
        }
    }

    /// The limit, if the device has ended nothing for so long while `wait` lasted. Only the clock says so, because it
    /// knows how much of that time the process ran; a poll that comes before it is told nothing.
    pub fn overdue(&'static self, wait: &Wait) -> Option<Duration> {
        let mut list = self.lock();
        let (now, lateness) = (Instant::now(), list.lateness);
        let waiter = list.waiters.iter_mut().find(|waiter| Some(waiter.key) == wait.key && waiter.late)?;
        let late_at = lateness.of(waiter.since);
        if late_at <= now {
            return Some(lateness.limit);
        }
        // Something has ended since the clock has woken it.
        waiter.late = false;
        self.set_clock(list, now, late_at);
        None
    }

    /// Lets the clock look at this time, unless it looks earlier.
    fn set_clock(&'static self, mut list: MutexGuard<'_, WaitList>, now: Instant, at: Instant) {
        let at = list.lateness.next_look(now, at);
        match std::mem::replace(&mut list.clock, Clock::Until(at)) {
            Clock::NotStarted => {
                drop(list);
                self.start_clock();
            }
            Clock::Until(next) if next <= at => list.clock = Clock::Until(next),
            Clock::Idle | Clock::Until(_) => self.earlier.notify_one(),
        }
    }

    fn start_clock(&'static self) {
        let thread = std::thread::Builder::new().name("burn-mpsgraph-clock".into());
        let started = thread.spawn(|| self.run_clock());
        if started.is_err() {
            // The next wait tries again.
            self.lock().clock = Clock::NotStarted;
        }
    }

    fn run_clock(&self) {
        let mut list = self.lock();
        loop {
            let now = Instant::now();
            list.note_standstill(now);
            let (woken, next) = list.look(now);
            list.clock = next.map_or(Clock::Idle, Clock::Until);
            if !woken.is_empty() {
                drop(list);
                wake::elsewhere(woken);
                list = self.lock();
                continue;
            }
            list = match next {
                Some(next) => self.earlier.wait_timeout(list, next - now).ignore_poison().0,
                None => self.earlier.wait(list).ignore_poison(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread::sleep;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Woken {
        /// How often it was woken, once that is so many times, or this time is over.
        fn after(&self, times: usize, patience: Duration) -> usize {
            let start = Instant::now();
            while self.0.load(Ordering::SeqCst) < times && start.elapsed() < patience {
                sleep(Duration::from_millis(1));
            }
            self.0.load(Ordering::SeqCst)
        }
    }

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A task whose waker is the last reference to another wait.
    struct Holder(Mutex<Option<(Wait, &'static Waiting)>>);

    impl Wake for Holder {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            if let Some((mut wait, waiting)) = self.0.lock_anyway().take() {
                waiting.forget(&mut wait);
            }
        }
    }

    #[test]
    fn a_waker_that_is_replaced_may_end_another_wait() {
        let waiting: &'static Waiting = Box::leak(Box::new(Waiting::new(NEVER)));
        let (mut held, mut wait) = (Wait::new(1, Sleeper::Task), Wait::new(1, Sleeper::Task));
        waiting.register(&mut held, Waker::noop(), None);
        let holder = Arc::new(Holder(Mutex::new(Some((held, waiting)))));
        waiting.register(&mut wait, &Waker::from(holder), None);
        waiting.register(&mut wait, Waker::noop(), None);
        assert_eq!(waiting.count.load(Ordering::SeqCst), 1);
        waiting.forget(&mut wait);
    }

    struct Panicking;

    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            panic!("this waker panics");
        }
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        let limit = Duration::from_millis(20);
        let waiting: &'static Waiting = Box::leak(Box::new(Waiting::new(limit)));
        let woken = Arc::<Woken>::default();
        let (mut first, mut second) = (Wait::new(1, Sleeper::Task), Wait::new(1, Sleeper::Task));
        waiting.register(&mut first, &Waker::from(Arc::new(Panicking)), None);
        waiting.register(&mut second, &Waker::from(woken.clone()), None);
        // By the clock, which goes on, and by the end of the submission.
        assert_eq!(woken.after(1, 500 * limit), 1);
        waiting.register(&mut first, &Waker::from(Arc::new(Panicking)), Some(Instant::now()));
        waiting.ended(1);
        assert_eq!(woken.after(2, 500 * limit), 2);
        assert_eq!(waiting.count.load(Ordering::SeqCst), 0);
    }

    /// Woken as late, and then not late any more, because an earlier submission has ended: the clock wakes it again.
    #[test]
    fn a_wait_is_late_more_than_once() {
        let limit = Duration::from_millis(50);
        let waiting: &'static Waiting = Box::leak(Box::new(Waiting::new(limit)));
        let (woken, mut wait) = (Arc::<Woken>::default(), Wait::new(2, Sleeper::Task));
        let waker = Waker::from(woken.clone());
        waiting.register(&mut wait, &waker, None);
        assert_eq!(woken.after(1, 100 * limit), 1);
        waiting.ended(1);
        waiting.register(&mut wait, &waker, None);
        assert_eq!(waiting.overdue(&wait), None);
        assert_eq!(woken.after(2, 100 * limit), 2);
        assert_eq!(waiting.overdue(&wait), Some(limit));
        waiting.forget(&mut wait);
    }
}
