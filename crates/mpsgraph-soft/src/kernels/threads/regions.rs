//! Which thread takes which pieces: its own region's first, then what the other regions have left.
//!
//! A program's loops mostly walk over the same memory in the same order. A thread that keeps to its region finds it in
//! its own cache, and above all in its table of pages: a miss of that costs twice as much in a virtual machine.

use std::array;
use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use super::own_line::OwnLine;
use super::{count, fork_join, next};

/// More threads share regions.
const MOST: usize = 16;

/// The pieces of some work, each handed out once.
pub struct Regions<I> {
    regions: [Option<OwnLine<Mutex<I>>>; MOST],
    used: usize,
}

impl<I: Iterator> Regions<I> {
    /// So many pieces; `region` is asked for those of one region after the other.
    pub fn new(pieces: usize, mut region: impl FnMut(Range<usize>) -> I) -> Self {
        let used = count().min(MOST).min(pieces).max(1);
        let first = |at: usize| at * pieces / used;
        let regions = array::from_fn(|at| (at < used).then(|| OwnLine(Mutex::new(region(first(at)..first(at + 1))))));
        Self { regions, used }
    }

    /// A piece for this thread.
    pub fn next(&self) -> Option<I::Item> {
        let own = fork_join::number();
        (0..self.used).find_map(|at| next(self.regions[(own + at) % self.used].as_ref()?))
    }
}

/// Pieces of so many elements of a slice, with their numbers.
pub fn of_slice<T: Send>(slice: &mut [T], piece: usize) -> Regions<impl Iterator<Item = (usize, &mut [T])> + Send> {
    let pieces = slice.len().div_ceil(piece);
    let mut rest = slice;
    Regions::new(pieces, move |region| {
        let elements = rest.len().min(region.len() * piece);
        let (own, others) = mem::take(&mut rest).split_at_mut(elements);
        rest = others;
        region.zip(own.chunks_mut(piece))
    })
}
