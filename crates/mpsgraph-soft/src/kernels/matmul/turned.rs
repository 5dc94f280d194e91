//! Turns matrices whose columns are consecutive, so that their rows are.
//!
//! `gemm` reads the rows of a right operand where they are. Columns it packs number by number, which for products of
//! 64 rows takes longer than to multiply.

use super::turn;
use crate::kernels::vectorised::{VectorLoop, vectorised};

const SIDE: usize = 16;
type Square = [[f32; SIDE]; SIDE];

/// So many columns of `rows` consecutive elements each, `between` apart, and where their packed rows go.
pub struct Columns<'a> {
    pub from: &'a [f32],
    pub between: usize,
    pub columns: usize,
    pub rows: usize,
    pub to: &'a mut [f32],
}

/// Copies.
pub fn turn(columns: Columns<'_>) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature that the function is compiled for was just detected.
            return unsafe { avx512(columns) };
        }
    }
    vectorised(columns);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(columns: Columns<'_>) {
    turn_all(columns, |square| turn::avx512(square));
}

impl VectorLoop for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        turn_all(self, turn::plain);
    }
}

/// Copies, with a function for the columns of a square as its rows.
#[inline(always)]
fn turn_all(all: Columns<'_>, turned: impl Fn(&Square) -> Square) {
    let Columns { from, between, columns, rows, to } = all;
    // Along the columns first, which are read as they stand.
    for column in (0..columns).step_by(SIDE) {
        let wide = SIDE.min(columns - column);
        for row in (0..rows).step_by(SIDE) {
            let high = SIDE.min(rows - row);
            if [wide, high] == [SIDE; 2] {
                let mut square = [[0.0; SIDE]; SIDE];
                for (at, line) in square.iter_mut().enumerate() {
                    line.copy_from_slice(&from[(column + at) * between + row..][..SIDE]);
                }
                for (at, line) in turned(&square).iter().enumerate() {
                    to[(row + at) * columns + column..][..SIDE].copy_from_slice(line);
                }
                continue;
            }
            for row in row..row + high {
                for column in column..column + wide {
                    to[row * columns + column] = from[column * between + row];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, turn};

    #[test]
    fn whole_squares_and_what_is_left() {
        for (columns, rows, between) in [(16, 16, 16), (48, 32, 40), (50, 37, 41), (3, 70, 70), (17, 1, 1)] {
            let from: Vec<f32> = (0..(columns - 1) * between + rows).map(|at| at as f32).collect();
            let mut to = vec![f32::NAN; columns * rows];
            turn(Columns { from: &from, between, columns, rows, to: &mut to });
            let expected = (0..rows).flat_map(|row| (0..columns).map(move |column| (column * between + row) as f32));
            assert!(to.iter().copied().eq(expected), "{columns} columns of {rows}, {between} apart");
        }
    }
}
