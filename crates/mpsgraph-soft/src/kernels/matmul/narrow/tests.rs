//! Few columns in every layout.

use crate::kernels::matmul::{Matrix, product};

/// A matrix of small integers, whose sums are exact.
struct Numbers {
    elements: Vec<f32>,
    strides: [usize; 2],
}

impl Numbers {
    /// So many rows and columns. The rows are consecutive, or the columns if it is `turned`, with a gap behind each.
    fn new([rows, columns]: [usize; 2], gap: usize, turned: bool, factor: usize) -> Self {
        let strides = if turned { [1, rows + gap] } else { [columns + gap, 1] };
        let count = (rows - 1) * strides[0] + (columns - 1) * strides[1] + 1;
        Self { elements: (0..count).map(|at| (at * factor % 17) as f32 - 8.0).collect(), strides }
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.elements[row * self.strides[0] + column * self.strides[1]]
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix { elements: &self.elements, strides: self.strides }
    }
}

/// The product of two such matrices, in rows of `c_row` elements of which the product begins with `before`, if it is
/// accumulated to.
fn check((m, n, k): (usize, usize, usize), a: &Numbers, b: &Numbers, c_row: usize, before: Option<f32>) {
    let mut c = vec![before.unwrap_or(f32::NAN); (m - 1) * c_row + n];
    product((m, n, k), a.matrix(), b.matrix(), (&mut c, c_row), before.is_some());
    for (at, &got) in c.iter().enumerate() {
        let (row, column) = (at / c_row, at % c_row);
        if column < n {
            let sum = (0..k).map(|at| a.at(row, at) * b.at(at, column)).sum::<f32>();
            let what = format!("({row}, {column}) of {:?} {:?} {:?}", (m, n, k), a.strides, b.strides);
            assert_eq!(got, before.unwrap_or(0.0) + sum, "{what}");
        } else {
            assert!(got.is_nan(), "between rows nothing is written");
        }
    }
}

#[test]
fn few_columns_in_every_layout() {
    for (m, n, k) in [(2, 2, 1), (5, 3, 31), (64, 10, 128), (33, 15, 40), (300, 4, 33), (2100, 7, 50), (40, 10, 5000)] {
        for (gap, a_turned, b_turned) in [0, 3]
            .iter()
            .flat_map(|&gap| [(false, false), (false, true), (true, false), (true, true)].map(|(a, b)| (gap, a, b)))
        {
            let a = Numbers::new([m, k], gap, a_turned, 7);
            let b = Numbers::new([k, n], gap, b_turned, 5);
            check((m, n, k), &a, &b, n, None);
            check((m, n, k), &a, &b, n + 2, None);
            check((m, n, k), &a, &b, n, Some(2.0));
        }
    }
}

#[test]
fn infinite_and_nan_numbers_stay_in_their_rows() {
    let (m, n, k) = (40, 10, 64);
    let mut a = Numbers::new([m, k], 0, false, 7);
    a.elements[5 * k + 63] = f32::INFINITY;
    a.elements[39 * k] = f32::NAN;
    for turned in [false, true] {
        let mut b = Numbers::new([k, n], 0, turned, 1);
        b.elements.fill(1.0);
        let mut c = vec![0.0; m * n];
        product((m, n, k), a.matrix(), b.matrix(), (&mut c, n), false);
        for (row, results) in c.chunks_exact(n).enumerate() {
            match row {
                5 => assert_eq!(results, [f32::INFINITY; 10]),
                39 => assert!(results.iter().all(|x| x.is_nan())),
                _ => assert!(results.iter().all(|x| x.is_finite())),
            }
        }
    }
}
