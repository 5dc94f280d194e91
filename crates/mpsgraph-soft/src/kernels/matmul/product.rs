//! One product of f32 matrices by `gemm`: on this thread, or in pieces that threads take.

use std::ops::Range;

use super::PARALLEL_PRODUCT;
use crate::kernels::threads;

/// A strided matrix of f32, for [`product`].
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    pub elements: &'a [f32],
    /// How far rows and columns are apart.
    pub strides: [usize; 2],
}

impl Matrix<'_> {
    /// Panics unless the elements of so many rows and columns are there.
    fn require(&self, rows: usize, columns: usize) {
        let last = (rows - 1) * self.strides[0] + (columns - 1) * self.strides[1];
        assert!(last < self.elements.len(), "{rows} x {columns} of {} elements", self.elements.len());
    }
}

/// `c = a * b` on this thread, or `c += a * b` if `accumulate`: (m, k) times (k, n), at least one each, the rows of `c`
/// `c_row` apart.
pub fn product(
    (m, n, k): (usize, usize, usize),
    a: Matrix<'_>,
    b: Matrix<'_>,
    (c, c_row): (&mut [f32], usize),
    accumulate: bool,
) {
    a.require(m, k);
    b.require(k, n);
    Matrix { elements: c, strides: [c_row, 1] }.require(m, n);
    assert!(m == 1 || c_row >= n, "rows of {n} elements, {c_row} apart");
    let source = |x: Matrix<'_>| (x.elements.as_ptr(), (x.strides[0] as isize, x.strides[1] as isize));
    let (a, b, c) = (source(a), source(b), (c.as_mut_ptr(), c_row));
    // SAFETY: all elements are inside of the slices (checked above), of which `c` is borrowed alone.
    unsafe { Product { extents: (m, n, k), a, b, c, accumulate }.run(false) };
}

/// Pieces of a product that is not very large: enough for threads to be late, and few, because `gemm` packs what a
/// piece reads.
const FEW_PIECES: usize = 4;
/// Multiplications of a piece of a very large product.
const LARGE_PIECE: usize = 1 << 27;
/// Rows and columns from which on both operands are read often enough, so that the longer side is cut.
const SIDE: usize = 512;

/// `c = a * b`, or `c += a * b` if `accumulate`: (m, k) times (k, n), each with its row and column strides, the rows of
/// `c` so far apart.
#[derive(Clone, Copy)]
pub(super) struct Product {
    pub extents: (usize, usize, usize),
    pub a: (*const f32, (isize, isize)),
    pub b: (*const f32, (isize, isize)),
    pub c: (*mut f32, usize),
    pub accumulate: bool,
}

// SAFETY: the pointers are only used by `run`, whose caller holds what they point to for as long as it takes.
unsafe impl Sync for Product {}

impl Product {
    /// Multiplies, on several threads if it is `shared`.
    ///
    /// # Safety
    /// All three must be live for the extents, aligned, and `c` apart from both; what is accumulated to is initialised.
    pub unsafe fn run(self, shared: bool) {
        if !shared {
            // SAFETY: the caller's promise.
            return unsafe { self.run_here() };
        }
        let (m, n, _) = self.extents;
        let [rows, columns] = self.piece();
        let across = n.div_ceil(columns);
        threads::for_each(m.div_ceil(rows) * across, 1, &|at| {
            let (row, column) = (at / across * rows, at % across * columns);
            let piece = self.part(row..m.min(row + rows), column..n.min(column + columns));
            // SAFETY: the caller's promise; pieces write disjoint parts of `c`.
            unsafe { piece.run_here() };
        });
    }

    /// Rows and columns of the pieces that threads take. They do not depend on how many threads there are, because the
    /// order of summation may depend on them.
    pub fn piece(&self) -> [usize; 2] {
        let (mut rows, mut columns, k) = self.extents;
        let work = rows * columns * k;
        let mut pieces = (work / PARALLEL_PRODUCT).min(FEW_PIECES).max(work / LARGE_PIECE);
        // `gemm` reads the rows of a right operand where they are, and packs other ones for each piece anew.
        let packs = self.b.1.1 != 1;
        while pieces > 1 {
            let by_rows = if rows.min(columns) >= SIDE { rows >= columns } else { !packs };
            // Multiples of what the inner loops of `gemm` work on.
            if rows > 8 && (by_rows || columns <= 48) {
                rows = rows.div_ceil(2).next_multiple_of(8);
            } else if columns > 48 {
                columns = columns.div_ceil(2).next_multiple_of(48);
            } else {
                break;
            }
            pieces = pieces.div_ceil(2);
        }
        [rows, columns]
    }

    fn part(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (row, column) = (rows.start as isize, columns.start as isize);
        let (a, b, c) = (self.a, self.b, self.c);
        Self {
            extents: (rows.len(), columns.len(), self.extents.2),
            a: (a.0.wrapping_offset(row * a.1.0), a.1),
            b: (b.0.wrapping_offset(column * b.1.1), b.1),
            c: (c.0.wrapping_add(rows.start * c.1 + columns.start), c.1),
            accumulate: self.accumulate,
        }
    }

    /// Multiplies on this thread.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_here(self) {
        let Self { extents: (m, n, k), a: (a, (a_row, a_column)), b: (b, (b_row, b_column)), .. } = self;
        let (c, c_row) = self.c;
        // SAFETY: the caller's promise; `c` is not read unless it is accumulated to.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                c,
                1,
                c_row as isize,
                self.accumulate,
                a,
                a_column,
                a_row,
                b,
                b_column,
                b_row,
                1.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
    }
}
