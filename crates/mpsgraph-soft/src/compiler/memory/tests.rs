//! Places that never overlap while their results live.

use super::*;

#[test]
fn a_chain_needs_two_places() {
    let chain: Vec<Interval> = (0..10).map(|at| Interval { bytes: 100, first: at, last: at + 1 }).collect();
    let (offsets, total) = place(&chain);
    assert_eq!(total, 256);
    assert!(offsets.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn nothing_alive_overlaps() {
    let mut seed = 1u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((seed >> 16) % below) as usize
    };
    let intervals: Vec<Interval> = (0..200)
        .map(|_| {
            let first = next(50);
            Interval { bytes: next(1000), first, last: first + next(12) }
        })
        .collect();
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
