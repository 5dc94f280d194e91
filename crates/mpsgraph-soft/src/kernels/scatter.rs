//! The scatters: the data tensor with rows combined with updates.
//!
//! An update whose index is out of range is skipped if there is one index per element
//! ([`Along`](Indexing::Along)); in the other forms such an index ends the run in an error.
//!
//! Updates to one element are applied in the order of their positions, each rounded to the dtype. Threads divide the
//! rows that are written, not the updates, so the result is the same for any number of them. [`Rows`] says which row.
//! Indices become places in the output, some at a time; only what is done there knows the element type (`combine`).

mod combine;

use super::Kernel;
use super::call::Call;
use super::gather::{CopyRows, copy_of_short_rows};
use super::rows::{Index, Indexing, Indices, MOST_ROWS, Rows};
use super::threads::{self, Columns, PARALLEL_BYTES, even_width, share, share_columns};
use crate::ir::DType;
use crate::prefetch::LINE;
use combine::{Combine, Places};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Updates that are combined at a time.
const BLOCK: usize = 128;
/// Bytes of small blocks that are taken together: they stay in the first cache.
const SMALL_BYTES: usize = 16 * 1024;
/// Bytes of a block, or of some columns of one: they stay in the second cache.
const CACHED_BYTES: usize = 256 * 1024;
/// Bytes of a row that is one element, or two.
const SINGLE: usize = 8;
/// Bytes of a block of which a thread finds elements faster than it skips those of another thread.
const NEAR_BYTES: usize = 16 * 1024 * 1024;
/// Fewer columns are not worth a loop for each line of updates.
const FEW_COLUMNS: usize = 16;

thread_local! {
    /// Updates that are taken out of a block, kept so that running allocates nothing.
    pub static TAKEN: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// How a scatter combines an update with the element that is there. Setting one element to different values fails the
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScatterMode {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Set,
}

/// `[data, updates, indices (i32 or i64)]`; without data the updates meet zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scatter {
    pub indexing: Indexing,
    pub mode: ScatterMode,
}

impl Kernel for Scatter {
    fn run(&self, call: Call<'_>) {
        let (data, updates, indices) = match call.inputs {
            [data, updates, indices] => (Some(data.elements()), updates, indices),
            [updates, indices] => (None, updates, indices),
            _ => unreachable!("a scatter has two or three operands"),
        };
        let dtype = call.ty.dtype;
        let rows = self.indexing.rows(&call.ty.shape, indices, &call);
        let indices = Indices::of(indices);
        execute(&rows, self.mode, dtype, (data, updates.elements()), indices, call.output);
        let size = dtype.size();
        if self.mode == ScatterMode::Set && is_contested(&rows, size, updates.elements(), indices, call.output) {
            call.fail(format_args!("sets an element to different values: which of them stays is not defined"));
        }
    }
}

/// Data, or zeros if there are none, and updates combined into `out`. Methods refuse all modes but setting for bools.
pub fn execute(
    rows: &Rows,
    mode: ScatterMode,
    dtype: DType,
    (data, updates): (Option<&[u8]>, &[u8]),
    indices: Indices<'_>,
    out: &mut [u8],
) {
    let work = Work { rows, size: dtype.size(), combine: combine::of(mode, dtype), data, updates };
    match indices {
        Indices::I32(indices) => work.run(indices, out),
        Indices::I64(indices) => work.run(indices, out),
    }
}

/// Whether an element that was set, in elements of `size` bytes, has another value in one of the updates.
pub fn is_contested(rows: &Rows, size: usize, updates: &[u8], indices: Indices<'_>, out: &[u8]) -> bool {
    let row = rows.row * size;
    let contested = |at: usize, to: usize| out[to * row..][..row] != updates[at * row..][..row];
    match indices {
        Indices::I32(indices) => any_update(rows, indices, contested),
        Indices::I64(indices) => any_update(rows, indices, contested),
    }
}

/// Whether `holds` for an update that is not skipped: its row among the updates, and the row that it changes.
fn any_update<I: Index>(rows: &Rows, indices: &[I], holds: impl Fn(usize, usize) -> bool) -> bool {
    let mut any = false;
    for block in 0..rows.blocks {
        rows.visit(indices, block, 0..rows.positions, |at, named| {
            any |= named.is_some_and(|to| holds(block * rows.positions + at, block * rows.rows + to));
        });
    }
    any
}

/// A scatter of elements of `size` bytes.
struct Work<'a> {
    rows: &'a Rows<'a>,
    size: usize,
    combine: Combine,
    data: Option<&'a [u8]>,
    updates: &'a [u8],
}

impl Work<'_> {
    fn run<I: Index>(&self, indices: &[I], out: &mut [u8]) {
        let rows = self.rows;
        let row = rows.row * self.size;
        let block = rows.rows * row;
        assert_eq!(out.len(), rows.blocks * block, "scatter: the data have another size");
        assert_eq!(self.updates.len(), rows.blocks * rows.positions * row, "scatter: the updates have another size");
        // Each part reads all indices of its block, so there are at most as many parts as threads.
        let parallel = self.updates.len().max(out.len()).max(size_of_val(indices)) > PARALLEL_BYTES;
        let threads = threads::count();
        // A part skips the updates of the others, which takes longer than to add rows in a cache, the shorter they are,
        // and longer than the memory of single elements, unless they are far apart.
        let is_short = block <= CACHED_BYTES * (2 * LINE / row).min(4) || row <= SINGLE && block <= NEAR_BYTES;
        let parts = if !parallel || is_short {
            1
        } else if rows.blocks < 4 * threads && !rows.blocks.is_multiple_of(threads) {
            // Half blocks are dealt out more evenly.
            threads.div_ceil(rows.blocks).max(2)
        } else {
            1
        };
        let several = (BLOCK / rows.positions).min(SMALL_BYTES / block);
        if parts == 1 && several > 1 {
            return share(parallel, several * block, out, |at, out| {
                self.start(at * several * block, out);
                self.small_blocks(indices, at * several, out);
            });
        }
        // Threads that share a block need several parts of its rows.
        let least = if parallel { (2 * threads * LINE).div_ceil(self.size) } else { FEW_COLUMNS };
        if let Some(apart) = rows.apart().filter(|&apart| apart >= least && rows.rows <= MOST_ROWS) {
            return share(parallel, block, out, |at, out| {
                self.block_of_columns(indices, (at, apart), parallel, out);
            });
        }
        let part_rows = rows.rows.div_ceil(parts).min(MOST_ROWS);
        share(parallel, block, out, |at, out| {
            share(parallel, part_rows * row, out, |part, out| {
                let first = part * part_rows;
                // A part at a time, so that it is still in the cache when the updates come.
                self.start(at * block + first * row, out);
                self.part(indices, (at, first), out);
            });
        });
    }

    /// What the updates meet, from this byte on.
    fn start(&self, first: usize, out: &mut [u8]) {
        match self.data {
            Some(data) => out.copy_from_slice(&data[first..][..out.len()]),
            None => out.fill(0),
        }
    }

    /// Whole blocks from the `first` on, of so few positions that those of all are combined at a time.
    fn small_blocks<I: Index>(&self, indices: &[I], first: usize, out: &mut [u8]) {
        let rows = self.rows;
        let row = rows.row * self.size;
        let mut places = [0; BLOCK];
        let places = &mut places[..out.len() / (rows.rows * row) * rows.positions];
        rows.places_of_blocks(indices, first, places);
        let updates = &self.updates[first * rows.positions * row..][..places.len() * row];
        (self.combine.rows)(out, updates, rows.row, Places { numbers: places, first: 0 });
    }

    /// A block with an index for each element, which counts along columns that are `apart` wide. Threads take some
    /// columns each, so that no index is of another thread's element.
    fn block_of_columns<I: Index>(
        &self,
        indices: &[I],
        (block, apart): (usize, usize),
        parallel: bool,
        out: &mut [u8],
    ) {
        let (rows, size) = (self.rows, self.size);
        let (line, start) = (apart * size, block * out.len());
        let updates = &self.updates[block * rows.positions * size..][..rows.positions * size];
        let (indices, extent) = rows.indices(indices, block);
        let some = |first: usize, mut columns: Columns<'_, u8>| {
            for row in 0..extent {
                self.start(start + row * line + first, columns.row(row).expect("there are so many rows"));
            }
            let (first, width) = (first / size, columns.width() / size);
            let mut numbers = [0; BLOCK];
            for line in (0..rows.positions).step_by(apart) {
                for from in (0..width).step_by(BLOCK) {
                    let part = from..width.min(from + BLOCK);
                    let at = line + first + from;
                    let updates = &updates[at * size..][..part.len() * size];
                    let numbers = rows.numbers(&indices[at..][..part.len()], &mut numbers);
                    let columns = columns.part(part.start * size..part.end * size);
                    (self.combine.elements)(columns, updates, numbers);
                }
            }
        };
        if !parallel {
            return some(0, Columns::all(out, line));
        }
        let widest = (CACHED_BYTES / extent / LINE * LINE).max(LINE);
        share_columns(line, even_width(line, 1, LINE..=widest), out, &some);
    }

    /// The rows of `out`, which begin at row `first` of `block`.
    fn part<I: Index>(&self, indices: &[I], (block, first): (usize, usize), out: &mut [u8]) {
        let rows = self.rows;
        let row = rows.row * self.size;
        let updates = &self.updates[block * rows.positions * row..][..rows.positions * row];
        let count = out.len() / row;
        let numbers = rows.are_plain().then(|| rows.indices(indices, block).0);
        // Counted from `first`, indices that name no row stay too large.
        let direct = numbers.and_then(I::as_places).filter(|_| rows.rows <= MOST_ROWS);
        if let Some(numbers) = direct
            && count == rows.rows
        {
            return (self.combine.rows)(out, updates, rows.row, Places { numbers, first: 0 });
        }
        // Of a part, most updates of a sorted block are outside.
        let is_part = count < rows.rows;
        let copy = if is_part && row < 2 * LINE { copy_of_short_rows(row) } else { None };
        let mut taken = if copy.is_some() { TAKEN.take() } else { Vec::new() };
        if copy.is_some() && taken.len() < BLOCK * row {
            taken.resize(BLOCK * row, 0);
        }
        for start in (0..rows.positions).step_by(BLOCK) {
            let end = rows.positions.min(start + BLOCK);
            let updates = &updates[start * row..end * row];
            if numbers.is_some_and(|numbers| is_part && !I::any_among(&numbers[start..end], first, count)) {
                continue;
            }
            let mut places = [0; BLOCK];
            let places = match direct {
                Some(numbers) => Places { numbers: &numbers[start..end], first: first as u32 },
                None => {
                    let places = &mut places[..end - start];
                    rows.places(indices, (block, start), (first, count), places);
                    Places { numbers: places, first: 0 }
                }
            };
            match copy {
                Some(copy) => self.some_updates(copy, updates, places, (&mut taken, out)),
                None => (self.combine.rows)(out, updates, rows.row, places),
            }
        }
        if copy.is_some() {
            TAKEN.set(taken);
        }
    }

    /// Updates of which some are of rows that are not here. Those are taken out without a branch: which they are, no
    /// processor foresees.
    fn some_updates(
        &self,
        copy: CopyRows<i32>,
        updates: &[u8],
        places: Places<'_>,
        (taken, out): (&mut [u8], &mut [u8]),
    ) {
        let row = self.rows.row * self.size;
        let rows = out.len() / row;
        let is_here = |number: u32| (number.wrapping_sub(places.first) as usize) < rows;
        let ends = [places.numbers.first(), places.numbers.last()];
        let may_all_be_here = ends.iter().flatten().all(|&&number| is_here(number));
        if may_all_be_here && places.numbers.iter().fold(true, |all, &number| all & is_here(number)) {
            return (self.combine.rows)(out, updates, self.rows.row, places);
        }
        let (mut here, mut numbers) = ([0; BLOCK], [0; BLOCK]);
        let mut count = 0;
        for (at, &number) in places.numbers.iter().enumerate() {
            (here[count], numbers[count]) = (at as i32, number);
            count += usize::from(is_here(number));
        }
        if count == 0 {
            return;
        }
        let numbers = Places { numbers: &numbers[..count], first: places.first };
        let taken = &mut taken[..count * row];
        copy(updates, (&here[..count], places.numbers.len()), row, taken);
        (self.combine.rows)(out, taken, self.rows.row, numbers);
    }
}

#[cfg(test)]
mod tests;
