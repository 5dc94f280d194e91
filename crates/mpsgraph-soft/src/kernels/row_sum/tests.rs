//! Sums of terms against [`reduce`](super::super::reduce) of the terms in memory, bit by bit.

use super::*;
use crate::ir::DType;
use crate::kernels::reduce::{self, ReduceOp};
use bytemuck::{cast_slice, cast_slice_mut};

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

fn check(terms: Terms, rows: usize, x: &[f32], y: &[f32]) {
    let length = x.len() / rows;
    let table: Vec<f32> = match terms {
        Terms::Products => x.iter().zip(y).map(|(x, y)| x * y).collect(),
        Terms::Deviations => x.iter().enumerate().map(|(at, x)| (x - y[at / length]) * (x - y[at / length])).collect(),
    };
    let (mut wanted, mut got) = (vec![0.0; rows], vec![0.0; rows]);
    let shape = [rows, length];
    reduce::execute(ReduceOp::Sum, DType::F32, (cast_slice(&table), &shape), &[1], cast_slice_mut(&mut wanted));
    RowSum { terms }.execute(x, y, &mut got);
    let bits = |sums: &[f32]| sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got), bits(&wanted), "{terms:?} of {rows} rows of {length}");
}

#[test]
fn the_bits_are_those_of_a_sum_of_stored_terms() {
    for (rows, length) in
        [(1, 1), (7, 2), (5, 31), (3, 32), (9, 100), (2, 4096), (3, 4097), (2, 70_001), (700, 300), (1, 300_000)]
    {
        let (x, y) = (numbers(rows * length, 1), numbers(rows * length, 2));
        check(Terms::Products, rows, &x, &y);
        check(Terms::Deviations, rows, &x, &y[..rows]);
    }
}

#[test]
fn numbers_that_are_none_stay_in_their_row() {
    let mut x = numbers(4 * 50, 3);
    (x[3], x[60], x[110]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let mut out = [0.0; 4];
    RowSum { terms: Terms::Deviations }.execute(&x, &[0.0, 1.0, 2.0, f32::INFINITY], &mut out);
    assert!(out[0].is_nan() && out[1..] == [f32::INFINITY; 3], "{out:?}");
}

/// Accumulators of every 32nd term would be infinite.
#[test]
fn finite_sums_stay_finite() {
    for length in [32, 1000, 9000] {
        let x: Vec<f32> = (0..2 * length).map(|at| [3e38, -3e38][at % 2]).collect();
        check(Terms::Products, 2, &x, &vec![1.0; 2 * length]);
        let mut out = [1.0; 2];
        RowSum { terms: Terms::Products }.execute(&x, &vec![1.0; 2 * length], &mut out);
        assert_eq!(out, [0.0; 2], "{length}");
    }
}
