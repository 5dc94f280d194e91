//! Where callers open work, and helpers join it and leave it.
//!
//! A core sees after 50 ns what another one has written, and after 250 ns if the two have no cache together. So all a
//! helper has to know lies in one cache line, which the caller writes once and a helper that waits only reads.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::own_line::OwnLine;

/// How much work is open at a time; who finds no slot free does its work alone. Work that is halved again and again
/// needs as many as there are threads.
const SLOTS: usize = 16;

/// One seat in `Slot::state`.
const SEAT: u64 = 1 << 32;

/// What every thread that takes part in some work calls once. It does not unwind.
type Part = dyn Fn() + Sync + 'static;

/// The slots of some helpers.
pub struct Slots {
    /// Which slots callers hold. No helper looks here.
    held: OwnLine<[AtomicBool; SLOTS]>,
    slots: [OwnLine<Slot>; SLOTS],
}

struct Slot {
    /// The helpers that have joined and not left; above those, the seats that are free.
    state: AtomicU64,
    part: UnsafeCell<Option<&'static Part>>,
}

// SAFETY: `part` is written only by who holds the slot, while nobody is in it and no seat is free, and read only by who
// is in it; all threads may call it.
unsafe impl Sync for Slot {}

/// Work that this thread has opened.
pub struct Opened<'a> {
    slot: &'a Slot,
    held: &'a AtomicBool,
}

/// Work that this thread has joined and not left.
pub struct Joined<'a> {
    slot: &'a Slot,
    /// Whether others may join, too.
    pub has_seats: bool,
}

impl Slots {
    pub const fn new() -> Self {
        Self {
            held: OwnLine([const { AtomicBool::new(false) }; SLOTS]),
            slots: [const { OwnLine(Slot { state: AtomicU64::new(0), part: UnsafeCell::new(None) }) }; SLOTS],
        }
    }

    /// Lets so many helpers call `part`, if a slot is free.
    ///
    /// # Safety
    /// `part` outlives the use of the slot: the caller [closes](Opened::close) it and waits until it
    /// [is left](Opened::is_left).
    pub unsafe fn open(&self, part: &(dyn Fn() + Sync), seats: usize) -> Option<Opened<'_>> {
        let takes = |held: &AtomicBool| !held.load(Ordering::Relaxed) && !held.swap(true, Ordering::Acquire);
        let at = self.held.iter().position(takes)?;
        let slot = &self.slots[at];
        // SAFETY: nobody calls it when the slot is left (the caller).
        let part = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &Part>(part) };
        // SAFETY: this thread holds the slot, and nobody is in it.
        unsafe { *slot.part.get() = Some(part) };
        slot.state.store(seats as u64 * SEAT, Ordering::Release);
        Some(Opened { slot, held: &self.held[at] })
    }

    /// Whether there is work to join.
    pub fn has_seats(&self) -> bool {
        self.slots.iter().any(|slot| slot.state.load(Ordering::Relaxed) >= SEAT)
    }

    /// Joins work, if there is some: of work inside of other work the outer one, of which more is left. A helper that
    /// joined the innermost work would end it while the thread that opened it waits, take the next piece before that
    /// thread does, and so do one piece after the other, all of them alone.
    pub fn join(&self) -> Option<Joined<'_>> {
        self.slots.iter().find_map(|slot| slot.join())
    }
}

impl Slot {
    fn join(&self) -> Option<Joined<'_>> {
        let sits = |state: u64| state.checked_sub(SEAT).map(|state| state + 1);
        let before = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, sits).ok()?;
        Some(Joined { slot: self, has_seats: before >= 2 * SEAT })
    }
}

impl Opened<'_> {
    /// Takes the seats that are free away.
    pub fn close(&self) {
        if self.slot.state.load(Ordering::Relaxed) >= SEAT {
            self.slot.state.fetch_and(SEAT - 1, Ordering::Relaxed);
        }
    }

    /// Whether nobody is in the work.
    pub fn is_left(&self) -> bool {
        self.slot.state.load(Ordering::SeqCst) == 0
    }

    /// Gives the slot back, once it is closed and left.
    pub fn give_back(self) {
        self.held.store(false, Ordering::Release);
    }
}

impl Joined<'_> {
    /// Takes part.
    pub fn work(&self) {
        // SAFETY: this thread is in the work, so nobody writes the slot.
        let part = unsafe { *self.slot.part.get() };
        part.expect("a slot with seats has a part")();
    }
}

impl Drop for Joined<'_> {
    /// Leaves the work, which may be gone after that.
    fn drop(&mut self) {
        self.slot.state.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_joins_works_until_it_leaves() {
        static OWN: Slots = Slots::new();
        let calls = AtomicU64::new(0);
        let part = || _ = calls.fetch_add(1, Ordering::Relaxed);
        // SAFETY: it is closed and left below.
        let opened = unsafe { OWN.open(&part, 2) }.expect("a slot is free");
        assert!(OWN.has_seats());
        let first = OWN.join().expect("there are seats");
        assert!(first.has_seats, "one is left");
        let second = OWN.join().expect("there is a seat");
        assert!(!second.has_seats);
        assert!(OWN.join().is_none() && !OWN.has_seats(), "all are taken");
        first.work();
        drop(first);
        second.work();
        opened.close();
        assert!(!opened.is_left(), "one is in it");
        drop(second);
        assert!(opened.is_left());
        opened.give_back();
        assert_eq!(calls.into_inner(), 2);
    }

    #[test]
    fn nobody_joins_what_is_closed() {
        static OWN: Slots = Slots::new();
        // SAFETY: it is closed at once, when nobody has joined.
        let opened = unsafe { OWN.open(&|| (), 1) }.expect("a slot is free");
        opened.close();
        assert!(OWN.join().is_none() && opened.is_left());
        opened.give_back();
    }

    #[test]
    fn the_outer_work_is_joined_first() {
        static OWN: Slots = Slots::new();
        let calls = [const { AtomicU64::new(0) }; 2];
        let parts = calls.each_ref().map(|calls| move || _ = calls.fetch_add(1, Ordering::Relaxed));
        // SAFETY: they are closed and left below.
        let opened = parts.each_ref().map(|part| unsafe { OWN.open(part, 1) }.expect("a slot is free"));
        OWN.join().expect("there are seats").work();
        assert_eq!(calls.each_ref().map(|calls| calls.load(Ordering::Relaxed)), [1, 0]);
        for opened in opened {
            opened.close();
            opened.give_back();
        }
    }

    #[test]
    fn slots_are_taken_again() {
        static OWN: Slots = Slots::new();
        // SAFETY: nobody joins.
        let open = || unsafe { OWN.open(&|| (), 1) };
        for _ in 0..2 {
            let all: Vec<Opened<'_>> = std::iter::from_fn(open).collect();
            assert_eq!(all.len(), SLOTS, "all, and none for one more");
            for opened in all {
                opened.close();
                opened.give_back();
            }
        }
    }
}
