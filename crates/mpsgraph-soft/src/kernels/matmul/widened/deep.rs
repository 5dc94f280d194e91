//! A product that is cut [in depth](crate::kernels::matmul::deep): each half has sums of its own in f32, and a thread
//! converts no more of the right operand than the half that it multiplies by. Sums are rounded once.

use super::Widened;
use super::pieces::{Cut, next_run};
use crate::kernels::matmul::deep::{halves, rows_of_piece};
use crate::kernels::matmul::scratch::Scratch;
use crate::kernels::matmul::sharing::Sharing;
use crate::kernels::matmul::sums;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// The sums of both halves, kept so that running allocates nothing.
    pub static SUMS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// The sums of a half.
struct Sums(*mut f32);

// SAFETY: pieces write disjoint parts of them.
unsafe impl Sync for Sums {}

impl Widened {
    /// Multiplies by the upper and the lower rows of the right operand, by `sharing`, and adds the sums.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_deep(&self, sharing: Sharing) {
        let (m, n, k) = self.extents;
        let cut = Cut { by_rows: true, lines: m, piece: rows_of_piece(m) };
        let pieces = m.div_ceil(cut.piece);
        let mut memory = SUMS.take();
        let [upper, lower] = memory.parts([m * n, m * n]);
        let sums = [Sums(upper.as_mut_ptr()), Sums(lower.as_mut_ptr())];
        let halves = halves(k).map(|rows| (self.of_depth(rows), next_run()));
        sharing.run(halves.len() * pieces, &|at| {
            let ((half, run), Sums(sums)) = (&halves[at / pieces], &sums[at / pieces]);
            let first = at % pieces * cut.piece;
            let lines = first..m.min(first + cut.piece);
            // SAFETY: so many results are there, which are this piece's alone.
            let results = unsafe { std::slice::from_raw_parts_mut(sums.wrapping_add(first * n), lines.len() * n) };
            // SAFETY: the caller's promise, for some rows of the right operand and as many columns of the left one.
            unsafe { half.with_own(cut, *run, |whole| half.multiply(cut, lines, whole, results)) };
        });
        sums::add(upper, lower);
        // SAFETY: the caller vouches for so many elements of the result, apart from all others.
        unsafe { (self.narrow)(self.c, [upper.as_ptr().cast(); 3], upper.len()) };
        SUMS.set(memory);
    }

    /// What these rows of the right operand make.
    fn of_depth(&self, rows: Range<usize>) -> Self {
        let (m, n, _) = self.extents;
        let (a, b) = (self.a.from([0, rows.start]), self.b.from([rows.start, 0]));
        Self { extents: (m, n, rows.len()), a, b, ..*self }
    }
}
