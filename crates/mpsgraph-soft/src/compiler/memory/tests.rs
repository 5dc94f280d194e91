//! Places that never overlap while their results live.

use super::*;

fn chain(count: usize) -> Vec<Interval> {
    (0..count).map(|at| Interval { bytes: 100, first: at, last: at + 1 }).collect()
}

#[test]
fn a_chain_needs_two_places() {
    for count in [10, 40_000] {
        let (offsets, total) = place(&chain(count));
        assert_eq!(total, 256);
        assert!(offsets.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

fn random(count: usize, steps: usize) -> Vec<Interval> {
    let mut seed = 1u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % below
    };
    let interval = |_| {
        let first = next(steps);
        Interval { bytes: next(1000), first, last: first + next(12) }
    };
    (0..count).map(interval).collect()
}

#[test]
fn nothing_alive_overlaps() {
    for intervals in [random(200, 50), random(FEW + 1, 1000)] {
        let (offsets, total) = place(&intervals);
        for (i, a) in intervals.iter().enumerate() {
            assert!(offsets[i] + a.bytes <= total && offsets[i] % ALIGNMENT == 0);
            for (j, b) in intervals.iter().enumerate().skip(i + 1) {
                let together = a.first <= b.last && b.first <= a.last;
                let apart = offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                assert!(!together || apart || a.bytes == 0 || b.bytes == 0);
            }
        }
    }
}

#[test]
fn many_results_take_little_more_than_what_lives_at_a_time() {
    let intervals = random(20_000, 5_000);
    let alive = |step: usize| {
        let living = intervals.iter().filter(|interval| interval.first <= step && step <= interval.last);
        living.map(Interval::taken).sum::<usize>()
    };
    let most = (0..5_000).step_by(10).map(alive).max().expect("there are steps");
    let (_, total) = place(&intervals);
    assert!(total <= most + most / 3, "{total} bytes where {most} live at a time");
}

#[test]
fn results_that_all_live_to_the_end_lie_one_behind_the_other() {
    let intervals: Vec<Interval> = (0..40_000).map(|at| Interval { bytes: 64, first: at, last: 40_000 }).collect();
    let (offsets, total) = place(&intervals);
    assert_eq!(total, 40_000 * 64);
    assert!(offsets.iter().enumerate().all(|(at, &offset)| offset == 64 * at));
}
