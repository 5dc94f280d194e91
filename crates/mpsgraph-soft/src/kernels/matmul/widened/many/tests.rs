//! Batches of small products against a triple loop: all layouts, batches that are near and far, 16 bits and f32.

use crate::ir::DType;
use crate::kernels::matmul::tests::{pattern, run};
use crate::kernels::matmul::{MatMul, Operand};
use half::{bf16, f16};

/// Where the matrices of an operand are: the first one, and the strides of batch, rows and columns.
type Place = (usize, [usize; 3]);

fn check(batch: usize, (m, n, k): (usize, usize, usize), a: Place, b: Place) {
    let end = |(first, strides): Place, [rows, columns]: [usize; 2]| {
        first + (batch - 1) * strides[0] + (rows - 1) * strides[1] + (columns - 1) * strides[2] + 1
    };
    let (x, y) = (pattern(end(a, [m, k])), pattern(end(b, [k, n])));
    let operand = |(offset, strides): Place| Operand { offset, strides: strides.map(|step| step as isize).to_vec() };
    let product = |dtype: DType| MatMul::new(dtype, &[batch, m, n], k, &operand(a), &operand(b));
    let at = |(first, strides): Place, [batch, row, column]: [usize; 3]| {
        first + batch * strides[0] + row * strides[1] + column * strides[2]
    };
    let wanted: Vec<f32> = (0..batch * m * n)
        .map(|result| {
            let (batch, i, j) = (result / (m * n), result / n % m, result % n);
            (0..k).map(|l| x[at(a, [batch, i, l])] * y[at(b, [batch, l, j])]).sum()
        })
        .collect();
    assert_eq!(run(&product(DType::F32), &x, &y, batch * m * n), wanted, "{batch} of {m} x {n} x {k}, {a:?} {b:?}");
    macro_rules! halves {
        ($float:ident, $dtype:expr) => {
            let [x, y, wanted] = [&x, &y, &wanted].map(|x| x.iter().map(|&x| $float::from_f32(x)).collect::<Vec<_>>());
            let found = run(&product($dtype), &x, &y, batch * m * n);
            assert_eq!(found, wanted, "{batch} of {m} x {n} x {k}, {a:?} {b:?}");
        };
    }
    halves!(f16, DType::F16);
    halves!(bf16, DType::BF16);
}

#[test]
fn every_layout() {
    for extents @ (m, n, k) in [(1, 1, 64), (1, 1, 9), (3, 4, 5), (12, 12, 12), (1, 30, 32), (30, 1, 33), (20, 50, 40)]
    {
        for batch in [2, 7, 200] {
            for a in [[m * k, k, 1], [m * k, 1, m]] {
                for b in [[k * n, n, 1], [k * n, 1, k]] {
                    check(batch, extents, (0, a), (3, b));
                }
            }
        }
    }
}

#[test]
fn matrices_that_are_shared_or_side_by_side() {
    let (m, n, k) = (4, 6, 10);
    // One left operand for all, and right ones side by side, as the heads of attention are.
    check(50, (m, n, k), (5, [0, k, 1]), (0, [n, 50 * n, 1]));
    check(50, (m, n, k), (0, [k, 50 * k, 1]), (7, [0, 1, k]));
}

#[test]
fn matrices_that_are_far_apart() {
    check(20, (1, 1, 70), (0, [5000, 70, 1]), (1, [3000, 1, 1]));
    check(20, (3, 5, 12), (0, [9000, 12, 1]), (1, [7000, 5, 1]));
}
