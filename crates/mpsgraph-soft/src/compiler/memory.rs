//! Places intermediate results in one block of scratch memory.
//!
//! A result lives from the step that makes it to the last one that reads it; two may share memory if they never live
//! at the same time. The largest are placed first, each at the lowest address that is free for its whole life. To find
//! that address, each result is compared with all that are placed already. So where there are very many results, they
//! are placed in the order in which they are made instead, each in the smallest hole that dead results have left.

mod holes;

use holes::Holes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Results start at multiples of a cache line.
pub const ALIGNMENT: usize = 64;

/// The most results of which the largest are placed first.
const FEW: usize = 4096;

/// Size of a result and the steps, both included, between which it lives.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub bytes: usize,
    pub first: usize,
    pub last: usize,
}

impl Interval {
    /// The bytes that nothing else can have.
    fn taken(&self) -> usize {
        self.bytes.next_multiple_of(ALIGNMENT)
    }
}

/// Where each result goes, and the size of the block.
pub fn place(intervals: &[Interval]) -> (Vec<usize>, usize) {
    if intervals.len() <= FEW { largest_first(intervals) } else { as_made(intervals) }
}

fn largest_first(intervals: &[Interval]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|&at| (Reverse(intervals[at].bytes), intervals[at].first));
    let mut offsets = vec![0; intervals.len()];
    // By address, so that gaps show up in order.
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for at in order {
        let this = intervals[at];
        let bytes = this.taken();
        let mut offset = 0;
        for &other in &placed {
            let that = intervals[other];
            if that.first > this.last || that.last < this.first {
                continue;
            }
            if offsets[other] >= offset + bytes {
                break;
            }
            offset = offset.max(offsets[other] + that.taken());
        }
        offsets[at] = offset;
        total = total.max(offset + bytes);
        let place = placed.partition_point(|&other| offsets[other] <= offset);
        placed.insert(place, at);
    }
    (offsets, total)
}

fn as_made(intervals: &[Interval]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|&at| (intervals[at].first, Reverse(intervals[at].bytes)));
    let mut offsets = vec![0; intervals.len()];
    let mut holes = Holes::default();
    let mut alive: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    for at in order {
        while let Some(&Reverse((last, dead))) = alive.peek()
            && last < intervals[at].first
        {
            alive.pop();
            holes.give_back(offsets[dead], intervals[dead].taken());
        }
        offsets[at] = holes.take(intervals[at].taken());
        alive.push(Reverse((intervals[at].last, at)));
    }
    (offsets, holes.end())
}

#[cfg(test)]
mod tests;
