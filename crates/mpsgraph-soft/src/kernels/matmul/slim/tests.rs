//! Products with one long extent against a triple loop.

use super::{LANES, MOST};
use crate::ir::DType;
use crate::kernels::matmul::tests::{compare, run};
use crate::kernels::matmul::{MatMul, Operand};

/// Every order of both operands, also apart from what is beside them.
fn orders(extents: [usize; 3]) {
    let [m, n, k] = extents;
    for a in [[k, 1], [1, m], [k + 3, 1], [1, m + 2], [2 * k, 2]] {
        for b in [[n, 1], [1, k], [n + 1, 1], [1, k + 5], [2 * n, 2]] {
            compare(extents, [a, b]);
        }
    }
}

#[test]
fn one_long_extent() {
    for long in [MOST + 1, 15, LANES - 1, LANES, LANES + 1, 2 * LANES + 17, 1000] {
        for (p, q) in [(1, 1), (1, 3), (2, 2), (3, 3), (3, 1), (4, 7), (5, 6), (8, 8)] {
            orders([long, p, q]);
            orders([p, long, q]);
            orders([p, q, long]);
        }
    }
}

#[test]
fn on_all_threads() {
    for extents in [[40_000, 3, 3], [3, 40_000, 3], [8, 8, 40_000]] {
        orders(extents);
    }
}

#[test]
fn infinite_and_nan() {
    let mut a = vec![1.0; 300];
    (a[7], a[200]) = (f32::INFINITY, f32::NAN);
    let b = [1.0; 9];
    let operand = |strides: [isize; 2]| Operand { offset: 0, strides: strides.to_vec() };
    let product = MatMul::new(DType::F32, &[100, 3], 3, &operand([3, 1]), &operand([3, 1]));
    let got = run(&product, &a, &b, 300);
    for (at, got) in got.chunks(3).enumerate() {
        let expected = match at {
            2 => f32::INFINITY,
            66 => f32::NAN,
            _ => 3.0,
        };
        assert!(
            got.iter().all(|x| x.to_bits() == expected.to_bits() || x.is_nan() && expected.is_nan()),
            "{at}: {got:?}"
        );
    }
}
