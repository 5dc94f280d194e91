//! One product of f32 matrices, mostly by `gemm`: on this thread, or in pieces that threads take.
//!
//! [`Product::run`] takes the first of these ways that fits: all on this thread, a few rows on several threads
//! ([`Few`]), cut in depth ([`deep`]), and pieces of rows and columns. On a thread [`Product::run_here`] tries a row
//! ([`row`](super::row)), a column ([`column`](super::column)), one long extent ([`slim`](super::slim)), few columns
//! ([`narrow`](super::narrow)), a right operand that is turned first ([`turned`](super::turned)), and a right operand
//! that is copied part by part. What is left is for [`small`](super::small) or `gemm`.

use std::cell::Cell;
use std::ops::Range;

use super::deep::{self, is_deep};
use super::row::{Elements, Few, FewRows, RowProduct};
use super::scratch::Scratch;
use super::sharing::{PARALLEL_PRODUCT, Sharing, even_part};
use crate::kernels::threads;
use crate::kernels::vectorised::{is_of_amd, vectorised};

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
        assert!(rows > 0 && columns > 0, "{rows} x {columns}");
        let last = (rows - 1) * self.strides[0] + (columns - 1) * self.strides[1];
        assert!(last < self.elements.len(), "{rows} x {columns} of {} elements", self.elements.len());
    }
}

/// `c = a * b` on this thread, or `c += a * b` if `accumulate`: (m, k) times (k, n), at least one each, the rows of `c`
/// `c_row` apart.
pub fn product(
    extents: (usize, usize, usize),
    a: Matrix<'_>,
    b: Matrix<'_>,
    (c, c_row): (&mut [f32], usize),
    accumulate: bool,
) {
    let (m, n, _) = extents;
    Matrix { elements: c, strides: [c_row, 1] }.require(m, n);
    assert!(m == 1 || c_row >= n, "rows of {n} elements, {c_row} apart");
    // SAFETY: so many rows and columns are there (checked above), and `c` is borrowed alone.
    unsafe { product_to(extents, [a, b], (c.as_mut_ptr(), c_row), accumulate) };
}

/// `c = a * b` on this thread, with `k` between the extents of `c`.
pub fn product_of_part(a: Matrix<'_>, b: Matrix<'_>, k: usize, mut c: threads::Columns<'_, f32>) {
    let extents = (c.rows(), c.width(), k);
    // SAFETY: the columns are `c`'s alone, in so many rows.
    unsafe { product_to(extents, [a, b], c.start(), false) };
}

/// [`product`] into rows that begin at `c` and are so far apart.
///
/// # Safety
/// There are so many rows and columns at `c`, initialised and the caller's alone.
unsafe fn product_to(
    (m, n, k): (usize, usize, usize),
    [a, b]: [Matrix<'_>; 2],
    c: (*mut f32, usize),
    accumulate: bool,
) {
    a.require(m, k);
    b.require(k, n);
    let source = |x: Matrix<'_>| (x.elements.as_ptr(), (x.strides[0] as isize, x.strides[1] as isize));
    // SAFETY: `a` and `b` are inside of their slices from the first to the last element (checked above; no stride is
    // negative); for `c` the caller's promise.
    unsafe { Product { extents: (m, n, k), a: source(a), b: source(b), c, accumulate }.run_here() };
}

/// Pieces of a product that is not very large: enough for threads to be late, and few, because `gemm` packs what a
/// piece reads.
pub(super) const FEW_PIECES: usize = 4;
/// Multiplications of a piece of a very large product.
const LARGE_PIECE: usize = 1 << 27;
/// Rows and columns from which on both operands are read often enough, so that the longer side is cut.
const LARGE_SIDE: usize = 512;
/// Elements of a right operand from which on it is cut, unless there are more rows: smaller ones are read by each piece
/// from its thread's own cache.
const SHARED_OPERAND: usize = 1 << 17;
/// Columns of which a piece of a row's product has a multiple.
const ROW_COLUMNS: usize = 64;

/// Results up to this size are sums of products of consecutive numbers, if both operands are such: `gemm` packs nothing
/// for them.
pub(super) const FEW_RESULTS: usize = 256;
/// Elements of a part of an operand that is turned or converted: they stay in the second cache.
pub(super) const PART_ELEMENTS: usize = 1 << 17;
/// Rows of such a part that is turned.
pub(super) const TURNED_ROWS: usize = 2048;
/// Rows up to which `gemm` reads the right operand in place; it copies it for more.
pub const IN_PLACE: usize = 48;
/// Rows from which on it reads it more than twice.
const AGAIN: usize = 12;
/// Elements of a page: rows that are pages apart meet the same few sets of a cache, which soon are full.
const PAGE: isize = 4096 / size_of::<f32>() as isize;
/// Columns and rows of the right operand that are copied at a time: they stay in the first cache.
const COPIED_COLUMNS: usize = 64;
const COPIED_ROWS: usize = 128;
/// Columns that `gemm` works on at a time.
pub(super) const COLUMNS: usize = 48;
/// Pieces have a multiple of so many rows and columns, which suits the inner loops of `gemm`: small enough that pieces
/// are as large as each other.
pub(super) const ROWS_TOGETHER: usize = 8;
pub(super) const COLUMNS_TOGETHER: usize = 16;

thread_local! {
    /// What is turned or copied of an operand or a result, kept so that running allocates nothing.
    pub static ROWS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
    /// The numbers of a few rows, likewise.
    pub static NUMBERS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

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
    /// Multiplies, on threads by `sharing`.
    ///
    /// # Safety
    /// All three must be live for the extents, aligned, and `c` apart from both; what is accumulated to is initialised.
    /// From the first to the last element of `a`, and of `b`, all is initialised and not written meanwhile, also what
    /// lies between rows or columns that are apart: it becomes part of slices. Nobody else touches the elements of `c`.
    pub unsafe fn run(self, sharing: Sharing) {
        let (m, n, _) = self.extents;
        if sharing == Sharing::Whole {
            // SAFETY: the caller's promise.
            return unsafe { self.run_here() };
        }
        if let Some(few) = Few::of(self.extents, self.a.1, self.b.1, self.c.1) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_few(&few) };
        }
        if is_deep(self.extents, self.b.1) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_deep(sharing) };
        }
        if let Some(parts) = deep::parts(self.extents) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_parts(parts, sharing) };
        }
        let [rows, columns] = self.piece();
        let [down, across] = [m.div_ceil(rows), n.div_ceil(columns)];
        let [row_unit, column_unit] = if m.min(n) == 1 { [ROW_COLUMNS; 2] } else { [ROWS_TOGETHER, COLUMNS_TOGETHER] };
        sharing.run(down * across, &|at| {
            let rows = even_part(m, row_unit, (at / across, down));
            let columns = even_part(n, column_unit, (at % across, across));
            // SAFETY: the caller's promise; pieces write disjoint parts of `c`.
            unsafe { self.part(rows, columns).run_here() };
        });
    }

    /// The most rows and columns of a piece that threads take. They do not depend on how many threads there are,
    /// because the order of summation may depend on them.
    pub fn piece(&self) -> [usize; 2] {
        let (mut rows, mut columns, k) = self.extents;
        if rows.min(columns) == 1 {
            let piece = (rows * columns).div_ceil(FEW_PIECES).next_multiple_of(ROW_COLUMNS);
            return [rows.min(piece), columns.min(piece)];
        }
        let work = rows * columns * k;
        // A few rows take as long as reading the right operand.
        let mut pieces = (2 * work / PARALLEL_PRODUCT).max(2).max(k * columns / SHARED_OPERAND);
        pieces = pieces.min(FEW_PIECES).max(work / LARGE_PIECE);
        // The rows of a right operand are read where they are, its columns are turned for each piece anew.
        let turns = self.b.1.1 != 1;
        while pieces > 1 {
            let by_longer = rows.min(columns) >= LARGE_SIDE || k * columns > SHARED_OPERAND;
            let by_rows = if by_longer { rows >= columns } else { !turns };
            if rows > ROWS_TOGETHER && (by_rows || columns <= COLUMNS) {
                rows = rows.div_ceil(2).next_multiple_of(ROWS_TOGETHER);
            } else if columns > COLUMNS {
                columns = columns.div_ceil(2).next_multiple_of(COLUMNS_TOGETHER);
            } else {
                break;
            }
            pieces = pieces.div_ceil(2);
        }
        [rows, columns]
    }

    pub(super) fn part(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
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
    pub unsafe fn run_here(self) {
        // SAFETY: the caller's promise.
        if let Some(row) = unsafe { self.row() } {
            return vectorised(row);
        }
        if self.is_column() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_column() };
        }
        if let Some(slim) = self.slim() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_slim(slim) };
        }
        if let Some(narrow) = self.narrow() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_narrow(narrow) };
        }
        let Self { extents: (m, n, _), a, b, .. } = self;
        let packs_nothing = m == 1 || n == 1 || m * n <= FEW_RESULTS && a.1.1 == 1;
        if b.1.0 == 1 && b.1.1 > 1 && !packs_nothing {
            // SAFETY: the caller's promise.
            return unsafe { self.run_turned() };
        }
        if self.meets_few_sets() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_copied() };
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_by_gemm() };
    }

    /// Whether `gemm` would read the right operand's rows where they are, again and again, though a cache keeps only a
    /// few of them and the next one is slow. On AMD's processors it is not: 16 rows times a matrix of 2048² take 0.7 ms
    /// in place on an EPYC 9004, and 1.0 to 1.2 with copies.
    fn meets_few_sets(&self) -> bool {
        let Self { extents: (m, n, k), b: (_, (row, column)), .. } = *self;
        let is_read_again = (AGAIN..=IN_PLACE).contains(&m) && n >= COLUMNS_TOGETHER && k > COPIED_ROWS;
        is_read_again && column == 1 && row != 0 && row % PAGE == 0 && !is_of_amd()
    }

    /// Copies some rows and columns of the right operand at a time, and multiplies by them.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the rows of `b` are consecutive.
    pub unsafe fn run_copied(self) {
        let (m, n, k) = self.extents;
        let mut memory = ROWS.take();
        for first in (0..n).step_by(COPIED_COLUMNS) {
            let part = self.part(0..m, first..n.min(first + COPIED_COLUMNS));
            let columns = part.extents.1;
            for depth in (0..k).step_by(COPIED_ROWS) {
                let rows = COPIED_ROWS.min(k - depth);
                let [copy] = memory.parts([rows * columns]);
                for (row, copy) in copy.chunks_exact_mut(columns).enumerate() {
                    let from = part.b.0.wrapping_offset((depth + row) as isize * part.b.1.0);
                    // SAFETY: a part of a row of the operand, for which the caller vouches.
                    copy.copy_from_slice(unsafe { std::slice::from_raw_parts(from, columns) });
                }
                // SAFETY: the caller's promise, for a part of `a`, of `c` and of the columns.
                unsafe { part.of_rows(depth..depth + rows, copy, (columns as isize, 1)).run_by_gemm() };
            }
        }
        ROWS.set(memory);
    }

    /// Adds up, behind the rows before, what these rows of the right operand make, of which this is a copy with these
    /// strides.
    pub(super) fn of_rows(&self, rows: Range<usize>, copy: &[f32], strides: (isize, isize)) -> Self {
        let accumulate = self.accumulate || rows.start > 0;
        Self { b: (copy.as_ptr(), strides), accumulate, ..self.of_depth(rows) }
    }

    /// What these rows of the right operand make.
    pub(super) fn of_depth(&self, rows: Range<usize>) -> Self {
        let ((m, n, _), first) = (self.extents, rows.start as isize);
        Self {
            extents: (m, n, rows.len()),
            a: (self.a.0.wrapping_offset(first * self.a.1.1), self.a.1),
            b: (self.b.0.wrapping_offset(first * self.b.1.0), self.b.1),
            ..*self
        }
    }

    /// Multiplies a few rows on several threads.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_few(self, few: &Few) {
        let Few { count, strides, between, columns, .. } = *few;
        let k = self.extents.2;
        let [first, matrix] = few.rows_and_matrix([self.a.0, self.b.0]);
        let mut numbers = NUMBERS.take();
        numbers.clear();
        for row in 0..count {
            let row = first.wrapping_offset(row as isize * strides.0);
            // SAFETY: elements of the operand, which the caller vouches for.
            numbers.extend((0..k).map(|at| unsafe { *row.wrapping_offset(at as isize * strides.1) }));
        }
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(matrix, (k - 1) * between + columns) };
        // SAFETY: the caller vouches for so many packed rows, apart from both operands.
        let out = unsafe { std::slice::from_raw_parts_mut(self.c.0, count * columns) };
        if !self.accumulate {
            out.fill(0.0);
        }
        let product = FewRows { numbers: &numbers, count, matrix: Elements::Full(matrix), between };
        product.run(out, true);
        NUMBERS.set(numbers);
    }

    /// The product as that of a row and a matrix with consecutive rows, if it is one. A column is the row of the
    /// transposed product.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn row<'a>(&self) -> Option<RowProduct<'a>> {
        let Self { extents, a, b, c: (c, c_row), accumulate } = *self;
        let few = Few::of(extents, a.1, b.1, c_row).filter(|few| few.count == 1)?;
        let Few { strides, between, columns, .. } = few;
        let step = usize::try_from(strides.1).ok().filter(|&step| step > 0)?;
        let k = extents.2;
        let [numbers, matrix] = few.rows_and_matrix([a.0, b.0]);
        // SAFETY: from the first to the last element of an operand, which the caller vouches for.
        let operand = |x: *const f32, last: usize| unsafe { std::slice::from_raw_parts(x, last + 1) };
        // SAFETY: the caller vouches for so many elements in a row, apart from both operands.
        let out = unsafe { std::slice::from_raw_parts_mut(c, columns) };
        let (numbers, matrix) = (operand(numbers, (k - 1) * step), operand(matrix, (k - 1) * between + columns - 1));
        Some(RowProduct { numbers, step, matrix, between, out, accumulate })
    }

    /// Multiplies as the matrices are.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_by_gemm(self) {
        if self.is_small() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_small() };
        }
        let (m, n, _) = self.extents;
        let whole = n - n % COLUMNS_TOGETHER;
        if self.b.1.1 == 1 && m <= IN_PLACE && 0 < whole && whole < n {
            // `gemm` would copy all of the right operand if its columns are no whole vectors.
            for columns in [0..whole, whole..n] {
                // SAFETY: the caller's promise, for some of the columns.
                unsafe { self.part(0..m, columns).run_by_gemm() };
            }
            return;
        }
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
