//! Batches of tiny products against a triple loop.

use super::MOST;
use crate::ir::DType;
use crate::kernels::matmul::tests::{pattern, run};
use crate::kernels::matmul::{MatMul, Operand};

/// Multiplies `batch` matrices by as many, each operand with these strides, and compares every result.
fn compare(batch: usize, [m, n, k]: [usize; 3], [a_strides, b_strides]: [[usize; 3]; 2]) {
    let [a, b] = [pattern(batch * m * k + 1), pattern(batch * k * n + 1)];
    let operand = |strides: [usize; 3]| Operand { offset: 1, strides: strides.map(|s| s as isize).to_vec() };
    let product = MatMul::new(DType::F32, &[batch, m, n], k, &operand(a_strides), &operand(b_strides));
    let got = run(&product, &a, &b, batch * m * n);
    for (at, &got) in got.iter().enumerate() {
        let (of, i, j) = (at / (m * n), at / n % m, at % n);
        let element = |x: &[f32], s: [usize; 3], i: usize, j: usize| x[1 + of * s[0] + i * s[1] + j * s[2]];
        let sum: f32 = (0..k).map(|l| element(&a, a_strides, i, l) * element(&b, b_strides, l, j)).sum();
        assert_eq!(got, sum, "{batch} of {m}x{n}x{k}, strides {a_strides:?} and {b_strides:?}, at {of}, {i}, {j}");
    }
}

#[test]
fn batches_of_every_size_and_order() {
    for m in 1..=MOST {
        for n in 1..=MOST {
            let k = (m * 3 + n) % MOST + 1;
            let rows = [[m * k, k, 1], [k * n, n, 1]];
            let columns = [[m * k, 1, m], [k * n, 1, k]];
            for strides in [rows, columns, [rows[0], columns[1]], [columns[0], rows[1]]] {
                compare(5, [m, n, k], strides);
            }
            // One left matrix for all.
            compare(4, [m, n, k], [[0, k, 1], rows[1]]);
        }
    }
}

#[test]
fn many_on_all_threads() {
    compare(20_001, [3, 3, 3], [[9, 3, 1], [9, 3, 1]]);
    compare(9_999, [4, 1, 4], [[16, 4, 1], [4, 1, 1]]);
}

#[test]
fn backwards_and_not_finite() {
    let a = [1.0, 2.0, 3.0, 4.0, f32::INFINITY, 0.0, 0.0, f32::NAN];
    let b = [1.0, 10.0];
    let lhs = Operand { offset: 7, strides: vec![-4, -2, -1] };
    let rhs = Operand { offset: 0, strides: vec![0, 1, 1] };
    let product = MatMul::new(DType::F32, &[2, 2, 1], 2, &lhs, &rhs);
    let got = run(&product, &a, &b, 4);
    assert!(got[0].is_nan() && got[1] == f32::INFINITY, "{got:?}");
    assert_eq!(got[2..], [34.0, 12.0]);
}
