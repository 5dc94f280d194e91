//! Few columns in every layout.

use crate::kernels::matmul::{Matrix, product};

/// Small integers, whose sums are exact.
fn numbers(count: usize, factor: usize) -> Vec<f32> {
    (0..count).map(|at| (at * factor % 17) as f32 - 8.0).collect()
}

#[test]
fn few_columns_in_every_layout() {
    for (m, n, k) in [(2, 2, 1), (5, 3, 31), (64, 10, 128), (33, 15, 40), (300, 4, 33), (2100, 7, 50), (40, 10, 5000)] {
        for gap in [0, 3] {
            let a = numbers(m.max(k) * (m.min(k) + gap), 7);
            let b = numbers(n.max(k) * (n.min(k) + gap), 5);
            let layouts = [[m, k], [k, n]].map(|[rows, columns]| [[columns + gap, 1], [1, rows + gap]]);
            for (a_strides, b_strides) in [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| (layouts[0][a], layouts[1][b]))
            {
                let need = |extents: [usize; 2], strides: [usize; 2]| {
                    extents.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum::<usize>() + 1
                };
                let (a, b) = (
                    a.iter().cycle().copied().take(need([m, k], a_strides)).collect::<Vec<_>>(),
                    b.iter().cycle().copied().take(need([k, n], b_strides)).collect::<Vec<_>>(),
                );
                for (accumulate, c_row) in [(false, n), (false, n + 2), (true, n)] {
                    let mut c = vec![if accumulate { 2.0 } else { f32::NAN }; (m - 1) * c_row + n];
                    let [left, right] =
                        [(&a, a_strides), (&b, b_strides)].map(|(elements, strides)| Matrix { elements, strides });
                    product((m, n, k), left, right, (&mut c, c_row), accumulate);
                    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                        let term = |at: usize| {
                            a[row * a_strides[0] + at * a_strides[1]] * b[at * b_strides[0] + column * b_strides[1]]
                        };
                        let before = if accumulate { 2.0 } else { 0.0 };
                        let expected = before + (0..k).map(term).sum::<f32>();
                        assert_eq!(c[row * c_row + column], expected, "{m} {n} {k} {a_strides:?} {b_strides:?}");
                    }
                    let between = |at: &usize| at % c_row >= n;
                    assert!((0..c.len()).filter(between).all(|at| c[at].is_nan()), "between rows nothing is written");
                }
            }
        }
    }
}

#[test]
fn infinite_and_nan_numbers_stay_in_their_rows() {
    let (m, n, k) = (40, 10, 64);
    let mut a = numbers(m * k, 7);
    a[5 * k + 63] = f32::INFINITY;
    a[39 * k] = f32::NAN;
    let b = vec![1.0; k * n];
    for strides in [[n, 1], [1, k]] {
        let mut c = vec![0.0; m * n];
        let (a, b) = (Matrix { elements: &a, strides: [k, 1] }, Matrix { elements: &b, strides });
        product((m, n, k), a, b, (&mut c, n), false);
        for (row, results) in c.chunks_exact(n).enumerate() {
            match row {
                5 => assert_eq!(results, [f32::INFINITY; 10]),
                39 => assert!(results.iter().all(|x| x.is_nan())),
                _ => assert!(results.iter().all(|x| x.is_finite())),
            }
        }
    }
}
