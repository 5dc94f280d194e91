//! Who is late, and when the clock looks.
//!
//! A process that is stopped (by a terminal, a debugger or a container) ends nothing meanwhile, but time goes on. So
//! the clock looks several times within the limit while somebody waits. If it looks much later than it meant to, the
//! process has stood still, and every wait gets the whole limit again.

use std::task::Waker;
use std::time::{Duration, Instant};

use super::Sleeper;
use crate::bridge::pool::Serial;

/// How often the clock looks within the limit.
const LOOKS: u32 = 8;

/// A clock that is later than this at least has stood still; a busy system delays a thread, too.
const DELAY: Duration = Duration::from_secs(1);

/// Who waits.
pub(super) struct WaitList {
    pub lateness: Lateness,
    pub waiters: Vec<Waiter>,
    /// Of the newest waiter.
    key: u64,
    pub clock: Clock,
}

/// When waits are late.
#[derive(Clone, Copy)]
pub(super) struct Lateness {
    /// When a handler was called last while somebody waited, or the process went on after it had stood still.
    pub last_end: Instant,
    pub limit: Duration,
}

#[derive(Clone, Copy)]
pub(super) enum Clock {
    NotStarted,
    /// Nobody waits.
    Idle,
    /// Looks at this time.
    Until(Instant),
}

pub(super) struct Waiter {
    pub key: u64,
    pub serial: Serial,
    pub sleeper: Sleeper,
    pub since: Instant,
    /// When the clock wakes it; without that, when it is late.
    pub look: Option<Instant>,
    pub waker: Waker,
    /// Whether the clock has woken it because it was late.
    pub late: bool,
}

impl WaitList {
    pub fn new(lateness: Lateness) -> Self {
        Self { lateness, waiters: Vec::new(), key: 0, clock: Clock::NotStarted }
    }

    pub fn new_key(&mut self) -> u64 {
        self.key += 1;
        self.key
    }

    /// Begins every limit anew if the process has stood still before `now`, at which the clock looks.
    pub fn note_standstill(&mut self, now: Instant) {
        match self.clock {
            Clock::Until(at) if self.lateness.is_standstill(now.saturating_duration_since(at)) => {
                self.lateness.last_end = now;
            }
            Clock::NotStarted | Clock::Idle | Clock::Until(_) => (),
        }
    }

    /// Who has to be woken now, and when to look next.
    pub fn look(&mut self, now: Instant) -> (Vec<(Sleeper, Waker)>, Option<Instant>) {
        let lateness = self.lateness;
        let (mut woken, mut next) = (Vec::new(), None::<Instant>);
        for waiter in self.waiters.iter_mut().filter(|waiter| !waiter.late) {
            let at = waiter.look.unwrap_or_else(|| lateness.of(waiter.since));
            if at <= now {
                waiter.late = waiter.look.take().is_none();
                woken.push((waiter.sleeper, waiter.waker.clone()));
            } else {
                next = Some(next.map_or(at, |next| next.min(at)));
            }
        }
        (woken, next.map(|at| lateness.next_look(now, at)))
    }
}

impl Lateness {
    /// When a wait since that time is late.
    pub fn of(self, since: Instant) -> Instant {
        since.max(self.last_end) + self.limit
    }

    /// When the clock looks next, if somebody has to be woken `at` some time.
    pub fn next_look(self, now: Instant, at: Instant) -> Instant {
        at.clamp(now, now + self.limit / LOOKS)
    }

    /// Whether the process has stood still, if the clock looks so much later than it meant to.
    fn is_standstill(self, delay: Duration) -> bool {
        delay > DELAY.max(self.limit / LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(120);

    /// A list in which somebody waits since that time, and the clock that sleeps.
    fn waiting(since: Instant) -> WaitList {
        let mut list = WaitList::new(Lateness { last_end: since, limit: LIMIT });
        let (sleeper, waker) = (Sleeper::Task, Waker::noop().clone());
        let waiter = Waiter { key: 1, serial: 1, sleeper, since, look: None, waker, late: false };
        list.waiters.push(waiter);
        let (woken, next) = list.look(since);
        assert!(woken.is_empty());
        list.clock = Clock::Until(next.expect("somebody waits"));
        list
    }

    /// How long it takes from `start` until somebody is late, if the clock comes at the times that it has set itself.
    fn late_after(list: &mut WaitList, start: Instant, mut now: Instant) -> Duration {
        loop {
            list.note_standstill(now);
            let (woken, next) = list.look(now);
            if !woken.is_empty() {
                return now - start;
            }
            now = next.expect("somebody waits");
            list.clock = Clock::Until(now);
        }
    }

    #[test]
    fn a_process_that_runs_is_late_at_the_limit() {
        let start = Instant::now();
        assert_eq!(late_after(&mut waiting(start), start, start), LIMIT);
        // A busy system.
        let first_look = start + LIMIT / LOOKS + Duration::from_secs(2);
        assert_eq!(late_after(&mut waiting(start), start, first_look), LIMIT);
    }

    #[test]
    fn a_process_that_has_stood_still_gets_the_limit_again() {
        let start = Instant::now();
        for stopped in [40, 119, 121, 10_000].map(Duration::from_secs) {
            assert_eq!(late_after(&mut waiting(start), start, start + stopped), stopped + LIMIT);
        }
    }

    #[test]
    fn short_limits_are_not_begun_anew_by_a_busy_system() {
        let lateness = Lateness { last_end: Instant::now(), limit: Duration::from_millis(10) };
        assert!(!lateness.is_standstill(Duration::from_millis(900)));
        assert!(lateness.is_standstill(Duration::from_millis(1100)));
    }
}
