//! Products with few columns, such as the scores of a classifier's classes, and their gradients.
//!
//! A row of such a result is shorter than a vector of AVX2 or AVX-512. `gemm` works along rows nevertheless, mostly on
//! nothing. Here a vector holds numbers of one result, or results of consecutive rows. Elsewhere vectors are short, and
//! `gemm` does not sum up vectors of numbers.

use super::product::{FEW_RESULTS, Product, ROWS, TURNED_ROWS};
use super::scratch::Scratch;
use super::turn::SIDE;
use super::turned::{ColumnsToTurn, turn};

/// Numbers of a result from which on they are summed up in vectors.
const DEEP: usize = 32;

/// Whether `gemm` uses AVX2 or AVX-512.
fn vectors_are_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// What a vector holds.
#[derive(Clone, Copy)]
pub(super) enum Narrow {
    /// Numbers of a row of the left operand.
    Numbers,
    /// Numbers of a column of the left operand.
    Rows,
}

impl Product {
    /// How a product is worked on whose rows are shorter than a vector; a single row is left to other ways. Beyond that
    /// it does not depend on the number of rows, because threads may share them.
    pub(super) fn narrow(&self) -> Option<Narrow> {
        let Self { extents: (m, n, k), a: (_, a), b: (_, b), c: (_, c_row), accumulate, .. } = *self;
        if m == 1 || !(2..SIDE).contains(&n) || !vectors_are_wide() {
            return None;
        }
        let is_turned_cheaply = [b.0, b.1].contains(&1) && b.0 > 0 && b.1 > 0;
        if a.1 == 1 && is_turned_cheaply && k >= DEEP {
            return Some(Narrow::Numbers);
        }
        (a.0 == 1 && a.1 > 0 && c_row == n && !accumulate).then_some(Narrow::Rows)
    }

    /// Multiplies.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_narrow(self, narrow: Narrow) {
        let mut memory = ROWS.take();
        match narrow {
            // SAFETY: the caller's promise.
            Narrow::Numbers if self.b.1.0 == 1 => unsafe { self.by_numbers() },
            // SAFETY: the caller's promise.
            Narrow::Numbers => unsafe { self.with_turned_columns(&mut memory) },
            // SAFETY: the caller's promise.
            Narrow::Rows => unsafe { self.by_rows(&mut memory) },
        }
        ROWS.set(memory);
    }

    /// Turns the right operand, so that its columns are consecutive, some rows at a time.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn with_turned_columns(self, memory: &mut Scratch) {
        let Self { extents: (_, n, k), b, .. } = self;
        let between = b.1.0 as usize;
        for depth in (0..k).step_by(TURNED_ROWS) {
            let rows = TURNED_ROWS.min(k - depth);
            let [to] = memory.parts([n * rows]);
            // SAFETY: from the first to the last element of these rows, for which the caller vouches.
            let from =
                unsafe { std::slice::from_raw_parts(b.0.wrapping_add(depth * between), (rows - 1) * between + n) };
            turn(ColumnsToTurn { from, between, columns: rows, rows: n, to });
            let part = self.of_rows(depth..depth + rows, to, (1, rows as isize));
            // SAFETY: the caller's promise, for these numbers of each row of `a`.
            unsafe { part.by_numbers() };
        }
    }

    /// So many rows at a time that `gemm` sums up vectors of numbers.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn by_numbers(self) {
        let (m, n, _) = self.extents;
        let together = FEW_RESULTS / n;
        for first in (0..m).step_by(together) {
            // SAFETY: the caller's promise, for some rows.
            unsafe { self.part(first..m.min(first + together), 0..n).run_by_gemm() };
        }
    }

    /// Multiplies the other way round, so that a vector holds results of consecutive rows, and turns those.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn by_rows(self, memory: &mut Scratch) {
        let (m, n, k) = self.extents;
        for first in (0..m).step_by(TURNED_ROWS) {
            let part = self.part(first..m.min(first + TURNED_ROWS), 0..n);
            let rows = part.extents.0;
            let [results] = memory.parts([n * rows]);
            let turned = Self {
                extents: (n, rows, k),
                a: (part.b.0, (part.b.1.1, part.b.1.0)),
                b: (part.a.0, (part.a.1.1, part.a.1.0)),
                c: (results.as_mut_ptr(), rows),
                accumulate: false,
            };
            // SAFETY: the caller's promise for the operands; the results are this function's own.
            unsafe { turned.run_by_gemm() };
            // SAFETY: packed rows of results, for which the caller vouches.
            let to = unsafe { std::slice::from_raw_parts_mut(part.c.0, rows * n) };
            turn(ColumnsToTurn { from: results, between: rows, columns: n, rows, to });
        }
    }
}

#[cfg(test)]
mod tests;
