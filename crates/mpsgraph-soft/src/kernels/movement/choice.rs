//! Choice of rows: what is at a place along an axis is of one operand or of another. A region whose start is fed is
//! replaced so: the places are few runs, each one copy.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::kernels::rows::Index;
use crate::kernels::threads::{COPIED, pieces, share};
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Runs of places up to which they are looked for once, not for each block.
const FEW: usize = 8;
/// Places of a run that are looked at by themselves, and that are looked at together.
const ALONE: usize = 16;
const TOGETHER: usize = 256;
/// Least bytes of a piece that a thread takes.
const PIECE: usize = COPIED.awake / 2;

/// Where the rows of a choice are.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// For each place 1, if its row is one of `new`, or 0.
    pub chosen: &'a [u8],
    /// For each place which row of `new` it has. All are within its rows.
    pub numbers: Option<&'a [i32]>,
    /// For each block so many rows: one for each place, one for all, or any number if they are numbered.
    pub new: &'a [u8],
    pub of_new: usize,
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
        let rows = out.len() / self.row;
        let few = self.few_runs();
        let is_shared = COPIED.is_met(out.len());
        let piece = if is_shared { rows.div_ceil(pieces(out.len(), PIECE)) } else { rows };
        share(is_shared, piece * self.row, out, |at, out| self.rows(at * piece, &few, out));
    }

    /// Copies the rows from this one of all blocks on.
    fn rows(&self, first: usize, few: &Option<[Run; FEW]>, mut out: &mut [u8]) {
        let (places, of_new) = (self.chosen.len(), self.of_new);
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
                (None, _) => block_choice.each_run(place..end, |run| {
                    block_choice.copy(&run, place..end, here);
                    true
                }),
            }
            out = rest;
            (block, place) = (block + 1, 0);
        }
    }

    /// The runs of all places, if they are few.
    fn few_runs(&self) -> Option<[Run; FEW]> {
        let mut runs = [Run { first: 0, end: 0, from: From::Old }; FEW];
        let mut count = 0;
        self.each_run(0..self.chosen.len(), |run| {
            if count < FEW {
                runs[count] = run;
            }
            count += 1;
            count <= FEW
        });
        (count <= FEW).then_some(runs)
    }

    /// Calls `take` with one run after the other, as long as it returns true.
    fn each_run(&self, places: Range<usize>, mut take: impl FnMut(Run) -> bool) {
        let mut first = places.start;
        while first < places.end {
            let from = self.from(first);
            let end = first + vectorised(Length { choice: self, first, end: places.end, from });
            if !take(Run { first, end, from }) {
                return;
            }
            first = end;
        }
    }

    /// Where the row of a place is in a block.
    fn from(&self, place: usize) -> From {
        if self.chosen[place] == 0 {
            return From::Old;
        }
        From::New(match self.numbers {
            Some(numbers) => numbers[place].number(),
            None => place.min(self.of_new - 1),
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
            *out = match self.from(place) {
                From::Old => old[place],
                From::New(row) => new[row],
            };
        }
    }
}

/// How many places from the first one on are a run.
struct Length<'a> {
    choice: &'a Choice<'a>,
    first: usize,
    end: usize,
    from: From,
}

impl VectorLoop for Length<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { choice, first, end, from } = self;
        let chosen = &choice.chosen[first..end];
        let all = |places: Range<usize>, is: u8| chosen[places].iter().fold(true, |all, &chosen| all & (chosen == is));
        match (from, choice.numbers) {
            (From::Old, _) => same(chosen.len(), |places| all(places, 0)),
            (From::New(_), Some(numbers)) => {
                let numbers = &numbers[first..end];
                let follows = |places: Range<usize>| {
                    let behind = numbers[places.clone()].iter().zip(places.start as i32..);
                    behind.fold(true, |all, (number, at)| all & (number.wrapping_sub(at) == numbers[0]))
                };
                same(chosen.len(), |places| all(places.clone(), 1) & follows(places))
            }
            // A row for all follows itself nowhere.
            (From::New(_), None) if choice.of_new == 1 => 1,
            (From::New(_), None) => same(chosen.len(), |places| all(places, 1)),
        }
    }
}

/// How many of so many places from the first one on are alike: a few are looked at by themselves, then many together.
#[inline(always)]
fn same(count: usize, are_alike: impl Fn(Range<usize>) -> bool) -> usize {
    let each = |from: usize, end: usize| (from..end).find(|&at| !are_alike(at..at + 1)).unwrap_or(end);
    let mut at = each(0, count.min(ALONE));
    if at < ALONE {
        return at;
    }
    while at + TOGETHER <= count && are_alike(at..at + TOGETHER) {
        at += TOGETHER;
    }
    each(at, count)
}

#[cfg(test)]
mod tests;
