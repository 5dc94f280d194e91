//! Products of 16-bit floats: operands are converted to f32, multiplied there, and rounded once.
//!
//! A few rows, or a column, are multiplied by the other operand while that is converted ([`FewRows`], [`Dots`]). Others
//! are made in [`pieces`], and results are converted as soon as a piece is made, or are cut in depth ([`deep`]).

pub(super) mod deep;
mod lines;
pub(super) mod many;
pub(super) mod pieces;

use super::deep::is_deep;
use super::row::{Dots, Elements, Few, FewRows};
use super::scratch::Scratch;
use super::sharing::Sharing;
use crate::kernels::elementwise::tile::TileFn;
pub use lines::Halves;
use std::cell::Cell;

/// Numbers of a row or column below which many are converted at a time.
const SHORT: usize = 16;

thread_local! {
    /// A few rows and the result as f32, kept so that running allocates nothing.
    pub static WIDE: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// `c = a * b`, (m, k) times (k, n), the result packed.
#[derive(Clone, Copy)]
pub(super) struct Widened {
    pub extents: (usize, usize, usize),
    pub a: Halves,
    pub b: Halves,
    pub c: *mut u8,
    /// From f32 to the floats.
    pub narrow: TileFn,
}

// SAFETY: the pointers are only used by `run`, whose caller holds what they point to for as long as it takes.
unsafe impl Sync for Widened {}

impl Widened {
    /// Multiplies, on threads by `sharing`.
    ///
    /// # Safety
    /// All three must be live for the extents and strides and aligned, and `c` apart from both. From the first to the
    /// last element of `a`, and of `b`, all is initialised and not written meanwhile, also what lies between rows or
    /// columns that are apart: it becomes part of slices. Nobody else touches `c`. `narrow` is a function of one
    /// operand, and both operands and it are of the same floats.
    pub unsafe fn run(&self, sharing: Sharing) {
        let shared = sharing == Sharing::Large;
        let (m, n, k) = self.extents;
        let (a, b) = (self.a.matrix, self.b.matrix);
        if let Some(few) = Few::of(self.extents, a.1, b.1, n) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_few(&few, shared) };
        }
        if n == 1
            && k >= SHORT
            && let (Ok(between), 1) = (usize::try_from(a.1.0), a.1.1)
        {
            // The column is the one row of the transposed product, and less to convert first than rows are.
            let row = Halves { matrix: (b.0, (0, b.1.0)), ..self.b };
            // SAFETY: the caller's promise.
            return unsafe { self.run_dots(row, 1, (a.0, between), shared) };
        }
        if m <= Dots::MOST
            && k >= SHORT
            && let (1, Ok(between)) = (b.1.0, usize::try_from(b.1.1))
        {
            // SAFETY: the caller's promise.
            return unsafe { self.run_dots(self.a, m, (b.0, between), shared) };
        }
        if sharing != Sharing::Whole && is_deep(self.extents, b.1) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_deep(sharing) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_pieces(sharing) };
    }

    /// Multiplies a few rows by consecutive rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_few(&self, few: &Few, shared: bool) {
        let Few { count, strides, between, columns, .. } = *few;
        let [first, matrix] = few.rows_and_matrix([self.a.matrix.0, self.b.matrix.0]);
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(matrix, (self.extents.2 - 1) * between + columns) };
        let multiply = |numbers: &[f32], out: &mut [f32]| {
            out.fill(0.0);
            FewRows { numbers, count, matrix: Elements::Half(self.a.float, matrix), between }.run(out, shared);
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_rows(Halves { matrix: (first, strides), ..self.a }, count, multiply) };
    }

    /// Multiplies `count` rows by consecutive columns, given by the first element and how far they are apart.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_dots(&self, rows: Halves, count: usize, (matrix, between): (*const u16, usize), shared: bool) {
        let (m, n, k) = self.extents;
        // SAFETY: from the first to the last element of the operand, which the caller vouches for.
        let matrix = unsafe { std::slice::from_raw_parts(matrix, (m * n / count - 1) * between + k) };
        let multiply = |numbers: &[f32], out: &mut [f32]| {
            Dots { numbers, count, float: self.a.float, matrix, between }.run(out, shared);
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_rows(rows, count, multiply) };
    }

    /// Converts `count` rows of an operand, lets all results be made of them, and converts those.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_rows(&self, rows: Halves, count: usize, multiply: impl FnOnce(&[f32], &mut [f32])) {
        let (m, n, k) = self.extents;
        let mut wide = WIDE.take();
        let [numbers, out] = wide.parts([count * k, m * n]);
        for (row, numbers) in numbers.chunks_exact_mut(k).enumerate() {
            // SAFETY: the caller's promise, for a row of an operand.
            unsafe { rows.from([row, 0]).widen((1, k), numbers, Sharing::Whole) };
        }
        multiply(numbers, out);
        // SAFETY: the caller vouches for so many elements of the result, apart from all others.
        unsafe { (self.narrow)(self.c, [out.as_ptr().cast(); 3], out.len()) };
        WIDE.set(wide);
    }
}
