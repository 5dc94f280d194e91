//! Products that are cut in depth: a few rows times a much deeper right operand that fits into the second cache, and
//! products of few results.
//!
//! Mostly the right operand of a few rows is a weight. The optimizer has updated its upper rows on one thread and its
//! lower ones on another, as their gradients were made, so a thread that multiplies by all of them fetches half from
//! another core. Where the cores have no cache together, this takes as long as to multiply. What is fetched here
//! instead, the sums that the lower rows make, is less: a step of 784-128-10 with a batch of 64 takes 0.12 ms then, not
//! 0.15.
//!
//! Of few results there are no rows and columns to cut.

use super::product::{COLUMNS_TOGETHER, FEW_RESULTS, Product, ROWS_TOGETHER};
use super::scratch::Scratch;
use super::sharing::{Sharing, even_part};
use super::sums;
use std::cell::Cell;
use std::ops::{Range, RangeInclusive};

/// How many times as deep as the left operand has rows. The sums of shallower ones are too many to be fetched.
const DEEPER: usize = 8;
/// Elements of the right operand: as many as are worth it, and as stay in the second cache.
const ELEMENTS: RangeInclusive<usize> = 1 << 15..=1 << 18;

/// Least depth of a part of few results, and the most parts.
const PART: usize = 1 << 12;
const PARTS: usize = 8;
/// Numbers of two cache lines, which some cores fetch together: what threads write is as far apart.
const LINES: usize = 32;

thread_local! {
    /// The sums that parts of the depth make, kept so that running allocates nothing.
    pub static SUMS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// Whether a product that threads may share is one to be cut in depth: of (m, k) times (k, n), and the strides of the
/// right operand. Nothing else decides, because the order of summation depends on it.
pub(super) fn is_deep((m, n, k): (usize, usize, usize), (_, column): (isize, isize)) -> bool {
    let is_deeper = k >= m * DEEPER && k >= n;
    m > 1 && n >= COLUMNS_TOGETHER && is_deeper && ELEMENTS.contains(&(k * n)) && column == 1
}

/// How many parts of the depth the results of such extents are sums of, if they are few and the depth is long. Nothing
/// else decides, as above.
pub(super) fn parts((m, n, k): (usize, usize, usize)) -> Option<usize> {
    (m * n <= FEW_RESULTS && k >= 2 * PART).then(|| (k / PART).min(PARTS))
}

/// The upper and the lower rows of an operand of this depth.
pub(super) fn halves(depth: usize) -> [Range<usize>; 2] {
    [0..depth / 2, depth / 2..depth]
}

/// How many of so many rows of the left operand a piece of a half has.
pub(super) fn rows_of_piece(rows: usize) -> usize {
    rows.div_ceil(2).next_multiple_of(ROWS_TOGETHER).min(rows)
}

impl Product {
    /// Multiplies by the upper and the lower rows of the right operand, by `sharing`, and adds the sums.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_deep(self, sharing: Sharing) {
        let (m, n, k) = self.extents;
        let mut memory = SUMS.take();
        let [lower_sums] = memory.parts([m * n]);
        let [upper, lower] = halves(k).map(|rows| self.of_depth(rows));
        let halves = [upper, Self { c: (lower_sums.as_mut_ptr(), n), accumulate: false, ..lower }];
        let rows = rows_of_piece(m);
        let pieces = m.div_ceil(rows);
        sharing.run(halves.len() * pieces, &|at| {
            let first = at % pieces * rows;
            // SAFETY: the caller's promise, and `lower_sums` is as large as `c` and this thread's alone; pieces write
            // disjoint parts of either.
            unsafe { halves[at / pieces].part(first..m.min(first + rows), 0..n).run_here() };
        });
        for (row, lower) in lower_sums.chunks_exact(n).enumerate() {
            // SAFETY: a row of `c`, which the pieces have written, and nobody else uses (the caller).
            let to = unsafe { std::slice::from_raw_parts_mut(self.c.0.wrapping_add(row * self.c.1), n) };
            sums::add(to, lower);
        }
        SUMS.set(memory);
    }

    /// Multiplies so many parts of the depth, by `sharing`, and adds the sums.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_parts(self, parts: usize, sharing: Sharing) {
        let (m, n, k) = self.extents;
        let mut memory = SUMS.take();
        let apart = (m * n).next_multiple_of(LINES);
        let [sums] = memory.parts([parts * apart]);
        let whole = Self { c: (sums.as_mut_ptr(), n), accumulate: false, ..self };
        sharing.run(parts, &|at| {
            let to = whole.c.0.wrapping_add(at * apart);
            let part = Self { c: (to, n), ..whole.of_depth(even_part(k, LINES, (at, parts))) };
            // SAFETY: the caller's promise for the operands; each part has sums of its own.
            unsafe { part.run_here() };
        });
        for (at, part) in sums.chunks_exact(apart).enumerate() {
            for (row, sums) in part[..m * n].chunks_exact(n).enumerate() {
                // SAFETY: a row of `c`, which nobody else uses (the caller).
                let to = unsafe { std::slice::from_raw_parts_mut(self.c.0.wrapping_add(row * self.c.1), n) };
                if at == 0 && !self.accumulate { to.copy_from_slice(sums) } else { sums::add(to, sums) }
            }
        }
        SUMS.set(memory);
    }
}

#[cfg(test)]
mod tests;
