//! Activation functions far from 0 and at NaN, against their definitions in f64.

use burn::backend::Autodiff;
use burn::tensor::{Tensor, TensorData, activation as act};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Ulps};

use crate::compare::{assert_function, assert_gives};

const INF: f64 = f64::INFINITY;
const POINTS: [f64; 15] =
    [f64::NAN, INF, -INF, -0.0, 0.0, 1e-4, -1e-4, 1.0, -1.0, 6.0, -6.0, 30.0, -30.0, 1000.0, -1000.0];

#[test]
fn relu_keeps_nan() {
    // As Burn's default, a mask; burn-flex makes it 0.
    assert_function("relu", act::relu, |x| if x <= 0.0 { 0.0 } else { x }, &POINTS, Ulps(0));
}

#[test]
fn the_gradient_of_relu_passes_where_the_output_is_nan() {
    // As Burn's default and PyTorch's threshold: 0 where the output is at most 0; burn-flex makes it 0.
    for dtype in test_support::FLOATS {
        let device = Default::default();
        let x = || Tensor::<Autodiff<MpsGraph>, 1>::from_data([f32::NAN, 1.0, -1.0, 0.0], (&device, dtype));
        let found = || {
            let x = x().require_grad();
            x.grad(&(act::relu(x.clone()) * 5.0).backward()).expect("a leaf").into_data()
        };
        let expected = TensorData::from([5.0, 5.0, 0.0, 0.0]).convert_dtype(dtype);
        assert_gives(&format!("gradient of relu {dtype:?}"), &expected, found, Exact);
    }
}

#[test]
fn leaky_relu() {
    assert_function("leaky_relu", |x| act::leaky_relu(x, 0.5), |x| if x < 0.0 { x * 0.5 } else { x }, &POINTS, Exact);
    assert_function("leaky_relu", |x| act::leaky_relu(x, 2.0), |x| if x < 0.0 { x * 2.0 } else { x }, &POINTS, Exact);
}

#[test]
fn sigmoid_does_not_overflow() {
    assert_function("sigmoid", act::sigmoid, |x| 1.0 / (1.0 + (-x).exp()), &POINTS, Ulps(4));
}

#[test]
fn log_sigmoid_loses_nothing_small() {
    let exact = |x: f64| x.min(0.0) - (-x.abs()).exp().ln_1p() + if x.is_nan() { x } else { 0.0 };
    assert_function("log_sigmoid", act::log_sigmoid, exact, &POINTS, Ulps(4));
}

#[test]
fn hard_sigmoid_keeps_nan() {
    assert_function(
        "hard_sigmoid",
        |x| act::hard_sigmoid(x, 0.25, 0.5),
        |x| (x * 0.25 + 0.5).clamp(0.0, 1.0),
        &POINTS,
        Ulps(1),
    );
}

#[test]
fn softmax_of_large_numbers() {
    let x = || {
        Tensor::<MpsGraph, 2>::from_floats([[1e4, 1e4], [-1e4, 1e4], [3e38, -3e38], [88.0, 89.0]], &Default::default())
    };
    let e = 1f64.exp();
    let last = [(1.0 / (1.0 + e)) as f32, (e / (1.0 + e)) as f32];
    let expected = TensorData::from([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0], last]);
    assert_gives("softmax", &expected, || act::softmax(x(), 1).into_data(), Ulps(4));
    let log = last.map(|p| f64::from(p).ln() as f32);
    let expected = TensorData::from([[-std::f32::consts::LN_2; 2], [-2e4, 0.0], [0.0, -INF as f32], log]);
    assert_gives("log_softmax", &expected, || act::log_softmax(x(), 1).into_data(), Ulps(4));
}

#[test]
fn softmax_spreads_nan_along_its_line_only() {
    let nan = f32::NAN;
    let x = || Tensor::<MpsGraph, 2>::from_floats([[1.0, nan], [f32::NEG_INFINITY, 0.0]], &Default::default());
    assert_gives("softmax", &TensorData::from([[nan, nan], [0.0, 1.0]]), || act::softmax(x(), 1).into_data(), Ulps(0));
    let expected = TensorData::from([[nan, nan], [f32::NEG_INFINITY, 0.0]]);
    assert_gives("log_softmax", &expected, || act::log_softmax(x(), 1).into_data(), Ulps(0));
}

#[test]
fn gelu_at_its_ends() {
    // Where 1 + erf(x / sqrt(2)) cancels, no digits are left to compare, so the tail is one point.
    let x = || {
        Tensor::<MpsGraph, 1>::from_floats([f32::NAN, f32::INFINITY, 0.0, -0.0, 1.0, 30.0, -30.0], &Default::default())
    };
    let expected = TensorData::from([f32::NAN, f32::INFINITY, 0.0, 0.0, 0.841_344_8, 30.0, 0.0]);
    assert_gives("gelu", &expected, || act::gelu(x()).into_data(), Ulps(4));
}
