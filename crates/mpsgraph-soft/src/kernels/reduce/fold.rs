//! What is around the loops over elements: segments to one value, and rows onto columns.
//!
//! Segments of more than a block are divided in halves. Rows are folded onto a tile of accumulators that stays in the
//! first cache.

use super::Nest;
use super::READ;
use super::inner::{self, ACCUMULATORS, Inner, Starts};
use crate::kernels::threads::{MOVED, OwnLine, PARALLEL_BYTES, both, share_reads};
use bytemuck::{bytes_of_mut, cast_slice_mut};
use std::ops::Range;

/// Elements that are folded without halving.
pub const BLOCK: usize = 4096;
/// Blocks of which the results are kept at a time.
const BLOCKS: usize = 1024;
/// Rows that are folded without halving.
pub(super) const ROWS: usize = 128;
/// Widest tile.
pub const COLUMNS: usize = 1024;
/// Segments that are folded at a time.
const PARTS: usize = 32;
/// Bytes of the accumulators of columns that are folded as segments are.
const ACCUMULATED: usize = 32 * COLUMNS;

/// Elements of the widest rows that are taken several at a time.
pub const NARROWEST: usize = COLUMNS / 8;

/// In how many interleaved parts so many neighbouring rows of this width are folded, one after the other in a part, and
/// the parts one after the other; what is left of the rows comes last. `None` if the order is another one.
pub fn interleaved(rows: usize, width: usize) -> Option<usize> {
    let parts = if is_narrow(rows, width) { COLUMNS / 4 / width } else { 1 };
    (width > 1 && rows / parts <= ROWS).then_some(parts)
}

/// Whether packed rows are so short that several are taken at a time.
fn is_narrow(rows: usize, width: usize) -> bool {
    let several = COLUMNS / 4 / width;
    several > 1 && rows > several
}

/// The segments of one result: `length` elements at each offset of `nest`.
pub struct Segments<'a> {
    /// The whole operand.
    pub x: &'a [u8],
    /// Elements of a segment.
    pub length: usize,
    /// The reduced loops around a segment.
    pub nest: Nest,
}

/// Reduces the segments of result `first + i`, where the kept loops begin them, into element `i` of `out`.
pub fn segments(inner: &Inner, parts: &Segments<'_>, (kept, first): (&Nest, usize), out: &mut [u8]) {
    let (x, length, size) = (parts.x, parts.length, inner.size);
    if parts.nest.depth == 0 && length <= BLOCK {
        return inner.segments(&inner::Segments { x, length, kept, first }, out);
    }
    let several = parts.nest.count();
    for (i, out) in out.chunks_exact_mut(size).enumerate() {
        parts.fold(inner, kept.offset(first + i), 0..several, out);
    }
}

impl Segments<'_> {
    /// Folds some of the segments into `out`.
    fn fold(&self, inner: &Inner, start: usize, some: Range<usize>, out: &mut [u8]) {
        let Range { start: first, end } = some;
        let (count, size) = (end - first, inner.size);
        let bytes = self.length * size;
        let x = &self.x[start * size..];
        if count == 1 {
            return fold_long(inner, &x[self.nest.offset(first) * size..][..bytes], out);
        }
        if count <= PARTS && self.length <= BLOCK && count * bytes <= PARALLEL_BYTES {
            let mut parts = [0u64; PARTS];
            let parts: &mut [u8] = &mut cast_slice_mut(&mut parts)[..count * size];
            inner.segments(&inner::Segments { x, length: self.length, kept: &self.nest, first }, parts);
            join_halves(inner, parts);
            return out.copy_from_slice(&parts[..size]);
        }
        let middle = first + count / 2;
        let (low, high) = (&|out: &mut [u8]| self.fold(inner, start, first..middle, out), &|out: &mut [u8]| {
            self.fold(inner, start, middle..end, out);
        });
        halves(inner, count * bytes / 2, out, low, high);
    }
}

/// Joins partial results as [`halves`] does, into the first one.
fn join_halves(inner: &Inner, parts: &mut [u8]) {
    let count = parts.len() / inner.size;
    if count > 1 {
        let (low, high) = parts.split_at_mut(count / 2 * inner.size);
        join_halves(inner, low);
        join_halves(inner, high);
        inner.step(&mut low[..inner.size], &high[..inner.size]);
    }
}

/// Folds a segment of any length into `out`: the results of its blocks, joined in halves.
pub fn fold_long(inner: &Inner, x: &[u8], out: &mut [u8]) {
    let (count, size) = (x.len() / inner.size, inner.size);
    if count <= BLOCK {
        return inner.segment(x, out);
    }
    if count > BLOCKS * BLOCK {
        let (front, back) = x.split_at(front(count) * size);
        let mut other = 0u64;
        let other = &mut bytes_of_mut(&mut other)[..size];
        fold_long(inner, front, out);
        fold_long(inner, back, other);
        return inner.step(out, other);
    }
    let mut parts = [0u64; BLOCKS];
    let parts: &mut [u8] = &mut cast_slice_mut(&mut parts)[..count.div_ceil(BLOCK) * size];
    share_reads(READ.is_met(x.len()), BLOCK * size, size, parts, |at, out| {
        inner.segment(&x[at * BLOCK * size..x.len().min((at + 1) * BLOCK * size)], out);
    });
    join_blocks(inner, [count, BLOCK], parts, size);
    out.copy_from_slice(&parts[..size]);
}

/// Elements of the first half of a segment that is longer than a block.
pub fn front(count: usize) -> usize {
    first_half(count, BLOCK)
}

/// Elements or rows of the first half of more than a block of them. All that reduces in parts has to divide so.
fn first_half(count: usize, block: usize) -> usize {
    (count / 2).next_multiple_of(block)
}

/// Joins the results of the blocks of so many elements or rows, of `row` bytes each, into the first one.
pub(super) fn join_blocks(inner: &Inner, [count, block]: [usize; 2], parts: &mut [u8], row: usize) {
    if count > block {
        let front = first_half(count, block);
        let (low, high) = parts.split_at_mut(front / block * row);
        join_blocks(inner, [front, block], low, row);
        join_blocks(inner, [count - front, block], high, row);
        inner.join(&mut low[..row], &high[..row]);
    }
}

/// Work that leaves one element.
type Half<'a> = dyn Fn(&mut [u8]) + Sync + 'a;

/// Joins what two halves of the work, on so many bytes each, come to.
fn halves(inner: &Inner, bytes: usize, out: &mut [u8], low: &Half<'_>, high: &Half<'_>) {
    let mut other = 0u64;
    let other = &mut bytes_of_mut(&mut other)[..inner.size];
    both(MOVED.is_met(bytes), &mut || low(out), &mut || high(other));
    inner.step(out, other);
}

/// The rows of one tile of results.
pub struct RowsOfTile<'a> {
    /// The whole operand.
    pub x: &'a [u8],
    /// Where the tile's first row begins.
    pub start: usize,
    /// Elements of a whole row, of which the tile may be a part.
    pub width: usize,
    /// Where the rows begin.
    pub starts: Starts<'a>,
}

impl RowsOfTile<'_> {
    /// Folds some of the rows into the tile `out`, of at most `COLUMNS` elements, and ignores its old contents.
    fn fold(&self, inner: &Inner, rows: Range<usize>, out: &mut [u8]) {
        let (count, width) = (rows.end - rows.start, out.len() / inner.size);
        // Rows much shorter than a tile are taken several at a time, as one row of a wider tile.
        let packed = matches!(self.starts, Starts::Packed(_)) && self.width == width;
        if packed && is_narrow(count, width) {
            return self.fold_narrow(inner, rows, out, COLUMNS / 4 / width);
        }
        if count <= ROWS {
            inner.fill(out);
            return inner.rows(&inner::Rows::of_one(self.x, self.start, self.starts, width), rows, out);
        }
        let mut other = OwnLine([0u64; COLUMNS]);
        let other: &mut [u8] = &mut cast_slice_mut(&mut other.0)[..out.len()];
        let middle = rows.start + first_half(count, ROWS);
        both(MOVED.is_met(count * out.len() / 2), &mut || self.fold(inner, rows.start..middle, out), &mut || {
            self.fold(inner, middle..rows.end, other)
        });
        inner.join(out, other);
    }

    /// Folds all `count` rows into the tile `out`, or, if they are neighbours, each column as a segment.
    pub fn fold_all(&self, inner: &Inner, count: usize, as_segments: bool, out: &mut [u8]) {
        match self.starts {
            Starts::Packed(step) if as_segments => self.fold_as_segments(inner, count, step, out),
            Starts::Packed(_) | Starts::Nest(_) => self.fold(inner, 0..count, out),
        }
    }

    /// Folds all `count` rows, `step` apart, into the tile `out`, each column as [`fold_long`] folds a segment.
    fn fold_as_segments(&self, inner: &Inner, count: usize, step: usize, out: &mut [u8]) {
        let widest = ACCUMULATED / ACCUMULATORS / inner.size;
        for (at, out) in out.chunks_mut(widest * inner.size).enumerate() {
            as_segments(inner, self.x, [self.start + at * widest, step, count], out);
        }
    }

    /// Folds contiguous rows `several` at a time.
    fn fold_narrow(&self, inner: &Inner, rows: Range<usize>, out: &mut [u8], several: usize) {
        let (bytes, size) = (out.len(), inner.size);
        let width = bytes / size;
        let wide = several * width;
        let steps = (rows.end - rows.start) / several;
        let start = self.start + rows.start * width;
        let columns = RowsOfTile { x: self.x, start, width: wide, starts: Starts::Packed(wide) };
        let (mut long, mut short) = ([0u64; COLUMNS / 4], [0u64; COLUMNS / 8]);
        let wide_out: &mut [u64] = if size == 8 { &mut long } else { &mut short };
        let wide_out: &mut [u8] = &mut cast_slice_mut(wide_out)[..several * bytes];
        columns.fold(inner, 0..steps, wide_out);
        let rest = &self.x[(start + steps * wide) * size..(self.start + rows.end * width) * size];
        out.copy_from_slice(&wide_out[..bytes]);
        inner.join(out, &wide_out[bytes..]);
        inner.join(out, rest);
    }
}

/// Folds `count` rows, which begin at `start` and are `step` apart, into the few columns of `out`, in the order of the
/// elements of a segment.
fn as_segments(inner: &Inner, x: &[u8], [start, step, count]: [usize; 3], out: &mut [u8]) {
    if count > BLOCK {
        let front = front(count);
        let mut other = [0u64; ACCUMULATED / ACCUMULATORS / 8];
        let other: &mut [u8] = &mut cast_slice_mut(&mut other)[..out.len()];
        as_segments(inner, x, [start, step, front], out);
        as_segments(inner, x, [start + front * step, step, count - front], other);
        return inner.join(out, other);
    }
    let width = out.len() / inner.size;
    if count < ACCUMULATORS {
        inner.fill(out);
        return inner.rows(&inner::Rows::of_one(x, start, Starts::Packed(step), width), 0..count, out);
    }
    let mut parts = [0u64; ACCUMULATED / 8];
    let parts: &mut [u8] = &mut cast_slice_mut(&mut parts)[..ACCUMULATORS * out.len()];
    inner.fill(parts);
    for (at, part) in parts.chunks_exact_mut(out.len()).enumerate() {
        let starts = Starts::Packed(ACCUMULATORS * step);
        let rows = inner::Rows::of_one(x, start + at * step, starts, width);
        inner.rows(&rows, 0..(count - at).div_ceil(ACCUMULATORS), part);
    }
    let mut half = parts.len() / 2;
    while half >= out.len() {
        let (low, high) = parts.split_at_mut(half);
        inner.join(low, &high[..half]);
        half /= 2;
    }
    out.copy_from_slice(&parts[..out.len()]);
}
