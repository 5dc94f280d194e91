//! Turns matrices whose columns are consecutive, so that their rows are.
//!
//! `gemm` reads the rows of a right operand where they are. Columns it packs number by number, which for products of
//! 64 rows takes longer than to multiply.

use super::product::{COLUMNS, PART_ELEMENTS, Product, ROWS, TURNED_ROWS};
use super::turn::{self, SIDE, Square, SquareLoop};

/// So many columns of `rows` consecutive elements each, `between` apart, and where their packed rows go.
pub struct ColumnsToTurn<'a> {
    pub from: &'a [f32],
    pub between: usize,
    pub columns: usize,
    pub rows: usize,
    pub to: &'a mut [f32],
}

/// Copies.
pub fn turn(columns: ColumnsToTurn<'_>) {
    turn::run(columns);
}

impl SquareLoop for ColumnsToTurn<'_> {
    #[inline(always)]
    fn run(mut self, turned: impl Fn(&Square) -> Square) {
        // Along the columns first, which are read as they stand. What is left of the columns is turned before the whole
        // squares: a line of it is written as if it had a whole square's columns, into what is written later.
        let whole = self.columns / SIDE * SIDE;
        if whole < self.columns {
            for row in (0..self.rows).step_by(SIDE) {
                self.turn_edge(whole, row, &turned);
            }
        }
        for column in (0..whole).step_by(SIDE) {
            for row in (0..self.rows).step_by(SIDE) {
                if row + SIDE <= self.rows {
                    self.turn_square(column, row, &turned);
                } else {
                    self.turn_edge(column, row, &turned);
                }
            }
        }
    }
}

impl ColumnsToTurn<'_> {
    /// Copies the square that begins here.
    #[inline(always)]
    fn turn_square(&mut self, column: usize, row: usize, turned: impl Fn(&Square) -> Square) {
        let mut square = [[0.0; SIDE]; SIDE];
        for (at, line) in square.iter_mut().enumerate() {
            line.copy_from_slice(&self.from[(column + at) * self.between + row..][..SIDE]);
        }
        for (at, line) in turned(&square).iter().enumerate() {
            self.to[(row + at) * self.columns + column..][..SIDE].copy_from_slice(line);
        }
    }

    /// Copies what is left of a square that begins here. Lines are read whole where there is so much, whatever is in
    /// them behind the columns.
    #[inline(always)]
    fn turn_edge(&mut self, column: usize, row: usize, turned: impl Fn(&Square) -> Square) {
        let (columns, rows) = (SIDE.min(self.columns - column), SIDE.min(self.rows - row));
        let mut square = [[0.0; SIDE]; SIDE];
        for (at, line) in square.iter_mut().enumerate().take(columns) {
            let from = &self.from[(column + at) * self.between + row..];
            match from.first_chunk() {
                Some(whole) => *line = *whole,
                None => copy_rest(&mut line[..rows], from),
            }
        }
        for (at, line) in turned(&square).iter().enumerate().take(rows) {
            let to = &mut self.to[(row + at) * self.columns + column..];
            match to.first_chunk_mut() {
                Some(whole) => *whole = *line,
                None => copy_rest(to, line),
            }
        }
    }
}

/// Copies less than a line: a function, or the compiler would make one loop of copies of any length of it and of whole
/// lines.
#[cold]
#[inline(never)]
fn copy_rest(to: &mut [f32], from: &[f32]) {
    to.copy_from_slice(&from[..to.len()]);
}

impl Product {
    /// Turns some columns of the right operand at a time, and multiplies by them.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the columns of `b` are consecutive, and one behind the other.
    pub(super) unsafe fn run_turned(self) {
        let (m, n, k) = self.extents;
        // For each part `gemm` packs the left operand anew, which takes longer if its columns are consecutive.
        let most = if self.a.1.1 == 1 { PART_ELEMENTS } else { 2 * PART_ELEMENTS };
        let mut memory = ROWS.take();
        for depth in (0..k).step_by(TURNED_ROWS) {
            let rows = TURNED_ROWS.min(k - depth);
            let together = (most / rows / COLUMNS).max(1) * COLUMNS;
            for first in (0..n).step_by(together) {
                let part = self.part(0..m, first..n.min(first + together));
                let (columns, between) = (part.extents.1, part.b.1.1 as usize);
                // SAFETY: all elements of these columns, and what is between them, are inside of the operand, for which
                // the caller vouches.
                let from =
                    unsafe { std::slice::from_raw_parts(part.b.0.wrapping_add(depth), (columns - 1) * between + rows) };
                let [turned] = memory.parts([columns * rows]);
                turn(ColumnsToTurn { from, between, columns, rows, to: turned });
                // SAFETY: the caller's promise, for a part of `a`, of `c` and of the columns.
                unsafe { part.of_rows(depth..depth + rows, turned, (columns as isize, 1)).run_by_gemm() };
            }
        }
        ROWS.set(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnsToTurn, turn};

    #[test]
    fn whole_squares_and_what_is_left() {
        for (columns, rows, between) in [(16, 16, 16), (48, 32, 40), (50, 37, 41), (3, 70, 70), (17, 1, 1)] {
            let from: Vec<f32> = (0..(columns - 1) * between + rows).map(|at| at as f32).collect();
            let mut to = vec![f32::NAN; columns * rows];
            turn(ColumnsToTurn { from: &from, between, columns, rows, to: &mut to });
            let expected = (0..rows).flat_map(|row| (0..columns).map(move |column| (column * between + row) as f32));
            assert!(to.iter().copied().eq(expected), "{columns} columns of {rows}, {between} apart");
        }
    }
}
