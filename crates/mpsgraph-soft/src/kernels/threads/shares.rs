//! Which thread takes which pieces: its own share's first, then what the other shares have left.
//!
//! A program's loops mostly walk over the same memory in the same order. A thread that keeps to its share finds it in
//! its own cache, and above all in its table of pages: a miss of that costs twice as much in a virtual machine.

use std::array;
use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use super::own_line::OwnLine;
use super::{count, fork_join};
use crate::ignore_poison::IgnorePoison;

/// Of more threads, several have one share.
const MOST: usize = 16;

/// A share of so many pieces keeps the last one for a thread that has begun it: to fetch from its core what belongs to
/// the piece, and back for what comes next, takes longer than to wait for it. Fewer pieces are too long to wait for.
const KEEPS_LAST: usize = 3;

/// The pieces of some work, each handed out once.
pub struct Shares<I> {
    shares: [Option<OwnLine<Mutex<Share<I>>>>; MOST],
    used: usize,
}

struct Share<I> {
    pieces: I,
    keeps_last: bool,
    /// Whether a thread whose own share it is takes its pieces.
    is_begun: bool,
}

impl<I: ExactSizeIterator> Share<I> {
    fn new(pieces: I) -> Self {
        Self { keeps_last: pieces.len() >= KEEPS_LAST, pieces, is_begun: false }
    }

    /// A piece for a thread whose own share it is, or for another.
    fn next(&mut self, is_own: bool) -> Option<I::Item> {
        self.is_begun |= is_own;
        let is_kept = !is_own && self.is_begun && self.keeps_last && self.pieces.len() == 1;
        if is_kept { None } else { self.pieces.next() }
    }
}

impl<I: ExactSizeIterator> Shares<I> {
    /// So many pieces; `share` is asked for those of one share after the other.
    pub fn new(pieces: usize, mut share: impl FnMut(Range<usize>) -> I) -> Self {
        let used = count().min(MOST).min(pieces).max(1);
        let first = |at: usize| at * pieces / used;
        let mut share = |at: usize| Share::new(share(first(at)..first(at + 1)));
        let shares = array::from_fn(|at| (at < used).then(|| OwnLine(Mutex::new(share(at)))));
        Self { shares, used }
    }

    /// A piece for this thread.
    pub fn next(&self) -> Option<I::Item> {
        let own = fork_join::number();
        (0..self.used).find_map(|at| {
            let share = self.shares[(own + at) % self.used].as_ref()?;
            share.lock().ignore_poison().next(at == 0)
        })
    }
}

/// Pieces of so many elements of a slice, with their numbers.
pub fn of_slice<T: Send>(
    slice: &mut [T],
    piece: usize,
) -> Shares<impl ExactSizeIterator<Item = (usize, &mut [T])> + Send> {
    let pieces = slice.len().div_ceil(piece);
    let mut rest = slice;
    Shares::new(pieces, move |share| {
        let elements = rest.len().min(share.len() * piece);
        let (own, others) = mem::take(&mut rest).split_at_mut(elements);
        rest = others;
        share.zip(own.chunks_mut(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn the_last_piece_is_for_a_thread_that_has_begun() {
        let mut share = Share::new(0..4);
        assert_eq!([share.next(true), share.next(false), share.next(false)], [Some(0), Some(1), Some(2)]);
        assert_eq!([share.next(false), share.next(true), share.next(true)], [None, Some(3), None]);
    }

    #[test]
    fn every_piece_is_for_others_before() {
        let mut share = Share::new(0..4);
        let taken: Vec<i32> = std::iter::from_fn(|| share.next(false)).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
    }

    #[test]
    fn few_pieces_are_not_kept() {
        let mut share = Share::new(0..2);
        assert_eq!([share.next(true), share.next(false), share.next(true)], [Some(0), Some(1), None]);
    }
}
