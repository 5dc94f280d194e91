//! The axis in the middle of three: blocks of rows, each folded onto a row of the result.
//!
//! Blocks of a few narrow rows are folded as one: their accumulators are a row that reaches from the first block to the
//! last, onto which each row is taken as if it did so too. Where a block begins, the accumulators have its result; what
//! is between is not used. That takes an element in as often as a block has rows, but by whole vectors.

use super::fold::{RowsOfTile, interleaved};
use super::inner::{ACCUMULATORS, Inner, Rows, Starts};
use crate::kernels::threads::OwnLine;
use bytemuck::cast_slice_mut;

/// Bytes of accumulators: they stay in the first cache.
const ACCUMULATED: usize = 4096;
/// Elements of the widest rows of blocks that are folded as one.
const NARROW: usize = 10;
/// Elements that are taken in for a block, up to which that is faster.
const TAKEN: usize = 256;

/// Blocks, one behind the other.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// The whole operand.
    pub x: &'a [u8],
    /// Rows of a block.
    pub count: usize,
    /// Elements of a row.
    pub width: usize,
    /// Whether each column is folded in the order of a segment.
    pub as_segments: bool,
}

impl Blocks<'_> {
    /// Elements of a block.
    pub fn elements(&self) -> usize {
        self.count * self.width
    }

    /// Folds the blocks from `first` on, each onto a row of `out`.
    pub fn fold(&self, inner: &Inner, first: usize, out: &mut [u8]) {
        let (start, elements) = (first * self.elements(), self.elements());
        let parts = if self.as_segments {
            (self.count < ACCUMULATORS).then_some(1)
        } else {
            interleaved(self.count, self.width)
        };
        match parts {
            Some(1) if self.width <= NARROW && self.count * elements <= TAKEN => self.fold_together(inner, start, out),
            Some(1) => {
                inner.fill(out);
                inner.rows(&self.rows(start, self.width), 0..self.count, out);
            }
            Some(parts) => self.fold_parts(inner, parts, start, out),
            None => {
                for (at, out) in out.chunks_exact_mut(self.width * inner.size).enumerate() {
                    let starts = Starts::Packed(self.width);
                    let columns = RowsOfTile { x: self.x, start: start + at * elements, width: self.width, starts };
                    columns.fold_all(inner, self.count, self.as_segments, out);
                }
            }
        }
    }

    /// The rows of the blocks from element `start` on, or of one of so many elements.
    fn rows(&self, start: usize, width: usize) -> Rows<'_> {
        Rows { x: self.x, start, starts: Starts::Packed(self.width), width, block: self.elements() }
    }

    /// Folds the blocks that begin at `start` several at a time.
    fn fold_together(&self, inner: &Inner, start: usize, out: &mut [u8]) {
        let [row, block] = [self.width, self.elements()].map(|elements| elements * inner.size);
        let several = ACCUMULATED / block;
        let mut accumulators = OwnLine([0u64; ACCUMULATED / 8]);
        let accumulators: &mut [u8] = cast_slice_mut(&mut accumulators.0);
        for (at, out) in out.chunks_mut(several * row).enumerate() {
            let blocks = out.len() / row;
            let wide = (blocks - 1) * self.elements() + self.width;
            let used = &mut accumulators[..wide * inner.size];
            inner.fill(used);
            inner.rows(&self.rows(start + at * several * self.elements(), wide), 0..self.count, used);
            pick(&accumulators[..blocks * block], [row, block], out);
        }
    }

    /// Folds the blocks that begin at `start`, `parts` rows of each as one, and then those parts onto each other.
    fn fold_parts(&self, inner: &Inner, parts: usize, start: usize, out: &mut [u8]) {
        let (row, wide) = (self.width * inner.size, parts * self.width);
        let several = ACCUMULATED / (wide * inner.size);
        let steps = self.count / parts;
        let mut accumulators = OwnLine([0u64; ACCUMULATED / 8]);
        let accumulators: &mut [u8] = cast_slice_mut(&mut accumulators.0);
        for (at, out) in out.chunks_mut(several * row).enumerate() {
            let start = start + at * several * self.elements();
            let sums = &mut accumulators[..out.len() * parts];
            inner.fill(sums);
            inner.rows(&Rows { starts: Starts::Packed(wide), ..self.rows(start, wide) }, 0..steps, sums);
            pick(sums, [row, wide * inner.size], out);
            let others = Rows { x: sums, block: wide, ..self.rows(self.width, self.width) };
            inner.rows(&others, 0..parts - 1, out);
            inner.rows(&self.rows(start + steps * wide, self.width), 0..self.count % parts, out);
        }
    }
}

/// Copies what the accumulators have where a block begins to its row of `out`.
fn pick(accumulators: &[u8], sizes: [usize; 2], out: &mut [u8]) {
    match sizes[0] {
        16.. => pick_by::<16>(accumulators, sizes, out),
        8.. => pick_by::<8>(accumulators, sizes, out),
        4.. => pick_by::<4>(accumulators, sizes, out),
        2.. => pick_by::<2>(accumulators, sizes, out),
        _ => pick_by::<1>(accumulators, sizes, out),
    }
}

/// Likewise, so many bytes at a time of rows that are at least as long; the last ones overlap those before.
fn pick_by<const BYTES: usize>(accumulators: &[u8], [row, block]: [usize; 2], out: &mut [u8]) {
    for (out, from) in out.chunks_exact_mut(row).zip(accumulators.chunks_exact(block)) {
        for at in (0..row).step_by(BYTES) {
            let at = at.min(row - BYTES);
            out[at..][..BYTES].copy_from_slice(&from[at..][..BYTES]);
        }
    }
}
