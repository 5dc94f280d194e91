//! Rows times a single column, where the numbers of a row are consecutive: for each result a sum of products. What
//! `gemm` does around one takes longer than a short sum.

use super::product::Product;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Numbers of a row up to which this is faster.
const MOST: usize = 15;
/// Products that are summed side by side.
const LANES: usize = 8;

impl Product {
    /// Whether short consecutive rows are multiplied by a single column.
    pub(super) fn is_column(&self) -> bool {
        let (_, n, k) = self.extents;
        n == 1 && (2..=MOST).contains(&k) && self.a.1.0 >= k as isize && self.a.1.1 == 1 && self.c.1 == 1
    }

    /// Multiplies them.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_column(self) {
        let Self { extents: (m, _, k), a: (a, (between, _)), b: (b, (step, _)), c: (c, _), accumulate } = self;
        let (mut factors, between) = ([0.0; MOST], between as usize);
        for (at, factor) in factors[..k].iter_mut().enumerate() {
            // SAFETY: an element of the column, for which the caller vouches.
            *factor = unsafe { *b.wrapping_offset(at as isize * step) };
        }
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(a, (m - 1) * between + k) };
        // SAFETY: the caller vouches for so many packed results, apart from both operands.
        let out = unsafe { std::slice::from_raw_parts_mut(c, m) };
        vectorised(ColumnProduct { matrix, between, column: &factors[..k], out, accumulate });
    }
}

/// The rows are `between` apart and as long as the column.
struct ColumnProduct<'a> {
    matrix: &'a [f32],
    between: usize,
    column: &'a [f32],
    out: &'a mut [f32],
    /// Whether the product is added to what is there.
    accumulate: bool,
}

impl VectorLoop for ColumnProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { matrix, between, column, out, accumulate } = self;
        let (factors, last_factors) = column.as_chunks::<LANES>();
        for (at, out) in out.iter_mut().enumerate() {
            let (numbers, last) = matrix[at * between..][..column.len()].as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (numbers, factors) in numbers.iter().zip(factors) {
                for lane in 0..LANES {
                    sums[lane] += numbers[lane] * factors[lane];
                }
            }
            let sums: [f32; 4] = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
            let mut sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
            for (number, factor) in last.iter().zip(last_factors) {
                sum += number * factor;
            }
            *out = if accumulate { *out + sum } else { sum };
        }
    }
}
