//! The gathers: rows of the data tensor in the order of the indices.
//!
//! An index out of range reads zeros if there is one index per element ([`Along`](Indexing::Along)); in the other forms
//! it ends the run in an error.
//!
//! Only bytes move, so of an element only its size matters. [`Rows`] says which row.

#![expect(unsafe_code, reason = "elements by indices that were checked all at once")]

use super::Kernel;
use super::call::Call;
use super::rows::{Index, Indexing, Indices, Rows};
use super::threads::{MOVED, PARALLEL_BYTES, share};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use serde::{Deserialize, Serialize};
use std::array::from_fn;

/// `[data, indices (i32 or i64)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gather(pub Indexing);

impl Kernel for Gather {
    fn run(&self, call: Call<'_>) {
        let [data, indices] = call.inputs else { unreachable!("a gather has two operands") };
        let rows = self.0.rows(data.shape(), indices, &call);
        execute(&rows, data.dtype().size(), data.elements(), Indices::of(indices), call.output);
    }
}

/// Fills `out` with the rows of `data` that the indices name.
pub fn execute(rows: &Rows, size: usize, data: &[u8], indices: Indices<'_>, out: &mut [u8]) {
    match indices {
        Indices::I32(indices) => by_size(rows, size, data, indices, out),
        Indices::I64(indices) => by_size(rows, size, data, indices, out),
    }
}

fn by_size<I: Index>(rows: &Rows, size: usize, data: &[u8], indices: &[I], out: &mut [u8]) {
    match size {
        1 => gather::<u8, I>(rows, data, indices, out),
        2 => gather::<u16, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
        4 => gather::<u32, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
        _ => gather::<u64, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
    }
}

fn gather<T: Pod + Send + Sync, I: Index>(rows: &Rows, data: &[T], indices: &[I], out: &mut [T]) {
    let all = rows.blocks * rows.positions;
    assert_eq!(out.len(), all * rows.row, "gather: the result has another size");
    let parallel = MOVED.is_met(size_of_val(out));
    let chunk = if parallel { (PARALLEL_BYTES / 2 / (rows.row * size_of::<T>())).max(1) } else { all };
    // Small blocks stay whole.
    let chunk = if rows.are_small_blocks(CHECKED) { chunk.next_multiple_of(rows.positions) } else { chunk };
    share(parallel, chunk * rows.row, out, |at, out| gather_part(rows, data, indices, at * chunk, out));
}

/// Rows that are copied together, of several blocks if those are small: their indices are checked once.
const TOGETHER: usize = 4096;

/// The rows from the `first` of all blocks on.
fn gather_part<T: Pod, I: Index>(rows: &Rows, data: &[T], indices: &[I], first: usize, mut out: &mut [T]) {
    let row = rows.row;
    let (mut block, mut position) = (first / rows.positions, first % rows.positions);
    if rows.are_small_blocks(CHECKED) {
        let blocks = block * rows.rows..(block + out.len() / rows.positions) * rows.rows;
        return small_blocks(rows, &data[blocks], &indices[first..][..out.len()], out);
    }
    let short = rows.are_plain().then(|| copy_of_short_rows::<I>(row * size_of::<T>())).flatten();
    while !out.is_empty() {
        let end = rows.positions.min(position + out.len() / row);
        let blocks = if short.is_some() && position == 0 {
            let whole = (out.len() / row).min(TOGETHER) / rows.positions;
            whole.clamp(1, rows.alike(block))
        } else {
            1
        };
        let (here, rest) = out.split_at_mut(blocks * (end - position) * row);
        let data = &data[block * rows.rows * row..][..blocks * rows.rows * row];
        match (short, row, rows.apart()) {
            (Some(copy), ..) => {
                let (indices, extent) = rows.indices(indices, block);
                let plain = (&indices[position..end], extent);
                copy(cast_slice(data), plain, row * size_of::<T>(), cast_slice_mut(here));
            }
            (None, 1, _) if rows.are_pairs(position..end) => {
                let (indices, extent) = rows.indices(indices, block);
                pairs(data, (&indices[position..end], extent), here);
            }
            (None, 1, Some(apart)) => {
                let (indices, extent) = rows.indices(indices, block);
                columns(data, (&indices[position..end], extent), (apart, position % apart), here);
            }
            _ => rows.visit(indices, block, position..end, |at, named| {
                let to = &mut here[(at - position) * row..][..row];
                match named {
                    Some(named) => to.copy_from_slice(&data[named * row..][..row]),
                    None => to.fill(T::zeroed()),
                }
            }),
        }
        out = rest;
        (block, position) = (block + blocks, 0);
    }
}

/// Indices that are checked at once.
const CHECKED: usize = 64;

/// Copies rows of each block by the same indices, at least one, which name them directly, with the number of rows that
/// a block has and the bytes of each.
pub type CopyRows<I> = fn(&[u8], (&[I], usize), usize, &mut [u8]);

/// Bytes from which on a row is worth a call for itself.
const LONG: usize = 256;
/// Bytes that are copied at a time.
const PART: usize = 16;

/// The loop for rows of so many bytes, if there is one.
pub fn copy_of_short_rows<I: Index>(bytes: usize) -> Option<CopyRows<I>> {
    Some(match bytes {
        1 => copy_rows::<I, 1>,
        2 => copy_rows::<I, 2>,
        3 => copy_rows::<I, 3>,
        4 => copy_rows::<I, 4>,
        6 => copy_rows::<I, 6>,
        8 => copy_rows::<I, 8>,
        12 => copy_rows::<I, 12>,
        16 => copy_rows::<I, 16>,
        32 => copy_rows::<I, 32>,
        64 => copy_rows::<I, 64>,
        _ if (PART..LONG).contains(&bytes) => copy_parts::<I>,
        _ => return None,
    })
}

/// Rows of `N` bytes: an inner loop without calls.
fn copy_rows<I: Index, const N: usize>(data: &[u8], (indices, extent): (&[I], usize), _row: usize, out: &mut [u8]) {
    let (data, out) = (data.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
    for (at, some) in indices.chunks(CHECKED).enumerate() {
        let all_within = I::all_within(some, extent);
        let run = if all_within { run_of(some, extent) } else { None };
        for (out, data) in out.chunks_exact_mut(indices.len()).zip(data.chunks_exact(extent)) {
            let out = &mut out[at * CHECKED..][..some.len()];
            if let Some(first) = run {
                out.copy_from_slice(&data[first..][..some.len()]);
            } else if all_within {
                for (to, index) in out.iter_mut().zip(some) {
                    // SAFETY: all of these indices are within the extent, which is how many rows there are.
                    *to = unsafe { *data.get_unchecked(index.number()) };
                }
            } else {
                for (to, index) in out.iter_mut().zip(some) {
                    *to = index.within(extent).map_or([0; N], |named| data[named]);
                }
            }
        }
    }
}

/// The first of indices, if they name one row after the other, as those of windows do. All are within the extent.
fn run_of<I: Index>(indices: &[I], extent: usize) -> Option<usize> {
    let (first, last) = (indices.first()?.number(), indices.last()?.number());
    // Of others these two hardly ever are so far apart.
    if last.checked_sub(first) != Some(indices.len() - 1) || u32::try_from(extent).is_err() {
        return None;
    }
    // A loop without branches, of which a vector of 32-bit numbers does four steps at a time.
    let differs = |(at, index): (usize, &I)| (index.number() ^ (first + at)) as u32;
    (indices.iter().enumerate().map(differs).fold(0, |any, bits| any | bits) == 0).then_some(first)
}

/// Rows of at least a part, of which the last may overlap the one before.
fn copy_parts<I: Index>(data: &[u8], (indices, extent): (&[I], usize), row: usize, out: &mut [u8]) {
    for (out, data) in out.chunks_exact_mut(indices.len() * row).zip(data.chunks_exact(extent * row)) {
        for (to, index) in out.chunks_exact_mut(row).zip(indices) {
            let Some(named) = index.within(extent) else {
                to.fill(0);
                continue;
            };
            let from = &data[named * row..][..row];
            for (to, from) in to.as_chunks_mut::<PART>().0.iter_mut().zip(from.as_chunks::<PART>().0) {
                *to = *from;
            }
            if let (Some(to), Some(from)) = (to.last_chunk_mut::<PART>(), from.last_chunk::<PART>()) {
                *to = *from;
            }
        }
    }
}

/// Single elements of blocks that have few positions each; the indices of some blocks are checked at once.
fn small_blocks<T: Pod, I: Index>(rows: &Rows, data: &[T], indices: &[I], out: &mut [T]) {
    assert!(out.len().is_multiple_of(rows.positions), "gather: a part of a block");
    let scale = rows.apart().unwrap_or(1);
    let extent = rows.rows / scale;
    let together = CHECKED / rows.positions;
    let starts: [usize; CHECKED] = from_fn(|at| at / rows.positions * rows.rows + at % scale);
    let outs = out.chunks_mut(together * rows.positions);
    let blocks = indices.chunks(together * rows.positions).zip(data.chunks(together * rows.rows));
    for (out, (indices, data)) in outs.zip(blocks) {
        assert_eq!(out.len() / rows.positions * rows.rows, data.len(), "gather: the data has other blocks");
        let all_within = I::all_within(indices, extent);
        for ((to, index), start) in out.iter_mut().zip(indices).zip(&starts) {
            if all_within {
                // SAFETY: the index is within the extent, so this is an element of the block that starts here, and all
                // blocks of these results, which are whole (asserted above), are there.
                *to = unsafe { *data.get_unchecked(start + index.number() * scale) };
            } else {
                *to = index.within(extent).map_or(T::zeroed(), |named| data[start + named * scale]);
            }
        }
    }
}

/// Single elements of pairs, each by an index of its own: the halves of wider elements.
fn pairs<T: Pod, I: Index>(data: &[T], (indices, extent): (&[I], usize), out: &mut [T]) {
    let data = &data.as_chunks::<2>().0[..extent];
    for (to, indices) in out.as_chunks_mut::<2>().0.iter_mut().zip(indices.as_chunks::<2>().0) {
        for half in 0..2 {
            to[half] = indices[half].within(extent).map_or(T::zeroed(), |named| data[named][half]);
        }
    }
}

/// Single elements of columns that are `apart` wide, each by an index of its own, from this column on.
fn columns<T: Pod, I: Index>(
    data: &[T],
    (indices, extent): (&[I], usize),
    (apart, mut column): (usize, usize),
    mut out: &mut [T],
) {
    let data = &data[..extent * apart];
    let mut indices = indices;
    while !out.is_empty() {
        let count = out.len().min(apart - column).min(CHECKED);
        let (here, rest) = out.split_at_mut(count);
        let (line, later) = indices.split_at(count);
        let all_within = I::all_within(line, extent);
        for (at, (to, index)) in here.iter_mut().zip(line).enumerate() {
            if all_within {
                // SAFETY: the index is within the extent, which is how many rows there are, and this column is one of
                // those that are there between two rows.
                *to = unsafe { *data.get_unchecked(index.number() * apart + column + at) };
            } else {
                let named = index.within(extent).map(|row| data[row * apart + column + at]);
                *to = named.unwrap_or(T::zeroed());
            }
        }
        (out, indices, column) = (rest, later, (column + count) % apart);
    }
}

#[cfg(test)]
mod tests;
