//! Activation functions.

use burn::tensor::{DType, activation};
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, rounded_to, unit, within};
use crate::table::{Trap, check, note};
use crate::values::{FLOATS, bools, f32s, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("relu keeps NaN; infinities", relu),
    check("sigmoid and log_sigmoid at large arguments", large_arguments),
    check("f16 and bf16 softmax of rows of 4096", long_narrow_rows),
    check("softmax of large numbers", large_rows),
    check("softmax along each dim of rank 5", each_dim),
    check("mask_fill with -inf, then softmax", masked_rows),
    check("log_softmax of rows with -inf", masked_logarithms),
    note("softmax of a row of -inf alone (NaN)", row_of_nothing),
    note("softmax of a row with a NaN (NaN)", row_with_nan),
];

fn relu() -> Outcome {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    Outcome::of(FLOATS.map(|dtype| {
        let got = activation::relu(floats(&[nan, -1.0, 0.0, 2.0, inf, -inf], [6], dtype));
        close_floats(&got.into_data(), &[6], &[nan, 0.0, 0.0, 2.0, inf, 0.0], EXACT)
    }))
}

fn large_arguments() -> Outcome {
    let x = [-1000.0, -100.0, 100.0, 1000.0];
    Outcome::of([
        close_floats(&activation::sigmoid(f32s(&x, [4])).into_data(), &[4], &[0.0, 0.0, 1.0, 1.0], within(1e-6, 0.0)),
        close_floats(&activation::log_sigmoid(f32s(&x, [4])).into_data(), &[4], &[-1000.0, -100.0, 0.0, 0.0], F32),
    ])
}

/// Softmax of each row of `width`.
fn softmax(x: &[f64], width: usize) -> Vec<f64> {
    x.chunks(width)
        .flat_map(|row| {
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let exp: Vec<f64> = row.iter().map(|x| (x - top).exp()).collect();
            let sum: f64 = exp.iter().sum();
            exp.into_iter().map(move |x| x / sum)
        })
        .collect()
}

fn long_narrow_rows() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let x = noise(4 * 4096, 3);
        let expected = softmax(&x, 4096);
        let sums = activation::softmax(floats(&x, [4, 4096], dtype), 1).sum_dim(1);
        let relative = unit(dtype);
        [
            close_floats(
                &activation::softmax(floats(&x, [4, 4096], dtype), 1).into_data(),
                &[4, 4096],
                &expected,
                within(1e-7, relative),
            ),
            close_floats(&sums.into_data(), &[4, 1], &[1.0; 4], within(0.0, relative)),
        ]
    }))
}

fn large_rows() -> Outcome {
    let x = [1000.0, 1001.0, 999.0, -1000.0, -1001.0, -1000.5];
    let expected = softmax(&x, 3);
    let logarithms: Vec<f64> = expected.iter().map(|x| x.ln()).collect();
    Outcome::of([
        close_floats(&activation::softmax(f32s(&x, [2, 3]), 1).into_data(), &[2, 3], &expected, F32),
        close_floats(&activation::log_softmax(f32s(&x, [2, 3]), 1).into_data(), &[2, 3], &logarithms, F32),
    ])
}

fn each_dim() -> Outcome {
    let shape = [2, 3, 4, 3, 5];
    let x: Vec<f64> = noise(360, 4).iter().map(|x| 4.0 * x).collect();
    Outcome::of((0..5).map(|dim| {
        let (outer, inner): (usize, usize) = (shape[..dim].iter().product(), shape[dim + 1..].iter().product());
        let mut expected = vec![0.0; 360];
        for line in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let at = |k: usize| (line.0 * shape[dim] + k) * inner + line.1;
            let values: Vec<f64> = (0..shape[dim]).map(|k| x[at(k)]).collect();
            softmax(&values, shape[dim]).into_iter().enumerate().for_each(|(k, y)| expected[at(k)] = y);
        }
        close_floats(&activation::softmax(f32s(&x, shape), dim).into_data(), &shape, &expected, F32)
    }))
}

/// Rows of four; every second element is hidden, except the first element of the first row.
fn masked() -> (Vec<f64>, Vec<bool>) {
    (noise(12, 5), (0..12).map(|i| i % 2 == 1 || i == 4).collect())
}

fn masked_rows() -> Outcome {
    let (x, mask) = masked();
    let hidden: Vec<f64> = x.iter().zip(&mask).map(|(&x, &m)| if m { f64::NEG_INFINITY } else { x }).collect();
    Outcome::of(FLOATS.map(|dtype| {
        let scores = floats(&x, [3, 4], dtype).mask_fill(bools(&mask, [3, 4]), f64::NEG_INFINITY);
        let got = activation::softmax(scores, 1);
        close_floats(&got.into_data(), &[3, 4], &softmax(&hidden, 4), rounded_to(dtype))
    }))
}

fn masked_logarithms() -> Outcome {
    let (x, mask) = masked();
    let hidden: Vec<f64> = x.iter().zip(&mask).map(|(&x, &m)| if m { f64::NEG_INFINITY } else { x }).collect();
    let expected: Vec<f64> = softmax(&hidden, 4).iter().map(|x| x.ln()).collect();
    let scores = f32s(&x, [3, 4]).mask_fill(bools(&mask, [3, 4]), f64::NEG_INFINITY);
    close_floats(&activation::log_softmax(scores, 1).into_data(), &[3, 4], &expected, F32)
}

fn row_of_nothing() -> Outcome {
    let got = activation::softmax(f32s(&[f64::NEG_INFINITY; 3], [1, 3]), 1);
    close_floats(&got.into_data(), &[1, 3], &[f64::NAN; 3], EXACT)
}

fn row_with_nan() -> Outcome {
    let got = activation::softmax(f32s(&[1.0, f64::NAN, 2.0], [1, 3]), 1);
    close_floats(&got.into_data(), &[1, 3], &[f64::NAN; 3], EXACT)
}
