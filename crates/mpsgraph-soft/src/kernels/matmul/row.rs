//! A row times a matrix. The matrix is read once, so the time is that of its way from memory or a cache.
//!
//! Of a matrix in a cache, the sums of some columns stay in registers while all rows are read; [`FewRows`] is for one
//! in memory, or of 16-bit floats. `gemm` adds a row at a time to the result, which it reads and writes once for each,
//! and takes what is no whole vector number by number.

mod dots;
pub(super) mod in_order;

pub use dots::Dots;
pub use in_order::{Elements, FewRows};

use crate::kernels::vectorised::VectorLoop;

/// Columns side by side: half of the registers.
const MANY: usize = 64;
/// The same where registers are twice as wide: longer parts of the matrix's rows are read one behind the other.
const MORE: usize = 128;
/// Fewer columns, and of how many rows each takes sums of its own, so that no addition waits for the one before.
const SOME: usize = 16;
const FEW: usize = 8;
const PARTS: usize = 4;

/// Elements from which on an operand comes from memory for each piece that needs all of it.
const LARGE_OPERAND: usize = 1 << 20;

/// How a product is that of a few rows and a matrix with consecutive rows.
#[derive(Clone, Copy)]
pub struct Few {
    /// Whether the right operand is a column, which is the row of the transposed product.
    is_column: bool,
    pub count: usize,
    /// How far the rows are apart, and the numbers of one.
    pub strides: (isize, isize),
    /// How far the matrix's rows are apart.
    pub between: usize,
    pub columns: usize,
}

impl Few {
    /// (m, k) times (k, n), each with its row and column stride, the rows of the result so far apart, if it is such a
    /// product. More than one row are few if the matrix comes from memory.
    pub fn of((m, n, k): (usize, usize, usize), a: (isize, isize), b: (isize, isize), c_row: usize) -> Option<Self> {
        let (is_column, count, strides, between, columns) = if m == 1 && b.1 == 1 {
            (false, 1, (0, a.1), b.0, n)
        } else if n == 1 && a.0 == 1 && c_row == 1 {
            (true, 1, (0, b.0), a.1, m)
        } else if m <= FewRows::MOST && k * n > LARGE_OPERAND && b.1 == 1 && c_row == n {
            (false, m, a, b.0, n)
        } else {
            return None;
        };
        let between = usize::try_from(between).ok()?;
        (k >= 2 && columns >= FEW).then_some(Self { is_column, count, strides, between, columns })
    }

    /// Of the left and the right operand the one that has the rows, and the matrix.
    pub fn rows_and_matrix<T>(&self, [left, right]: [T; 2]) -> [T; 2] {
        if self.is_column { [right, left] } else { [left, right] }
    }
}

/// The numbers of the row stand `step` apart, those of the matrix's rows side by side, and its rows `between` apart.
pub struct RowProduct<'a> {
    pub numbers: &'a [f32],
    pub step: usize,
    pub matrix: &'a [f32],
    pub between: usize,
    pub out: &'a mut [f32],
    /// Whether the product is added to what is there.
    pub accumulate: bool,
}

impl RowProduct<'_> {
    fn rows(&self) -> usize {
        self.numbers.len().div_ceil(self.step)
    }

    /// The sums of `C` columns from this one on.
    #[inline(always)]
    fn columns<const C: usize, const PARTS: usize>(&self, first: usize) -> [f32; C] {
        let rows = self.rows();
        let together = rows / PARTS * PARTS;
        let mut sums = [[0.0; C]; PARTS];
        for at in (0..together).step_by(PARTS) {
            for (part, sums) in sums.iter_mut().enumerate() {
                self.add(at + part, first, sums);
            }
        }
        let mut total = sums[0];
        for part in &sums[1..] {
            total.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        for at in together..rows {
            self.add(at, first, &mut total);
        }
        total
    }

    /// Adds a row's part of the sums.
    #[inline(always)]
    fn add<const C: usize>(&self, row: usize, first: usize, sums: &mut [f32; C]) {
        let number = self.numbers[row * self.step];
        let row = self.matrix[row * self.between + first..].first_chunk::<C>().expect("rows are as long as the result");
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += number * x;
        }
    }

    /// Makes `C` columns of the result from this one on, of which so many are made already; returns how many are made.
    #[inline(always)]
    fn make<const C: usize, const PARTS: usize>(&mut self, first: usize, made: usize) -> usize {
        let sums = self.columns::<C, PARTS>(first);
        for (out, sum) in self.out[made..first + C].iter_mut().zip(&sums[made - first..]) {
            *out = if self.accumulate { *out + sum } else { *sum };
        }
        first + C
    }

    /// The product, up to so many columns side by side.
    #[inline(always)]
    fn side_by_side<const MOST: usize>(mut self) {
        let (columns, mut made) = (self.out.len(), 0);
        while columns - made >= MOST {
            made = self.make::<MOST, 1>(made, made);
        }
        while columns - made >= MANY {
            made = self.make::<MANY, 1>(made, made);
        }
        while columns - made >= SOME {
            made = self.make::<SOME, PARTS>(made, made);
        }
        while made < columns {
            // Some again, rather than the last ones by themselves.
            made = self.make::<FEW, PARTS>(made.min(columns - FEW), made);
        }
    }
}

impl VectorLoop for RowProduct<'_> {
    type Output = ();
    const WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        self.side_by_side::<MANY>();
    }

    #[inline(always)]
    fn run_wide(self) {
        self.side_by_side::<MORE>();
    }
}
