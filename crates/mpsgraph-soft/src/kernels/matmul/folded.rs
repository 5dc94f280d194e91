//! A matrix with few multiplications: columns, and rows, that are equal but for signs share theirs.
//!
//! Where two columns differ in signs only, each row needs the sum of their two elements of the vector or the
//! difference, so half of the multiplications go. Sums and differences have columns again, which may be equal but for
//! signs, and so on. Where two rows differ in signs only, both results are made of the same two sums. Matrices of roots
//! of unity become a fast Fourier transform this way; a matrix without such columns stays as it is.
//!
//! What an infinite number is added to and subtracted from may be NaN where the plain product is infinite, and two
//! numbers of more than half the largest one may be infinite together where the plain product is finite.

use std::collections::HashMap;

/// The most rows and the most columns.
pub const MOST: usize = 512;
/// Fewer elements in a column or row cost less than the sum and the difference that would share them.
const WORTH_IT: usize = 3;

/// Sums and differences, a sparse matrix, and sums and differences again. A pair of places `[a, b]` stands for the sum
/// of their elements at `a` and the difference at `b`.
///
/// In `[[1, 1, 1, 1], [1, -1, 1, -1]]` columns 0 and 1 differ in signs only, and so do columns 2 and 3. With the sums
/// `p = x0 + x1` and `r = x2 + x3` and the differences `q = x0 - x1` and `s = x2 - x3`, what `p, q, r, s` are
/// multiplied by is `[[1, 0, 1, 0], [0, 1, 0, 1]]`. There columns 0 and 2 are equal, and 1 and 3: the results are
/// `p + r` and `q + s`. (Columns as short as these stay in fact, see [`WORTH_IT`].)
#[derive(Debug)]
pub struct Folded {
    pub rows: usize,
    pub columns: usize,
    /// Of the vector that is multiplied, in this order.
    pub before: Vec<[u16; 2]>,
    /// Columns and elements of the sparse matrix, row by row.
    pub elements: Vec<(u16, f32)>,
    /// Where each row ends.
    pub ends: Vec<usize>,
    /// Of the product, in this order.
    pub after: Vec<[u16; 2]>,
}

impl Folded {
    /// The row-major matrix, if this takes less time than multiplying by all of it.
    pub fn of(mut matrix: Vec<f32>, [rows, columns]: [usize; 2]) -> Option<Self> {
        if rows.max(columns) > MOST || matrix.iter().any(|element| !element.is_finite()) {
            return None;
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        loop {
            let pairs = [before.len(), after.len()];
            fold(&mut matrix, [columns, 1], [rows, columns], &mut before);
            fold(&mut matrix, [rows, columns], [columns, 1], &mut after);
            if [before.len(), after.len()] == pairs {
                break;
            }
        }
        after.reverse();
        let (mut elements, mut ends) = (Vec::new(), Vec::with_capacity(rows));
        for row in matrix.chunks(columns) {
            let row = row.iter().enumerate().filter(|(_, element)| **element != 0.0);
            elements.extend(row.map(|(column, &element)| (column as u16, element)));
            ends.push(elements.len());
        }
        // A blocked product makes two multiplications and additions in the time of one that is sparse, a sum and a
        // difference take longer than that, and operands are brought into lanes.
        let time = 2 * elements.len() + 3 * (before.len() + after.len()) + 2 * (rows + columns);
        (time < rows * columns).then_some(Self { rows, columns, before, elements, ends, after })
    }
}

/// Makes pairs of lines that are equal but for signs: the first one keeps the elements of equal signs, the other one
/// those of different signs. Lines, and elements of a line, are given by their number and distance.
fn fold(matrix: &mut [f32], [lines, apart]: [usize; 2], [length, step]: [usize; 2], pairs: &mut Vec<[u16; 2]>) {
    let mut alone: HashMap<Vec<u32>, usize> = HashMap::new();
    for line in 0..lines {
        let magnitudes: Vec<u32> = (0..length).map(|at| matrix[line * apart + at * step].abs().to_bits()).collect();
        if magnitudes.iter().filter(|&&bits| bits != 0).count() < WORTH_IT {
            continue;
        }
        let Some(partner) = alone.remove(&magnitudes) else {
            alone.insert(magnitudes, line);
            continue;
        };
        for at in (0..length).map(|at| at * step) {
            let element = matrix[partner * apart + at];
            let moved = if element == matrix[line * apart + at] { partner } else { line };
            matrix[partner * apart + at] = 0.0;
            matrix[line * apart + at] = 0.0;
            matrix[moved * apart + at] = element;
        }
        pairs.push([partner as u16, line as u16]);
    }
}
