//! Products of tiny matrices, of which there are many as a rule: a call of `gemm` for each would take some ten times as
//! long as multiplying them.

use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Rows, columns and inner extent of tiny matrices at most.
pub const MOST: usize = 12;
/// Multiplications that take as long as what is around those of a product.
pub const AROUND: usize = 64;

/// Whether matrices with these extents are tiny.
pub fn are_tiny((m, n, k): (usize, usize, usize)) -> bool {
    [m, n, k].iter().all(|extent| (1..=MOST).contains(extent))
}

/// Products of tiny matrices.
pub struct TinyProducts<'a> {
    /// Rows, columns and inner extent.
    pub extents: (usize, usize, usize),
    /// The operands, and their row and column strides.
    pub a: (&'a [f32], (isize, isize)),
    pub b: (&'a [f32], (isize, isize)),
    /// First elements of the operands of each product.
    pub batch: &'a [(usize, usize)],
    /// The products, packed.
    pub out: &'a mut [f32],
}

impl TinyProducts<'_> {
    /// Multiplies: each result is summed in the order of the inner extent.
    pub fn run(self) {
        vectorised(self);
    }
}

impl VectorLoop for TinyProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.extents.1 {
            1 => self.multiply::<1>(),
            2 => self.multiply::<2>(),
            3 => self.multiply::<3>(),
            4 => self.multiply::<4>(),
            5 => self.multiply::<5>(),
            6 => self.multiply::<6>(),
            7 => self.multiply::<7>(),
            8 => self.multiply::<8>(),
            9 => self.multiply::<9>(),
            10 => self.multiply::<10>(),
            11 => self.multiply::<11>(),
            _ => self.multiply::<MOST>(),
        }
    }
}

impl TinyProducts<'_> {
    /// Products with so many columns.
    #[inline(always)]
    fn multiply<const COLUMNS: usize>(self) {
        let Self { extents: (m, _, k), a: (a, (a_row, a_column)), b: (b, (b_row, b_column)), batch, out } = self;
        let mut rows = [[0.0; COLUMNS]; MOST];
        for (&(a_first, b_first), out) in batch.iter().zip(out.chunks_exact_mut(m * COLUMNS)) {
            for (at, row) in rows[..k].iter_mut().enumerate() {
                let first = b_first.wrapping_add_signed(at as isize * b_row);
                for column in 0..COLUMNS {
                    row[column] = b[first.wrapping_add_signed(column as isize * b_column)];
                }
            }
            for (at, out) in out.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
                let first = a_first.wrapping_add_signed(at as isize * a_row);
                let mut sums = [0.0; COLUMNS];
                for (at, row) in rows[..k].iter().enumerate() {
                    let factor = a[first.wrapping_add_signed(at as isize * a_column)];
                    for column in 0..COLUMNS {
                        sums[column] += factor * row[column];
                    }
                }
                *out = sums;
            }
        }
    }
}

#[cfg(test)]
mod tests;
