//! Activation functions.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData, activation};

use crate::agreement::{EXACT, F32, close_floats, rounded_to, within};
use crate::arithmetic::function::erf;
use crate::table::{Check, Outcome, check, note};
use crate::values::{B, FLOATS, bools, f32s, floats, noise};

pub const CHECKS: &[Check] = &[
    check("relu keeps NaN; infinities", relu),
    check("relu, leaky_relu, gelu, sigmoid, silu, softplus and others", pointwise),
    check("sigmoid and log_sigmoid at large arguments", large_arguments),
    check("gradients of relu, sigmoid, gelu, log_sigmoid, also in 16 bits", gradients),
    check("softmax, log_softmax, softmin of rows", rows),
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

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

type Slope = (fn(Tensor<Autodiff<B>, 1>) -> Tensor<Autodiff<B>, 1>, fn(f64) -> f64);

const SLOPES: [Slope; 4] = [
    (activation::relu, |x| if x > 0.0 { 1.0 } else { 0.0 }),
    (activation::sigmoid, |x| sigmoid(x) * sigmoid(-x)),
    (activation::gelu, |x| {
        let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        0.5 * (1.0 + erf(x / std::f64::consts::SQRT_2)) + x * density
    }),
    (activation::log_sigmoid, |x| sigmoid(-x)),
];

fn gradients() -> Outcome {
    let x: Vec<f64> = noise(100, 12).iter().map(|x| 3.0 * x).collect();
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        SLOPES.map(|(function, slope)| {
            let leaf = Tensor::<Autodiff<B>, 1>::from_data(
                TensorData::new(x.clone(), [100]),
                (&burn_mpsgraph::MpsGraphDevice, dtype),
            )
            .require_grad();
            let Some(gradient) = leaf.grad(&function(leaf.clone()).sum().backward()) else {
                return Outcome::fact("a gradient", "none", false);
            };
            let given: Vec<f64> = leaf.to_data().iter::<f64>().collect();
            let expected: Vec<f64> = given.into_iter().map(slope).collect();
            // The gradient of sigmoid comes from its rounded output.
            let relative = 4.0 * rounded_to(dtype).relative;
            close_floats(&gradient.into_data(), &[100], &expected, within(relative, relative))
        })
    }))
}

type Function = (fn(Tensor<B, 1>) -> Tensor<B, 1>, fn(f64) -> f64);

const FUNCTIONS: [Function; 9] = [
    (activation::relu, |x| x.max(0.0)),
    (|x| activation::leaky_relu(x, 0.125), |x| if x < 0.0 { 0.125 * x } else { x }),
    (|x| activation::leaky_relu(x, 2.0), |x| if x < 0.0 { 2.0 * x } else { x }),
    (activation::gelu, |x| x / 2.0 * (1.0 + erf(x / std::f64::consts::SQRT_2))),
    (activation::sigmoid, sigmoid),
    (activation::log_sigmoid, |x| -(-x).exp().ln_1p()),
    (|x| activation::hard_sigmoid(x, 0.25, 0.5), |x| (0.25 * x + 0.5).clamp(0.0, 1.0)),
    (activation::silu, |x| x * sigmoid(x)),
    (|x| activation::softplus(x, 1.0), |x| x.exp().ln_1p()),
];

fn pointwise() -> Outcome {
    let x: Vec<f64> = noise(200, 1).iter().map(|x| 4.0 * x).collect();
    let outcomes = FLOATS.into_iter().flat_map(|dtype| FUNCTIONS.map(|function| (dtype, function)));
    Outcome::of(outcomes.map(|(dtype, (device, reference))| {
        let expected: Vec<f64> = x.iter().copied().map(reference).collect();
        let tolerance = match dtype {
            DType::F32 => within(4e-6, 1e-5),
            // softplus is Burn's own composition, rounded at each step.
            _ => within(4.0 * rounded_to(dtype).relative, 4.0 * rounded_to(dtype).relative),
        };
        close_floats(&device(floats(&x, [200], dtype)).into_data(), &[200], &expected, tolerance)
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

fn rows() -> Outcome {
    let x: Vec<f64> = noise(12 * 37, 2).iter().map(|x| 8.0 * x).collect();
    let negated: Vec<f64> = x.iter().map(|x| -x).collect();
    let expected = softmax(&x, 37);
    let logarithms: Vec<f64> = expected.iter().map(|x| x.ln()).collect();
    let tensor = || f32s(&x, [12, 37]);
    Outcome::of([
        close_floats(&activation::softmax(tensor(), 1).into_data(), &[12, 37], &expected, within(1e-7, 1e-5)),
        close_floats(&activation::log_softmax(tensor(), 1).into_data(), &[12, 37], &logarithms, F32),
        close_floats(
            &activation::softmin(tensor(), 1).into_data(),
            &[12, 37],
            &softmax(&negated, 37),
            within(1e-7, 1e-5),
        ),
    ])
}

fn long_narrow_rows() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let x = noise(4 * 4096, 3);
        let expected = softmax(&x, 4096);
        let sums = activation::softmax(floats(&x, [4, 4096], dtype), 1).sum_dim(1);
        let relative = rounded_to(dtype).relative;
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

/// Rows of four of which every second element is hidden, but for the first row's first.
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
