//! Reading by index. MPSGraph's kernels pass integers through f32, which holds them up to 2^24.

use burn::tensor::{DType, Int, Tensor};
use test_support::Outcome;

use crate::agreement::same_integers;
use crate::table::{Trap, check};
use crate::values::{B, choices, coordinates, exact, ints, position, wide_integers};

pub const TRAPS: &[Trap] = &[
    check("select of integers beyond 2^24 (i32, i64, u32)", select_integers),
    check("gather of integers beyond 2^24 (i32, i64)", gather_integers),
    check("gather_nd of integers beyond 2^24 (i64)", gather_nd_integers),
    check("bits of floats survive select: NaN, -0, denormals as i32", select_bits),
    check("select of many rows from a large table", large_table),
    check("i64, u64, u32 indices out of range do not wrap around into it", wide_indices),
];

/// Large numbers whose lowest bits matter.
fn large(count: usize, dtype: DType) -> Vec<i64> {
    if dtype == DType::U32 {
        return wide_integers(count, 1, DType::I32).iter().map(|x| x & i64::from(i32::MAX) | 1).collect();
    }
    wide_integers(count, 1, dtype).iter().map(|x| x | 1).collect()
}

fn select_integers() -> Outcome {
    Outcome::of([DType::I32, DType::I64, DType::U32].into_iter().flat_map(|dtype| {
        let x = large(60, dtype);
        let rows = choices(15, 12, 2);
        let columns = choices(9, 5, 3);
        let tensor = || ints(&x, [12, 5], dtype);
        let indices = |at: &[usize], dtype| -> Tensor<B, 1, Int> {
            ints(&at.iter().map(|&i| i as i64).collect::<Vec<_>>(), [at.len()], dtype)
        };
        let by_row: Vec<i64> =
            rows.iter().flat_map(|&r| (0..5).map(move |c| (r, c))).map(|(r, c)| x[r * 5 + c]).collect();
        let by_column: Vec<i64> =
            (0..12).flat_map(|r| columns.iter().map(move |&c| (r, c))).map(|(r, c)| x[r * 5 + c]).collect();
        [
            same_integers(&tensor().select(0, indices(&rows, DType::I32)).into_data(), &[15, 5], &exact(&by_row)),
            same_integers(&tensor().select(1, indices(&columns, DType::I64)).into_data(), &[12, 9], &exact(&by_column)),
        ]
    }))
}

fn gather_along<const D: usize>(
    x: &[i64],
    shape: [usize; D],
    dim: usize,
    count: usize,
    dtype: DType,
    by: DType,
) -> Outcome {
    let mut target = shape;
    target[dim] = count;
    let at = choices(target.iter().product(), shape[dim], dim as u64);
    let expected: Vec<i64> = coordinates(&target)
        .into_iter()
        .zip(&at)
        .map(|(mut coordinate, &index)| {
            coordinate[dim] = index;
            x[position(&shape, &coordinate)]
        })
        .collect();
    let indices = ints(&at.iter().map(|&i| i as i64).collect::<Vec<_>>(), target, by);
    same_integers(&ints(x, shape, dtype).gather(dim, indices).into_data(), &target, &exact(&expected))
}

fn gather_integers() -> Outcome {
    Outcome::of([DType::I32, DType::I64].into_iter().flat_map(|dtype| {
        let x = large(120, dtype);
        (0..3).map(move |dim| gather_along(&x, [4, 5, 6], dim, 7, dtype, DType::I32))
    }))
}

fn gather_nd_integers() -> Outcome {
    let x = large(60, DType::I64);
    let at = [[1, 2], [0, 0], [3, 4], [1, 2]];
    let expected: Vec<i64> =
        at.iter().flat_map(|&[r, c]| (0..3).map(move |k| (r * 5 + c) * 3 + k)).map(|i: i64| x[i as usize]).collect();
    let indices = ints::<2>(&at.concat(), [4, 2], DType::I32);
    let got: Tensor<B, 2, Int> = ints(&x, [4, 5, 3], DType::I64).gather_nd(indices);
    same_integers(&got.into_data(), &[4, 3], &exact(&expected))
}

/// As f32 these are NaNs, a denormal, -0 and an infinity.
fn select_bits() -> Outcome {
    let x = [0x7fc0_1234, 0x7f80_0001, 1, i64::from(i32::MIN), 0x7f80_0000, -1, 0x007f_ffff];
    let indices = ints(&[6, 5, 4, 3, 2, 1, 0], [7], DType::I32);
    let got = ints(&x, [7, 1], DType::I32).select(0, indices);
    let expected: Vec<i64> = x.iter().rev().copied().collect();
    same_integers(&got.into_data(), &[7, 1], &exact(&expected))
}

fn large_table() -> Outcome {
    let rows = 100_000;
    let at = choices(5000, rows, 7);
    let table: Vec<i64> = (0..rows as i64 * 4).map(|i| i + (1 << 25)).collect();
    let expected: Vec<i128> =
        at.iter().flat_map(|&row| (0..4).map(move |k| (row * 4 + k) as i128 + (1 << 25))).collect();
    let indices = ints(&at.iter().map(|&i| i as i64).collect::<Vec<_>>(), [5000], DType::I32);
    same_integers(&ints(&table, [rows, 4], DType::I32).select(0, indices).into_data(), &[5000, 4], &expected)
}

/// `gather` reads 0 there and `select` the nearest row.
fn wide_indices() -> Outcome {
    let x = [10, 20, 30];
    let beyond = 1i64 << 32;
    Outcome::of(
        [
            (DType::I64, [beyond + 1, 1 - beyond, 1], [30, 10, 20]),
            (DType::U64, [beyond + 1, i64::MAX, 1], [30, 30, 20]),
            (DType::U32, [beyond - 1, 1 << 31, 1], [30, 30, 20]),
        ]
        .into_iter()
        .flat_map(|(dtype, at, nearest)| {
            let (data, at) = (ints(&x, [3], DType::I32), ints(&at, [3], dtype));
            [
                same_integers(&data.clone().select(0, at.clone()).into_data(), &[3], &nearest),
                same_integers(&data.gather(0, at).into_data(), &[3], &[0, 0, 20]),
            ]
        }),
    )
}
