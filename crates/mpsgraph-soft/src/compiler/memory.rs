//! Places intermediate results in one block of scratch memory.
//!
//! A result lives from the step that makes it to the last one that reads it; two may share memory if they never live
//! at the same time. The largest are placed first, each at the lowest address that is free for its whole life.

/// Results start at multiples of a cache line.
pub const ALIGNMENT: usize = 64;

/// Size of a result and the steps, both included, between which it lives.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub bytes: usize,
    pub first: usize,
    pub last: usize,
}

/// Where each result goes, and the size of the block.
pub fn place(intervals: &[Interval]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(intervals[at].bytes), intervals[at].first));
    let mut offsets = vec![0; intervals.len()];
    // By address, so that gaps show up in order.
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for at in order {
        let this = intervals[at];
        let bytes = this.bytes.next_multiple_of(ALIGNMENT);
        let mut offset = 0;
        for &other in &placed {
            let that = intervals[other];
            if that.first > this.last || that.last < this.first {
                continue;
            }
            if offsets[other] >= offset + bytes {
                break;
            }
            offset = offset.max(offsets[other] + that.bytes.next_multiple_of(ALIGNMENT));
        }
        offsets[at] = offset;
        total = total.max(offset + bytes);
        let place = placed.partition_point(|&other| offsets[other] <= offset);
        placed.insert(place, at);
    }
    (offsets, total)
}

#[cfg(test)]
mod tests;
