//! Choice of rows: what is at a place along an axis is of one operand or of another. A region whose start is fed is
//! replaced so: the places are few runs, each one copy.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::kernels::rows::Index;
use crate::kernels::threads::{COPIED, pieces, share};

/// Runs of places up to which they are looked for once, not for each block.
const FEW: usize = 8;
/// Least bytes of a piece that a thread takes.
const PIECE: usize = COPIED.awake / 2;

/// Where the rows of a choice are.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// For each place 1, if its row is one of `new`, or 0.
    pub chosen: &'a [u8],
    /// For each place which row of `new` it has. All are within its rows.
    pub numbers: Option<&'a [i32]>,
    /// As many rows for each block as places, or any number, of which the last one is repeated.
    pub new: &'a [u8],
    pub old: &'a [u8],
    /// Bytes of a row.
    pub row: usize,
}

/// Places whose rows follow each other.
#[derive(Clone, Copy)]
struct Run {
    first: usize,
    end: usize,
    from: From,
}

/// What the row of a run's first place is.
#[derive(Clone, Copy)]
enum From {
    Old,
    New(usize),
}

impl Choice<'_> {
    /// Copies the rows of all blocks.
    pub fn run(self, out: &mut [u8]) {
        let places = self.chosen.len();
        let rows = out.len() / self.row;
        let of_new = self.new.len() / self.row / (rows / places);
        let few = self.few_runs(of_new);
        let is_shared = COPIED.is_met(out.len());
        let piece = if is_shared { rows.div_ceil(pieces(out.len(), PIECE)) } else { rows };
        share(is_shared, piece * self.row, out, |at, out| self.rows(at * piece, of_new, &few, out));
    }

    /// Copies the rows from this one of all blocks on; each block has `of_new` new ones.
    fn rows(&self, first: usize, of_new: usize, few: &Option<[Run; FEW]>, mut out: &mut [u8]) {
        let places = self.chosen.len();
        let (mut block, mut place) = (first / places, first % places);
        while !out.is_empty() {
            let end = places.min(place + out.len() / self.row);
            let (here, rest) = out.split_at_mut((end - place) * self.row);
            let old = &self.old[block * places * self.row..][..places * self.row];
            let new = &self.new[block * of_new * self.row..][..of_new * self.row];
            let block_choice = Choice { new, old, ..*self };
            match (few, self.row) {
                (Some(runs), _) => {
                    runs.iter().for_each(|run| block_choice.copy(run, place..end, here));
                }
                (None, 1) => block_choice.elements::<u8>(place, here),
                (None, 2) => block_choice.elements::<u16>(place, cast_slice_mut(here)),
                (None, 4) => block_choice.elements::<u32>(place, cast_slice_mut(here)),
                (None, 8) => block_choice.elements::<u64>(place, cast_slice_mut(here)),
                (None, _) => block_choice.each_run(place..end, of_new, |run| {
                    block_choice.copy(&run, place..end, here);
                    true
                }),
            }
            out = rest;
            (block, place) = (block + 1, 0);
        }
    }

    /// The runs of all places, if they are few.
    fn few_runs(&self, of_new: usize) -> Option<[Run; FEW]> {
        let mut runs = [Run { first: 0, end: 0, from: From::Old }; FEW];
        let mut count = 0;
        self.each_run(0..self.chosen.len(), of_new, |run| {
            if count < FEW {
                runs[count] = run;
            }
            count += 1;
            count <= FEW
        });
        (count <= FEW).then_some(runs)
    }

    /// Calls `take` with one run after the other, as long as it returns true.
    fn each_run(&self, places: Range<usize>, of_new: usize, mut take: impl FnMut(Run) -> bool) {
        let mut first = places.start;
        while first < places.end {
            let from = self.from(first, of_new);
            let follows = |place: &usize| match (from, self.from(*place, of_new)) {
                (From::Old, From::Old) => true,
                (From::New(row), From::New(next)) => next == row + (*place - first),
                (From::Old, From::New(_)) | (From::New(_), From::Old) => false,
            };
            let end = (first + 1..places.end).find(|place| !follows(place)).unwrap_or(places.end);
            if !take(Run { first, end, from }) {
                return;
            }
            first = end;
        }
    }

    /// Where the row of a place is in a block.
    fn from(&self, place: usize, of_new: usize) -> From {
        if self.chosen[place] == 0 {
            return From::Old;
        }
        From::New(match self.numbers {
            Some(numbers) => numbers[place].number(),
            None => place.min(of_new - 1),
        })
    }

    /// Copies those rows of a run that are among these places of a block, whose rows `out` is.
    fn copy(&self, run: &Run, places: Range<usize>, out: &mut [u8]) {
        let (first, end) = (run.first.max(places.start), run.end.min(places.end));
        if first >= end {
            return;
        }
        let bytes = |rows: Range<usize>| rows.start * self.row..rows.end * self.row;
        let out = &mut out[bytes(first - places.start..end - places.start)];
        match run.from {
            From::Old => out.copy_from_slice(&self.old[bytes(first..end)]),
            From::New(row) => {
                let row = row + first - run.first;
                out.copy_from_slice(&self.new[bytes(row..row + end - first)]);
            }
        }
    }

    /// Rows of one element each, from this place of a block on.
    fn elements<T: Pod>(&self, first: usize, out: &mut [T]) {
        let (new, old): (&[T], &[T]) = (cast_slice(self.new), cast_slice(self.old));
        for (place, out) in (first..).zip(out) {
            *out = match self.from(place, new.len()) {
                From::Old => old[place],
                From::New(row) => new[row],
            };
        }
    }
}

#[cfg(test)]
mod tests;
