//! That all pieces are done once, by several threads, also inside of each other and after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Helpers, NUMBER, Recent, cores, shares_small_work};
use crate::kernels::threads::spin::Patience;
use crate::kernels::threads::{both, count, for_each, share, share_with_scratch};

#[test]
fn every_number_is_taken_once() {
    for (count, together) in [(1, 1), (7, 1), (64, 3), (1000, 17), (5, 9), (0, 1)] {
        let taken: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
        for_each(count, together, &|at| _ = taken[at].fetch_add(1, Ordering::Relaxed));
        assert!(taken.iter().all(|taken| taken.load(Ordering::Relaxed) == 1), "{count} numbers, {together} together");
    }
}

#[test]
fn chunks_have_their_numbers() {
    for (elements, chunk) in [(1, 1), (100_003, 7), (1 << 20, 1 << 12), (300_000, 100_000)] {
        let mut out = vec![0_u32; elements];
        share(true, chunk, &mut out, |at, out| out.fill(at as u32));
        assert!(out.iter().enumerate().all(|(at, &number)| number as usize == at / chunk), "{elements}, {chunk}");
    }
}

#[test]
fn scratch_memory_belongs_to_one_task_at_a_time() {
    let (mut out, mut scratch) = (vec![0.0; 50 * 1000], vec![0.0; 3 * 8]);
    share_with_scratch((1000, &mut out), (8, &mut scratch), &|at, out, scratch| {
        scratch.fill(at as f32);
        for (out, scratch) in out.iter_mut().zip(scratch.iter().cycle()) {
            *out = *scratch;
        }
    });
    assert!(out.iter().enumerate().all(|(at, &number)| number == (at / 1000) as f32));
}

/// Waits until two threads are here. One that is left alone panics, if threads can be two.
fn arrive(arrived: &AtomicUsize) {
    arrived.fetch_add(1, Ordering::Relaxed);
    let start = Instant::now();
    while count() > 1 && arrived.load(Ordering::Relaxed) < 2 {
        assert!(start.elapsed() < Duration::from_secs(60), "no helper came");
        std::thread::yield_now();
    }
}

#[test]
fn a_helper_takes_part() {
    if count() == 1 {
        return;
    }
    let (here, there) = (AtomicUsize::new(0), AtomicUsize::new(0));
    both(true, &mut || arrive(&here), &mut || arrive(&here));
    for_each(2, 1, &|_| arrive(&there));
    assert_eq!([here.into_inner(), there.into_inner()], [2, 2]);
}

#[test]
fn what_a_further_panic_carries_is_not_dropped() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let arrived = AtomicUsize::new(0);
    let work = || {
        for_each(2, 1, &|_| {
            arrive(&arrived);
            std::panic::panic_any(Payload);
        });
    };
    std::mem::forget(catch_unwind(AssertUnwindSafe(work)).expect_err("both pieces fail"));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
}

#[test]
fn work_inside_of_work_ends() {
    let done = AtomicUsize::new(0);
    for_each(8, 1, &|_| for_each(8, 1, &|_| for_each(8, 1, &|_| _ = done.fetch_add(1, Ordering::Relaxed))));
    assert_eq!(done.into_inner(), 512);
}

#[test]
fn several_threads_share_work_at_a_time() {
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|_| for_each(10, 1, &|_| _ = done.fetch_add(1, Ordering::Relaxed))));
        }
    });
    assert_eq!(done.into_inner(), 8000);
}

#[test]
fn a_panic_reaches_the_caller_and_ends_nothing_else() {
    for failing in 0..16 {
        let work = || for_each(16, 1, &|at| assert!(at != failing, "piece {at} fails, on purpose"));
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("a piece fails");
        let text = panic.downcast_ref::<String>().expect("a message with a number");
        assert_eq!(*text, format!("piece {failing} fails, on purpose"));
    }
    every_number_is_taken_once();
}

/// Else it would sleep again, and come too late again, for ever.
#[test]
fn who_is_woken_too_late_stays_awake_for_what_follows() {
    static OWN: Helpers = Helpers::new();
    if cores().get() == 1 {
        return;
    }
    std::thread::spawn(|| OWN.help());
    let sleepers = || OWN.asleep.load(Ordering::Relaxed);
    let start = Instant::now();
    let mut was_awake = false;
    // Both threads have to run at the same time for a moment, which takes a while where others compute.
    while !was_awake && start.elapsed() < Duration::from_secs(60) {
        while sleepers() == 0 {
            std::thread::yield_now();
        }
        // Of work that is closed before anybody comes, this is all that is left.
        OWN.wake_one();
        let woken = Instant::now();
        while !was_awake && woken.elapsed() < Duration::from_millis(10) {
            was_awake = OWN.awake.load(Ordering::Relaxed) == 1 && sleepers() == 0;
        }
    }
    assert!(was_awake);
}

/// Whoever is awake: the second comes within the time that a helper stays awake.
#[test]
fn small_work_in_quick_succession_is_shared() {
    _ = shares_small_work();
    let start = Instant::now();
    assert!(shares_small_work() || start.elapsed() > Patience::LONG / 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_helper_on_the_core_of_who_shared_is_in_the_way() {
    static OWN: Helpers = Helpers::new();
    assert!(!OWN.is_in_the_way(), "nobody has shared");
    // The system may move this thread in between, but not each time.
    let shares = |_| {
        OWN.share(&|| (), 1);
        OWN.is_in_the_way()
    };
    assert!((0..1000).any(shares));
}

#[test]
fn a_helper_that_shares_is_not_in_its_own_way() {
    static OWN: Helpers = Helpers::new();
    let shares = || {
        NUMBER.set(1);
        OWN.share(&|| (), 1);
        OWN.is_in_the_way()
    };
    assert!(!std::thread::spawn(shares).join().unwrap());
}

#[test]
fn what_happened_long_ago_or_never_is_not_recent() {
    let recent = Recent(AtomicU64::new(0));
    let happens_again = [0, 100, 650, 1300, 1300].map(|at| recent.again(Duration::from_micros(at)));
    assert_eq!(happens_again, [false, true, true, false, true]);
}

#[test]
fn work_beyond_the_slots_is_done_alone() {
    let done = AtomicUsize::new(0);
    fn nested(depth: usize, done: &AtomicUsize) {
        _ = done.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            both(true, &mut || nested(depth - 1, done), &mut || nested(depth - 1, done));
        }
    }
    nested(8, &done);
    assert_eq!(done.into_inner(), (1 << 9) - 1);
}
