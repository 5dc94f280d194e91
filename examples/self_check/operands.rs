//! Matrix products whose operands are long, repeated, sliced or reshaped. On some systems MPSGraph has computed them
//! wrongly.

use burn::tensor::{DType, Tensor};
use test_support::Outcome;

use crate::agreement::{EXACT, Tolerance, close_floats, unit, within};
use crate::matrix_multiplication::{product, sums, turned};
use crate::table::{Trap, check};
use crate::values::{B, f32s, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("33000 rows, columns, inner elements (wrong before macOS 14.4)", long_extents),
    check("the same of transposed operands, in batches, in f16", long_views),
    check("repeated rows and columns (wrong on macOS 15.0 to 26.3, 27)", repeated),
    check("computed [2, 1, 2, 1, 8] as [4, 8], and back (aborts on macOS 27)", reshaped),
    check("f16 and bf16 [2, 64, 32] as [128, 32], and back (aborts on macOS 27)", reshaped_halves),
    check("f16 and bf16 slices with few rows and columns", few_rows),
    check("slices of a computed tensor, permuted, in a batch", parts),
];

const LONG: usize = 33_000;

fn of(a: [usize; 2], b: [usize; 2], tolerance: Tolerance) -> Outcome {
    let (x, y) = (noise(a[0] * a[1], 1), noise(b[0] * b[1], 2));
    let got = f32s(&x, a).matmul(f32s(&y, b));
    close_floats(&got.into_data(), &[a[0], b[1]], &product(&x, &a, &y, &b), tolerance)
}

fn long_extents() -> Outcome {
    Outcome::of([
        of([LONG, 17], [17, 3], sums(17)),
        of([3, 17], [17, LONG], sums(17)),
        of([17, LONG], [LONG, 3], within(2e-3, 1e-5)),
        of([1, 1], [1, LONG], sums(1)),
    ])
}

fn long_views() -> Outcome {
    let (m, k, n) = (LONG, 9, 4);
    let (x, y) = (noise(m * k, 3), noise(k * n, 4));
    let expected = product(&x, &[m, k], &y, &[k, n]);
    let left = || f32s(&turned(&x, m, k), [k, m]).transpose();
    let right = || f32s(&turned(&y, k, n), [n, k]).transpose();
    let narrow = floats(&x, [m, k], DType::F16).matmul(floats(&y, [k, n], DType::F16));
    // The transpose of the product, whose columns are the long ones.
    let other_way = right().transpose().matmul(left().transpose());
    let batch: Tensor<B, 3> = left().unsqueeze::<3>().expand([2, m, k]);
    let batch = batch.matmul(right().unsqueeze::<3>().expand([2, k, n]));
    let twice = [&expected[..], &expected[..]].concat();
    Outcome::of([
        close_floats(&left().matmul(right()).into_data(), &[m, n], &expected, sums(k)),
        close_floats(&other_way.into_data(), &[n, m], &turned(&expected, m, n), sums(k)),
        close_floats(&batch.into_data(), &[2, m, n], &twice, sums(k)),
        close_floats(&narrow.into_data(), &[m, n], &expected, within(1e-3, 1.0 / 1024.0)),
    ])
}

fn repeated() -> Outcome {
    let (row, other) = (noise(6, 5), noise(6 * 16, 6));
    let rows: Vec<f64> = (0..64 * 6).map(|i| 2.0 * row[i % 6]).collect();
    let expected = product(&rows, &[64, 6], &other, &[6, 16]);
    let computed = || f32s(&row, [1, 6]) * 2.0;
    let by_rows = computed().expand([64, 6]).matmul(f32s(&other, [6, 16]));
    let by_columns = f32s(&other, [6, 16]).transpose().matmul(computed().expand([64, 6]).transpose());
    // A value of 1 everywhere, as the gradient of a sum is.
    let ones = Tensor::<B, 2>::full([64, 1], 1.0, &burn_mpsgraph::MpsGraphDevice);
    let gradient = ones.matmul(f32s(&other[..16], [1, 16]));
    let same: Vec<f64> = (0..64 * 16).map(|i| other[i % 16]).collect();
    Outcome::of([
        close_floats(&by_rows.into_data(), &[64, 16], &expected, sums(6)),
        close_floats(&by_columns.into_data(), &[16, 64], &turned(&expected, 64, 16), sums(6)),
        close_floats(&gradient.into_data(), &[64, 16], &same, EXACT),
    ])
}

fn reshaped() -> Outcome {
    let (x, w) = (noise(32, 7), noise(32, 8));
    let doubled: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    let expected = product(&doubled, &[4, 8], &w, &[8, 4]);
    let product = |computed: Tensor<B, 5>| {
        let got = computed.reshape([4, 8]).matmul(f32s(&w, [8, 4]));
        (got.reshape([2, 1, 2, 1, 4]) + 0.0).into_data()
    };
    let fed = f32s(&doubled, [2, 1, 2, 1, 8]);
    let computed = f32s(&x, [2, 1, 2, 1, 8]) * 2.0;
    Outcome::of([fed, computed].map(|x| close_floats(&product(x), &[2, 1, 2, 1, 4], &expected, sums(8))))
}

fn reshaped_halves() -> Outcome {
    let (x, w) = (noise(2 * 64 * 32, 7), noise(48 * 32, 8));
    let doubled: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    let expected = product(&doubled, &[128, 32], &turned(&w, 48, 32), &[32, 48]);
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let weights = || floats(&w, [48, 32], dtype).transpose();
        let fed = floats(&doubled, [2, 64, 32], dtype);
        let computed = floats(&x, [2, 64, 32], dtype) * 2.0;
        [fed, computed].map(|x| {
            let got = x.reshape([128, 32]).matmul(weights()).reshape([2, 64, 48]) * 1.0;
            close_floats(&got.into_data(), &[2, 64, 48], &expected, within(1e-3, unit(dtype)))
        })
    }))
}

/// The part of `x` with `columns` columns that starts at `row` and `column`.
fn part(x: &[f64], columns: usize, rows: [usize; 2], of: [usize; 2]) -> Vec<f64> {
    (rows[0]..rows[1]).flat_map(|row| x[row * columns..][of[0]..of[1]].to_vec()).collect()
}

fn few_rows() -> Outcome {
    let (x, y) = (noise(20 * 90, 9), noise(90 * 50, 10));
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let relative = unit(dtype);
        [1, 5, 16].map(|rows| {
            let left = floats(&x, [20, 90], dtype) * 1.0;
            let right = floats(&y, [90, 50], dtype) * 1.0;
            let got = left.slice([2..2 + rows, 7..74]).matmul(right.slice([3..70, 1..46]));
            let expected =
                product(&part(&x, 90, [2, 2 + rows], [7, 74]), &[rows, 67], &part(&y, 50, [3, 70], [1, 46]), &[67, 45]);
            close_floats(&got.into_data(), &[rows, 45], &expected, within(1e-3, relative))
        })
    }))
}

fn parts() -> Outcome {
    let (heads, positions, width) = (3, 10, 8);
    let x = noise(positions * 2 * heads * width, 11);
    let both = f32s(&x, [positions, 2 * heads * width]) * 2.0;
    let part_of = |which: usize| -> Tensor<B, 3> {
        let from = which * heads * width;
        both.clone()
            .slice([0..positions, from..from + heads * width])
            .reshape([positions, heads, width])
            .swap_dims(0, 1)
    };
    let element = |which: usize, head: usize, at: usize, i: usize| {
        2.0 * x[at * 2 * heads * width + which * heads * width + head * width + i]
    };
    let values = |which: usize| -> Vec<f64> {
        (0..heads * positions * width)
            .map(|i| element(which, i / (positions * width), i / width % positions, i % width))
            .collect()
    };
    let turned: Vec<f64> = (0..heads)
        .flat_map(|head| {
            let size = positions * width;
            turned(&values(1)[head * size..][..size], positions, width)
        })
        .collect();
    let expected = product(&values(0), &[heads, positions, width], &turned, &[heads, width, positions]);
    let got = part_of(0).matmul(part_of(1).transpose());
    close_floats(&got.into_data(), &[heads, positions, positions], &expected, sums(width))
}
