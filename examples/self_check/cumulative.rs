//! Running sums, products and extremes. Apple's scans skip NaN and end the process along axes before the last four.

use burn::tensor::{DType, Tensor};
use test_support::Outcome;

use crate::agreement::{EXACT, close_floats, rounded_to, same_integers};
use crate::matrix_multiplication::sums;
use crate::table::{Trap, check};
use crate::values::{B, FLOATS, exact, f32s, floats, ints, noise, wide_integers, wrapped};

pub const TRAPS: &[Trap] = &[
    check("NaN stays in the rest of a row: sums, products", || {
        after_nan([(Tensor::cumsum, [1.0, 2.0, 3.0]), (Tensor::cumprod, [1.0; 3])])
    }),
    check("NaN stays in the rest of a row: minima, maxima", || {
        after_nan([(Tensor::cummin, [1.0; 3]), (Tensor::cummax, [1.0; 3])])
    }),
    check("minima and maxima of infinities", infinities),
    check("f16 and bf16 sums of 4096 ones", narrow_ones),
    check("f16 products that leave f16 on the way", narrow_products),
    check("i32, i64, u32 sums beyond 2^53 wrap", wide_sums),
    check("i64 minima and maxima beyond 2^53", wide_extremes),
    check("each axis of six (a scan of the first ends the process)", axes_of_six),
    check("rows of 70000, columns of 70000", long),
];

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

type Scan = fn(Tensor<B, 2>, usize) -> Tensor<B, 2>;

/// The scans, each with what it makes of three ones.
fn after_nan(scans: [(Scan, [f64; 3]); 2]) -> Outcome {
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        scans.map(|(scan, ones)| {
            let x = floats(&[1.0, NAN, 1.0, 1.0, 1.0, 1.0, 1.0, NAN], [2, 4], dtype);
            let expected = [1.0, NAN, NAN, NAN, ones[0], ones[1], ones[2], NAN];
            close_floats(&scan(x, 1).into_data(), &[2, 4], &expected, EXACT)
        })
    }))
}

fn infinities() -> Outcome {
    let x = [-INF, -INF, 3.0, -INF, INF, INF, INF, -2.0, INF, -INF];
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&x, [2, 5], dtype);
        let most = [-INF, -INF, 3.0, 3.0, INF, INF, INF, INF, INF, INF];
        let least = [-INF, -INF, -INF, -INF, -INF, INF, INF, -2.0, -2.0, -INF];
        [
            close_floats(&x().cummax(1).into_data(), &[2, 5], &most, EXACT),
            close_floats(&x().cummin(1).into_data(), &[2, 5], &least, EXACT),
        ]
    }))
}

fn narrow_ones() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        // 16 bits count up to 2048 and 256.
        let sums = floats(&[1.0; 4096], [4096], dtype).cumsum(0);
        let last = sums.slice(burn::tensor::s![4095..]);
        close_floats(&last.into_data(), &[1], &[4096.0], EXACT)
    }))
}

fn narrow_products() -> Outcome {
    let x = [1024.0, 512.0, 0.25, 1.0 / 1024.0, 2.0];
    let got = floats(&x, [5], DType::F16).cumprod(0);
    close_floats(&got.into_data(), &[5], &[1024.0, INF, INF, 128.0, 256.0], rounded_to(DType::F16))
}

fn wide_sums() -> Outcome {
    Outcome::of([DType::I32, DType::I64, DType::U32].map(|dtype| {
        let x: Vec<i64> = wide_integers(3 * 50, 1, dtype)
            .into_iter()
            .map(|x| if dtype.is_uint() { x & 0xffff_ffff } else { x })
            .collect();
        let expected: Vec<i128> = x
            .chunks(50)
            .flat_map(|row| {
                row.iter().scan(0i128, |sum, &x| {
                    *sum = wrapped(*sum + i128::from(x), dtype);
                    Some(*sum)
                })
            })
            .collect();
        same_integers(&ints(&x, [3, 50], dtype).cumsum(1).into_data(), &[3, 50], &expected)
    }))
}

fn wide_extremes() -> Outcome {
    let x: Vec<i64> = wide_integers(200, 2, DType::I64).into_iter().map(|x| (x >> 9) + (1 << 53)).collect();
    let scan = |f: fn(i64, i64) -> i64| -> Vec<i64> {
        x.iter()
            .scan(x[0], |best, &x| {
                *best = f(*best, x);
                Some(*best)
            })
            .collect()
    };
    let given = || ints(&x, [200], DType::I64);
    Outcome::of([
        same_integers(&given().cummax(0).into_data(), &[200], &exact(&scan(i64::max))),
        same_integers(&given().cummin(0).into_data(), &[200], &exact(&scan(i64::min))),
    ])
}

/// `f` over the elements along an axis.
fn scanned(x: &[f64], shape: &[usize], axis: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let inner: usize = shape[axis + 1..].iter().product();
    let mut result = x.to_vec();
    for at in 0..x.len() {
        if !(at / inner).is_multiple_of(shape[axis]) {
            result[at] = f(result[at - inner], x[at]);
        }
    }
    result
}

fn axes_of_six() -> Outcome {
    let shape = [3, 2, 2, 3, 2, 3];
    let x = noise(shape.iter().product(), 3);
    Outcome::of((0..6).flat_map(|axis| {
        let given = || f32s(&x, shape);
        [
            close_floats(&given().cumsum(axis).into_data(), &shape, &scanned(&x, &shape, axis, |a, b| a + b), sums(3)),
            close_floats(&given().cummax(axis).into_data(), &shape, &scanned(&x, &shape, axis, f64::max), EXACT),
        ]
    }))
}

fn long() -> Outcome {
    let x = noise(140_000, 4);
    Outcome::of([([2, 70_000], 1), ([70_000, 2], 0)].into_iter().flat_map(|(shape, axis)| {
        let given = || f32s(&x, shape);
        [
            close_floats(
                &given().cumsum(axis).into_data(),
                &shape,
                &scanned(&x, &shape, axis, |a, b| a + b),
                sums(70_000),
            ),
            close_floats(&given().cummin(axis).into_data(), &shape, &scanned(&x, &shape, axis, f64::min), EXACT),
        ]
    }))
}
