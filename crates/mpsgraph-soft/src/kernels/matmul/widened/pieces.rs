//! Pieces of a product of 16-bit floats, which threads take.
//!
//! One side of the result is cut, and the operand that belongs to it. What a piece reads of that is converted a part at
//! a time, which stays in the cache. The other operand, which all pieces read, each thread converts for itself, and
//! keeps while it takes pieces of the same product: to convert it takes less time than to fetch from another core what
//! that has just written. Only one that is much larger than the cache is converted once for all threads. For the same
//! reason a piece has memory of its own for its results until they are converted.

use super::Widened;
use super::lines::{Halves, StridedMatrix};
use crate::kernels::matmul::product::{COLUMNS, COLUMNS_TOGETHER, FEW_PIECES, PART_ELEMENTS, Product, ROWS_TOGETHER};
use crate::kernels::matmul::scratch::Scratch;
use crate::kernels::matmul::sharing::{Sharing, even_part};
use crate::kernels::matmul::turned::{ColumnsToTurn, turn};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The operand that is not cut, for all threads.
    pub static WHOLE: Cell<Scratch> = const { Cell::new(Scratch::new()) };
    /// The operand that is not cut, for this thread.
    pub static OWN: Cell<Own> = const { Cell::new(Own { run: 0, numbers: Scratch::new() }) };
    /// A part of the operand that is cut.
    pub static PART: Cell<Scratch> = const { Cell::new(Scratch::new()) };
    /// The results of a piece.
    pub static RESULTS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// What this thread has converted last, and for which run.
#[derive(Default)]
pub struct Own {
    run: u64,
    numbers: Scratch,
}

/// A number for a run, which no other has; none has 0.
pub(super) fn next_run() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(1);
    RUNS.fetch_add(1, Ordering::Relaxed)
}

/// Lines of a piece, at most.
const PIECE: usize = 6 * COLUMNS;
/// Of a product with few rows or columns, which the memory bounds, pieces are longer, so that each reads longer runs.
const FEW: usize = 64;
const LONG_PIECE: usize = 1024;
/// Elements of the operand that is not cut up to which each thread converts it for itself.
const OWN_ELEMENTS: usize = 1 << 20;
/// From so many rows on they are cut even if there are more columns, if the right operand is small: its rows are
/// converted faster than parts of them, and `gemm` works on many columns at a time.
const ROWS: usize = 32;
const SMALL_OPERAND: usize = PART_ELEMENTS / 2;
const FEW_COLUMNS: usize = 128;

/// How a result is cut.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub by_rows: bool,
    /// Lines of the result.
    pub lines: usize,
    /// The most lines of a piece.
    pub piece: usize,
}

impl Cut {
    fn of((m, n, k): (usize, usize, usize), sharing: Sharing) -> Self {
        let by_rows = m >= n || m >= ROWS && (n <= FEW_COLUMNS || n * k <= SMALL_OPERAND);
        let (lines, others, together) = if by_rows { (m, n, ROWS_TOGETHER) } else { (n, m, COLUMNS_TOGETHER) };
        let most = if others <= FEW { LONG_PIECE } else { PIECE };
        let pieces = lines.div_ceil(most);
        // As many for each thread.
        let pieces = match sharing {
            Sharing::Whole => pieces,
            Sharing::Small => pieces.next_multiple_of(2),
            Sharing::Large => pieces.next_multiple_of(FEW_PIECES),
        };
        Self { by_rows, lines, piece: lines.div_ceil(pieces).next_multiple_of(together) }
    }

    fn pieces(&self) -> usize {
        self.lines.div_ceil(self.piece)
    }

    /// The lines of a piece.
    fn part(&self, at: usize) -> Range<usize> {
        even_part(self.lines, if self.by_rows { ROWS_TOGETHER } else { COLUMNS_TOGETHER }, (at, self.pieces()))
    }
}

/// The operand that is not cut as f32, for all threads.
struct Whole(StridedMatrix<f32>);

// SAFETY: only pieces read what it points to, which stays as it is while there are any.
unsafe impl Sync for Whole {}

impl Widened {
    /// Multiplies in pieces, on threads by `sharing`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_pieces(&self, sharing: Sharing) {
        let cut = Cut::of(self.extents, sharing);
        let (operand, extents) = self.uncut(cut);
        let elements = extents.0 * extents.1;
        let mut memory = WHOLE.take();
        let whole = (elements > OWN_ELEMENTS).then(|| {
            let [wide] = memory.parts([elements]);
            // SAFETY: the caller's promise.
            Whole(unsafe { operand.widen(extents, wide, sharing) })
        });
        let run = next_run();
        let piece = |at: usize| {
            let lines = cut.part(at);
            match &whole {
                // SAFETY: the caller's promise; pieces have results of their own.
                Some(whole) => unsafe { self.run_piece(cut, lines, whole.0) },
                // SAFETY: as above.
                None => unsafe { self.with_own(cut, run, |whole| self.run_piece(cut, lines, whole)) },
            }
        };
        sharing.run(cut.pieces(), &piece);
        WHOLE.set(memory.kept());
    }

    /// The operand that all pieces read.
    fn uncut(&self, cut: Cut) -> (Halves, (usize, usize)) {
        let (m, n, k) = self.extents;
        if cut.by_rows { (self.b, (k, n)) } else { (self.a, (m, k)) }
    }

    /// Calls `with` with the operand that all pieces of this run read, as this thread has converted it.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn with_own(&self, cut: Cut, run: u64, with: impl FnOnce(StridedMatrix<f32>)) {
        let mut own = OWN.take();
        // SAFETY: the caller's promise.
        with(unsafe { self.own(cut, &mut own, run) });
        OWN.set(own);
    }

    /// The operand that all pieces read, as this thread has converted it.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn own(&self, cut: Cut, own: &mut Own, run: u64) -> StridedMatrix<f32> {
        let (operand, extents) = self.uncut(cut);
        let (rows, columns) = extents;
        let [wide] = own.numbers.parts([rows * columns]);
        let strides = operand.wide_strides(extents);
        // Else it would be turned for each piece.
        let turns = cut.by_rows && strides.0 == 1 && columns > 1;
        if own.run != run {
            if turns {
                let mut part = PART.take();
                let [from] = part.parts([rows * columns]);
                // SAFETY: the caller's promise.
                unsafe { operand.widen(extents, from, Sharing::Whole) };
                turn(ColumnsToTurn { from, between: rows, columns, rows, to: wide });
                PART.set(part);
            } else {
                // SAFETY: the caller's promise.
                unsafe { operand.widen(extents, wide, Sharing::Whole) };
            }
            own.run = run;
        }
        (wide.as_ptr(), if turns { (columns as isize, 1) } else { strides })
    }

    /// Those of a piece of so many lines.
    fn rows_and_columns(&self, cut: Cut, lines: Range<usize>) -> [Range<usize>; 2] {
        let (m, n, _) = self.extents;
        if cut.by_rows { [lines, 0..n] } else { [0..m, lines] }
    }

    /// Makes a piece of the result.
    ///
    /// # Safety
    /// As for [`run`](Self::run). `whole` is the operand that is not cut, and the piece is the caller's alone.
    unsafe fn run_piece(&self, cut: Cut, lines: Range<usize>, whole: StridedMatrix<f32>) {
        let (_, n, _) = self.extents;
        let [rows, columns] = self.rows_and_columns(cut, lines.clone());
        let [height, width] = [rows.len(), columns.len()];
        let mut memory = RESULTS.take();
        let [results] = memory.parts([height * width]);
        // SAFETY: the caller's promise.
        unsafe { self.multiply(cut, lines, whole, results) };
        // All of its rows follow each other if a piece has all columns.
        let together = if width == n { height * n } else { width };
        for (results, row) in results.chunks(together).zip(rows) {
            let to = self.c.wrapping_add((row * n + columns.start) * size_of::<u16>());
            // SAFETY: elements of a piece at both ends, which no other thread uses; the caller vouches for `c`.
            unsafe { (self.narrow)(to, [results.as_ptr().cast(); 3], results.len()) };
        }
        RESULTS.set(memory.kept());
    }

    /// Fills `results` with those of a piece, packed: converts a part of the operand that is cut at a time, and
    /// multiplies by it.
    ///
    /// # Safety
    /// As for [`run`](Self::run). `whole` is the operand that is not cut.
    pub(super) unsafe fn multiply(
        &self,
        cut: Cut,
        lines: Range<usize>,
        (whole, strides): StridedMatrix<f32>,
        results: &mut [f32],
    ) {
        let (_, _, k) = self.extents;
        let count = lines.len();
        let [rows, columns] = self.rows_and_columns(cut, lines);
        let [height, width] = [rows.len(), columns.len()];
        assert_eq!(results.len(), height * width, "results of a piece");
        let depth = (PART_ELEMENTS / count).clamp(1, k);
        let mut memory = PART.take();
        let [part] = memory.parts([count * depth]);
        for start in (0..k).step_by(depth) {
            let deep = depth.min(k - start);
            let (operand, extents, along) = if cut.by_rows {
                (self.a.from([rows.start, start]), (height, deep), strides.0)
            } else {
                (self.b.from([start, columns.start]), (deep, width), strides.1)
            };
            // SAFETY: a part of an operand, for which the caller vouches.
            let part = unsafe { operand.widen(extents, &mut part[..count * deep], Sharing::Whole) };
            let whole = (whole.wrapping_offset(start as isize * along), strides);
            let (a, b) = if cut.by_rows { (part, whole) } else { (whole, part) };
            let (extents, c) = ((height, width, deep), (results.as_mut_ptr(), width));
            // SAFETY: parts of the operands, which are converted, and results that are this thread's.
            unsafe { Product { extents, a, b, c, accumulate: start > 0 }.run_here() };
        }
        PART.set(memory);
    }
}
