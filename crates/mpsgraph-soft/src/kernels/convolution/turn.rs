//! Transposed matrices of f32, copied or added tile by tile.

use crate::kernels::matmul::{ColumnsToTurn, Matrix, turn};
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Side of a tile.
const SIDE: usize = 8;

/// Copies the `rows` rows of `columns` contiguous elements, a column after another.
pub fn transposed(from: Matrix<'_>, (rows, columns): (usize, usize), to: &mut [f32]) {
    turn(ColumnsToTurn { from: from.elements, between: from.strides[0], columns: rows, rows: columns, to });
}

/// Copies a packed matrix, a column after another, or adds it.
pub fn add_transposed(from: &[f32], (rows, columns): (usize, usize), to: &mut [f32], accumulate: bool) {
    vectorised(Turn { from, rows, columns, to, accumulate });
}

struct Turn<'a> {
    from: &'a [f32],
    rows: usize,
    columns: usize,
    to: &'a mut [f32],
    accumulate: bool,
}

impl VectorLoop for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Turn { from, rows, columns, to, accumulate } = self;
        for i in (0..rows).step_by(SIDE) {
            for j in (0..columns).step_by(SIDE) {
                let [high, wide] = [SIDE.min(rows - i), SIDE.min(columns - j)];
                if [high, wide] == [SIDE; 2] {
                    let mut tile = [[0.0; SIDE]; SIDE];
                    for (at, line) in tile.iter_mut().enumerate() {
                        line.copy_from_slice(&from[(i + at) * columns + j..][..SIDE]);
                    }
                    let tile: [[f32; SIDE]; SIDE] = std::array::from_fn(|j| std::array::from_fn(|i| tile[i][j]));
                    for (at, line) in tile.iter().enumerate() {
                        let out = &mut to[(j + at) * rows + i..][..SIDE];
                        if accumulate {
                            out.iter_mut().zip(line).for_each(|(out, &x)| *out += x);
                        } else {
                            out.copy_from_slice(line);
                        }
                    }
                    continue;
                }
                for j in j..j + wide {
                    for i in i..i + high {
                        let x = from[i * columns + j];
                        let out = &mut to[j * rows + i];
                        *out = if accumulate { *out + x } else { x };
                    }
                }
            }
        }
    }
}
