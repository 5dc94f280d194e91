//! Products of small matrices whose rows are no whole vectors of AVX-512: for the last columns `gemm` copies the right
//! operand, and takes a call of its own. Here the last vectors overlap those before.

use super::product::{COLUMNS_TOGETHER, Product};
use super::slim::reach;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Multiplications up to which this is faster, and columns.
const MOST: usize = 1 << 14;
const MOST_COLUMNS: usize = 64;
/// Columns of a vector, and of the pair of them that is worked on if there are as many.
const LANES: usize = 8;
const WIDE: usize = 2 * LANES;
/// Rows that are worked on together.
const TOGETHER: usize = 4;

impl Product {
    /// Whether the matrices are small, and no row of the right operand is whole vectors.
    pub(super) fn is_small(&self) -> bool {
        let Self { extents: (m, n, k), a: (_, a), b: (_, b), c: (_, c_row), accumulate } = *self;
        let is_forward = a.0 >= 0 && a.1 >= 0 && b.0 >= 0 && b.1 == 1;
        let is_odd = (LANES..MOST_COLUMNS).contains(&n) && !n.is_multiple_of(COLUMNS_TOGETHER);
        is_odd && m > 1 && m * n * k <= MOST && is_forward && c_row == n && !accumulate
    }

    /// Multiplies: each result is summed in the order of the inner extent.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_small(self) {
        let Self { extents: (m, n, k), a, b, c: (c, _), .. } = self;
        // SAFETY: from the first to the last element of an operand, for which the caller vouches.
        let a_elements = unsafe { from_raw_parts(a.0, reach([m, k], a.1)) };
        // SAFETY: likewise.
        let b_elements = unsafe { from_raw_parts(b.0, reach([k, n], b.1)) };
        // SAFETY: the rows of the result follow each other, and are the caller's alone.
        let out = unsafe { from_raw_parts_mut(c, m * n) };
        let (steps, between) = ([a.1.0 as usize, a.1.1 as usize], b.1.0 as usize);
        vectorised(Small { columns: n, depth: k, a: a_elements, steps, b: b_elements, between, out });
    }
}

/// Such a product.
struct Small<'a> {
    columns: usize,
    depth: usize,
    a: &'a [f32],
    /// From a row to the next, and from a column.
    steps: [usize; 2],
    b: &'a [f32],
    /// From a row to the next.
    between: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Small<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let rows = self.out.len() / self.columns;
        let mut row = 0;
        while row + TOGETHER <= rows {
            self.rows::<TOGETHER>(row);
            row += TOGETHER;
        }
        for row in row..rows {
            self.rows::<1>(row);
        }
    }
}

impl Small<'_> {
    /// The results of some rows.
    #[inline(always)]
    fn rows<const ROWS: usize>(&mut self, row: usize) {
        let columns = self.columns;
        let mut at = 0;
        while at < columns {
            if columns - at <= LANES || columns < WIDE {
                self.block::<ROWS, LANES>(row, at.min(columns - LANES));
                at += LANES;
            } else {
                self.block::<ROWS, WIDE>(row, at.min(columns - WIDE));
                at += WIDE;
            }
        }
    }

    /// The results of some rows and columns.
    #[inline(always)]
    fn block<const ROWS: usize, const COLUMNS: usize>(&mut self, row: usize, column: usize) {
        let mut sums = [[0.0; COLUMNS]; ROWS];
        for at in 0..self.depth {
            let Some(numbers) = self.b[at * self.between + column..].first_chunk::<COLUMNS>() else {
                unreachable!("a row has so many columns")
            };
            for (line, sums) in sums.iter_mut().enumerate() {
                let factor = self.a[(row + line) * self.steps[0] + at * self.steps[1]];
                for lane in 0..COLUMNS {
                    sums[lane] += factor * numbers[lane];
                }
            }
        }
        for (line, sums) in sums.iter().enumerate() {
            self.out[(row + line) * self.columns + column..][..COLUMNS].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::matmul::tests::compare;

    #[test]
    fn every_count_of_columns_and_order() {
        for n in 8..64 {
            for (m, k) in [(2, 20), (5, 13), (12, 21), (17, 1)] {
                let rows = [[k, 1], [n, 1]];
                for strides in [rows, [[1, m], rows[1]], [rows[0], [1, k]], [[k + 3, 1], [n + 5, 1]], [[0, 1]; 2]] {
                    compare([m, n, k], strides);
                }
            }
        }
    }
}
