//! Waiting awake.
//!
//! Who sleeps is woken late: until a thread runs whose core was idle, up to a hundred microseconds pass, above all in a
//! virtual machine. So who waits for something that comes soon stays awake. How soon the next shared work comes differs
//! from program to program, therefore a helper learns it ([`Patience`]). On a busy machine others need the core, and
//! who has slept is the next to get one; so who loses it while awake sleeps.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::fork_join::cores;

/// More time than this between two looks at the clock means that the system has given the core to somebody else.
const TAKEN: Duration = Duration::from_micros(100);

/// Spins until `ready` is true, the time is over or the core is taken; returns whether it is ready. Does not spin on a
/// single core, where nobody could make it true meanwhile.
pub fn spin_until(time: Duration, ready: impl Fn() -> bool) -> bool {
    spin_unless(|| false, time, ready)
}

/// As [`spin_until`], until also `stop` is true, which is asked less often.
fn spin_unless(stop: impl Fn() -> bool, time: Duration, ready: impl Fn() -> bool) -> bool {
    static ALONE: OnceLock<bool> = OnceLock::new();
    if ready() {
        return true;
    }
    if *ALONE.get_or_init(|| cores().get() == 1) {
        return false;
    }
    let (start, mut last) = (Instant::now(), Duration::ZERO);
    loop {
        for _ in 0..32 {
            if ready() {
                return true;
            }
            std::hint::spin_loop();
        }
        let now = start.elapsed();
        // The clocks of some virtual machines step back.
        if now >= time || now.saturating_sub(last) > TAKEN || stop() {
            return false;
        }
        last = now;
    }
}

/// How long a helper without work stays awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(Duration);

impl Patience {
    /// At first: work that belongs together follows within this time.
    pub const SHORT: Self = Self(Duration::from_micros(100));
    /// The longest. Steps of a small model follow each other within this time; after longer ones, what it costs to wake
    /// a thread does not show.
    pub const LONG: Duration = Duration::from_micros(600);

    /// Waits awake for `ready`; not if `stop` says so, or not long enough.
    pub fn wait(self, ready: impl Fn() -> bool, stop: impl Fn() -> bool) -> bool {
        spin_unless(stop, self.0, ready)
    }

    /// Learns that who has slept, because this was not long enough, would have had to stay awake for so long.
    pub fn learn(&mut self, needed: Duration) {
        *self = if needed < Self::LONG { Self(self.0.max((2 * needed).min(Self::LONG))) } else { Self::SHORT };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn who_spins_ends_in_time() {
        let looks = Cell::new(0);
        let third = || looks.replace(looks.get() + 1) == 2;
        assert!(spin_until(Duration::from_secs(60), third) || cores().get() == 1);
        let start = Instant::now();
        assert!(!spin_until(Duration::from_millis(1), || false));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn who_is_in_the_way_does_not_wait() {
        let start = Instant::now();
        assert!(!Patience(Duration::from_secs(60)).wait(|| false, || true));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(Patience(Duration::ZERO).wait(|| true, || true), "what is ready is taken");
    }

    #[test]
    fn patience_follows_the_work() {
        let (micros, mut patience) = (Duration::from_micros, Patience::SHORT);
        patience.learn(micros(150));
        assert_eq!(patience, Patience(micros(300)), "twice what was needed");
        patience.learn(micros(120));
        assert_eq!(patience, Patience(micros(300)), "the longest of some");
        patience.learn(micros(400));
        assert_eq!(patience, Patience(Patience::LONG));
        patience.learn(micros(5000));
        assert_eq!(patience, Patience::SHORT, "nothing follows soon");
        patience.learn(micros(20));
        assert_eq!(patience, Patience::SHORT);
    }
}
