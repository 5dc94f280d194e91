//! Transposed matrices of f32, copied tile by tile.

use crate::kernels::matmul::Matrix;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Side of a tile.
const SIDE: usize = 8;

/// Copies the `rows` rows of `columns` contiguous elements, a column after another.
pub fn transposed(from: Matrix<'_>, (rows, columns): (usize, usize), to: &mut [f32]) {
    vectorised(Turn { from: from.elements, row: from.strides[0], rows, columns, to, accumulate: false });
}

/// Copies a packed matrix, a column after another, or adds it.
pub fn add_transposed(from: &[f32], (rows, columns): (usize, usize), to: &mut [f32], accumulate: bool) {
    vectorised(Turn { from, row: columns, rows, columns, to, accumulate });
}

struct Turn<'a> {
    from: &'a [f32],
    /// How far rows are apart.
    row: usize,
    rows: usize,
    columns: usize,
    to: &'a mut [f32],
    accumulate: bool,
}

impl VectorLoop for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Turn { from, row, rows, columns, to, accumulate } = self;
        for i in (0..rows).step_by(SIDE) {
            for j in (0..columns).step_by(SIDE) {
                let [high, wide] = [SIDE.min(rows - i), SIDE.min(columns - j)];
                if [high, wide] == [SIDE; 2] {
                    let mut tile = [[0.0; SIDE]; SIDE];
                    for (at, line) in tile.iter_mut().enumerate() {
                        line.copy_from_slice(&from[(i + at) * row + j..][..SIDE]);
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
                        let x = from[i * row + j];
                        let out = &mut to[j * rows + i];
                        *out = if accumulate { *out + x } else { x };
                    }
                }
            }
        }
    }
}
