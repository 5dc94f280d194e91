//! Products of 16-bit floats: operands are converted to f32, multiplied there, and rounded once.
//!
//! A few rows, or a column, are multiplied by the other operand while that is converted ([`FewRows`], [`Dots`]). Of a
//! larger product, the shorter operand is converted first, as all pieces read it; of the longer one, each piece
//! converts a part at a time that stays in the cache; and results are converted as soon as a piece is made.

use super::product::{COLUMNS, FEW_PIECES, PART_ELEMENTS, Product};
use super::row::{Dots, Elements, Few, FewRows};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::elementwise::tile::TileFn;
use crate::kernels::threads;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The shorter operand and the result as f32, kept so that running allocates nothing.
    static WIDE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
    /// A part of the longer operand, likewise.
    static TILE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Rows or columns of a piece that threads take, at most.
const PIECE: usize = 6 * COLUMNS;
/// In multiples of so many a small product has pieces enough.
const FEW_COLUMNS: usize = 16;
/// Of a product with few rows or columns, which the memory bounds, pieces are longer, so that each reads longer runs.
const FEW: usize = 64;
const LONG_PIECE: usize = 21 * COLUMNS;

/// Elements of packed lines that are converted together.
const TOGETHER: usize = 4096;

/// `c = a * b`, (m, k) times (k, n): the operands with their row and column strides, the result packed.
pub(super) struct Widened {
    pub extents: (usize, usize, usize),
    pub a: (*const u16, (isize, isize)),
    pub b: (*const u16, (isize, isize)),
    pub c: *mut u8,
    pub float: HalfFloat,
    /// From the floats to f32, and back.
    pub widen: TileFn,
    pub narrow: TileFn,
}

// SAFETY: the pointers are only used by `run`, whose caller holds what they point to for as long as it takes.
unsafe impl Sync for Widened {}

impl Widened {
    /// Multiplies, on several threads if it is `shared`.
    ///
    /// # Safety
    /// All three must be live for the extents and strides and aligned, and `c` apart from both. `widen` and `narrow`
    /// are functions of one operand, of the floats' type.
    pub unsafe fn run(&self, shared: bool) {
        let (m, n, k) = self.extents;
        if let Some(few) = Few::of(self.extents, self.a.1, self.b.1, n) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_few(&few, shared) };
        }
        if m <= Dots::MOST
            && let (1, Ok(between)) = (self.b.1.0, usize::try_from(self.b.1.1))
        {
            // SAFETY: the caller's promise.
            return unsafe { self.run_dots(self.a, m, (self.b.0, between), shared) };
        }
        if n == 1
            && let (Ok(between), 1) = (usize::try_from(self.a.1.0), self.a.1.1)
        {
            // SAFETY: the caller's promise. The column is the one row of the transposed product.
            return unsafe { self.run_dots((self.b.0, (0, self.b.1.0)), 1, (self.a.0, between), shared) };
        }
        let by_rows = m > n;
        let [long, short] = [m.max(n), m.min(n)];
        let mut wide = WIDE.take();
        wide.resize(wide.len().max(short * k + m * n), 0.0);
        let (whole, rest) = wide.split_at_mut(short * k);
        let c = Results(rest[..m * n].as_mut_ptr());
        let (operand, extents) = if by_rows { (self.b, (k, n)) } else { (self.a, (m, k)) };
        // SAFETY: the caller's promise.
        let whole = Whole(unsafe { self.widened(operand, extents, whole, shared) });
        let most = if short <= FEW { LONG_PIECE } else { PIECE };
        let multiple = if long < FEW_PIECES * COLUMNS { FEW_COLUMNS } else { COLUMNS };
        let piece = if shared { long.div_ceil(FEW_PIECES).next_multiple_of(multiple).min(most) } else { most };
        let run = |at: usize| {
            let lines = at * piece..long.min((at + 1) * piece);
            let (rows, columns) = if by_rows { (lines, 0..n) } else { (0..m, lines) };
            // SAFETY: the caller's promise; pieces have parts of `c` of their own.
            unsafe { self.run_piece(by_rows, [rows, columns], &whole, &c) };
        };
        let pieces = long.div_ceil(piece);
        if shared {
            threads::for_each(pieces, 1, &run)
        } else {
            (0..pieces).for_each(run)
        }
        WIDE.set(wide);
    }

    /// Makes a piece of the result: converts a part of the longer operand at a time, and multiplies by it.
    ///
    /// # Safety
    /// As for [`run`](Self::run). `whole` is the shorter operand, and `c` has room for all results, this piece of which
    /// is the caller's alone.
    unsafe fn run_piece(&self, by_rows: bool, [rows, columns]: [Range<usize>; 2], whole: &Whole, c: &Results) {
        let (_, n, k) = self.extents;
        let lines = if by_rows { rows.len() } else { columns.len() };
        let depth = (PART_ELEMENTS / lines).max(1).min(k);
        let mut tile = TILE.take();
        tile.resize(tile.len().max(lines * depth), 0.0);
        let first = c.0.wrapping_add(rows.start * n + columns.start);
        for start in (0..k).step_by(depth) {
            let deep = depth.min(k - start);
            let ((from, strides), (other, other_strides)) = (if by_rows { self.a } else { self.b }, whole.0);
            let [row, column] = if by_rows { [rows.start, start] } else { [start, columns.start] };
            let from = from.wrapping_offset(row as isize * strides.0 + column as isize * strides.1);
            let extents = if by_rows { (lines, deep) } else { (deep, lines) };
            // SAFETY: a part of an operand, for which the caller vouches.
            let part = unsafe { self.widened((from, strides), extents, &mut tile[..lines * deep], false) };
            let along = if by_rows { other_strides.0 } else { other_strides.1 };
            let other = (other.wrapping_offset(start as isize * along), other_strides);
            let (a, b) = if by_rows { (part, other) } else { (other, part) };
            let extents = (rows.len(), columns.len(), deep);
            // SAFETY: parts of the operands, which are converted, and of the result, which the caller vouches for.
            unsafe { Product { extents, a, b, c: (first, n), accumulate: start > 0 }.run(false) };
        }
        TILE.set(tile);
        // All of its rows follow each other if a piece has all columns.
        let (rows, length) =
            if columns.len() == n { (rows.start..rows.start + 1, rows.len() * n) } else { (rows, columns.len()) };
        for at in rows.map(|row| row * n + columns.start) {
            let (to, from) = (self.c.wrapping_add(at * size_of::<u16>()), c.0.wrapping_add(at).cast_const());
            // SAFETY: elements of a piece at both ends, which no other thread uses; the caller vouches for `c`.
            unsafe { (self.narrow)(to, [from.cast(); 3], length) };
        }
    }

    /// Multiplies a few rows by consecutive rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_few(&self, few: &Few, shared: bool) {
        let Few { count, strides, between, columns, .. } = *few;
        let [first, matrix] = few.rows_and_matrix([self.a.0, self.b.0]);
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(matrix, (self.extents.2 - 1) * between + columns) };
        let multiply = |numbers: &[f32], out: &mut [f32]| {
            out.fill(0.0);
            FewRows { numbers, count, matrix: Elements::Half(self.float, matrix), between }.run(out, shared);
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_rows((first, strides), count, multiply) };
    }

    /// Multiplies `count` rows by consecutive columns, given by the first element and how far they are apart.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_dots(
        &self,
        rows: (*const u16, (isize, isize)),
        count: usize,
        (matrix, between): (*const u16, usize),
        shared: bool,
    ) {
        let (m, n, k) = self.extents;
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(matrix, (m * n / count - 1) * between + k) };
        let multiply = |numbers: &[f32], out: &mut [f32]| {
            Dots { numbers, count, float: self.float, matrix, between }.run(out, shared);
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_rows(rows, count, multiply) };
    }

    /// Converts `count` rows of an operand, lets all results be made of them, and converts those.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_rows(
        &self,
        (first, (apart, along)): (*const u16, (isize, isize)),
        count: usize,
        multiply: impl FnOnce(&[f32], &mut [f32]),
    ) {
        let (m, n, k) = self.extents;
        let mut wide = WIDE.take();
        wide.resize(wide.len().max(count * k + m * n), 0.0);
        let (numbers, rest) = wide.split_at_mut(count * k);
        let out = &mut rest[..m * n];
        for (row, numbers) in numbers.chunks_exact_mut(k).enumerate() {
            // SAFETY: the caller's promise, for a line of an operand.
            unsafe { self.widen_line(&Lines { first, along }, row as isize * apart, numbers) };
        }
        multiply(numbers, out);
        // SAFETY: the caller vouches for so many elements of the result, apart from all others.
        unsafe { (self.narrow)(self.c, [out.as_ptr().cast(); 3], out.len()) };
        WIDE.set(wide);
    }

    /// Fills `wide` with the matrix, and returns it with its strides. It is in the matrix's own order, so that rows are
    /// read in place, also if it is transposed.
    ///
    /// # Safety
    /// The matrix must be live for these rows and columns.
    unsafe fn widened(
        &self,
        (matrix, strides): (*const u16, (isize, isize)),
        (rows, columns): (usize, usize),
        wide: &mut [f32],
        shared: bool,
    ) -> (*const f32, (isize, isize)) {
        let by_column = strides.0.abs() < strides.1.abs();
        let (length, across, along) =
            if by_column { (rows, strides.1, strides.0) } else { (columns, strides.0, strides.1) };
        let matrix = Lines { first: matrix, along };
        let parallel = shared && size_of_val(wide) > threads::PARALLEL_BYTES;
        let is_packed = along == 1 && across == length as isize;
        let (length, across) = if is_packed { (TOGETHER, TOGETHER as isize) } else { (length, across) };
        threads::share(parallel, length, wide, |line, wide| {
            // SAFETY: a line of the matrix, or a part of all of them if they follow each other.
            unsafe { self.widen_line(&matrix, line as isize * across, wide) };
        });
        (wide.as_ptr(), if by_column { (1, rows as isize) } else { (columns as isize, 1) })
    }

    /// Fills `wide` with a line that begins so many elements behind the first.
    ///
    /// # Safety
    /// Its elements must be live.
    unsafe fn widen_line(&self, matrix: &Lines, start: isize, wide: &mut [f32]) {
        let mut buffer = [0u16; 256];
        let along = matrix.along;
        let together = if along == 1 { wide.len() } else { buffer.len() };
        for (part, wide) in wide.chunks_mut(together).enumerate() {
            let from = matrix.first.wrapping_offset(start + (part * together) as isize * along);
            let from = if along == 1 {
                from
            } else {
                for (i, element) in buffer[..wide.len()].iter_mut().enumerate() {
                    // SAFETY: the caller's promise.
                    *element = unsafe { *from.wrapping_offset(i as isize * along) };
                }
                buffer.as_ptr()
            };
            // SAFETY: `wide.len()` elements at both ends, in different memory.
            unsafe { (self.widen)(wide.as_mut_ptr().cast(), [from.cast(); 3], wide.len()) };
        }
    }
}

/// The first element of a matrix, and how far those of a line are apart.
struct Lines {
    first: *const u16,
    along: isize,
}

// SAFETY: only `widened` uses the pointer, whose caller holds what it points to.
unsafe impl Sync for Lines {}

/// The shorter operand as f32, with its strides.
struct Whole((*const f32, (isize, isize)));

// SAFETY: only `run` uses the pointer, while it holds the memory.
unsafe impl Sync for Whole {}

/// Where the results are.
struct Results(*mut f32);

// SAFETY: only `run` uses the pointer, while it holds the memory.
unsafe impl Sync for Results {}
