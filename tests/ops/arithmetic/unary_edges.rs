//! Functions of one float against f64, where precision is hardest or burn-flex is off.

use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Ulps};

use crate::compare::{assert_function, assert_gives};

const INF: f64 = f64::INFINITY;

#[test]
fn atanh_near_one() {
    // burn-flex computes `0.5 * ln((1 + x) / (1 - x))` in f32, whose sum rounds.
    let points = [0.0, -0.0, 1e-3, -1e-3, 0.9, 0.999, -0.999, 0.9999999, 1.0, -1.0, 1.5, f64::NAN];
    assert_function("atanh", Tensor::atanh, f64::atanh, &points, Ulps(4));
}

#[test]
fn log1p_of_small_numbers() {
    let points = [0.0, -0.0, 1e-7, -1e-7, 1e-5, -1e-5, 0.5, -0.5, -0.999, -1.0, -2.0, 1e4, INF, f64::NAN];
    assert_function("log1p", Tensor::log1p, f64::ln_1p, &points, Ulps(4));
}

#[test]
fn log1p_over_its_range() {
    let points: Vec<f64> = (1..4000).map(|i| f64::from(i) * 0.01 - 0.997).collect();
    assert_function("log1p", Tensor::log1p, f64::ln_1p, &points, Ulps(4));
}

#[test]
fn asinh_and_acosh_at_their_ends() {
    let points = [0.0, -0.0, 1e-6, -1e-6, 1e-3, -1e-3, 1e4, -1e4, INF, -INF, f64::NAN];
    assert_function("asinh", Tensor::asinh, f64::asinh, &points, Ulps(4));
    let points = [1.0, 1.001, 1.0078125, 1.5, 2.0, 1e4, INF, 0.5, -1.0, f64::NAN];
    assert_function("acosh", Tensor::acosh, f64::acosh, &points, Ulps(4));
}

#[test]
fn exponentials_overflow_and_underflow() {
    let points = [
        -1e3,
        -104.0,
        // Below, the result is a denormal, which Apple's kernels may flush to 0.
        -87.0,
        -17.5,
        0.0,
        1e-7,
        11.0,
        88.0,
        89.0,
        1e3,
        INF,
        -INF,
        f64::NAN,
    ];
    assert_function("exp", Tensor::exp, f64::exp, &points, Ulps(4));
    assert_function("tanh", Tensor::tanh, f64::tanh, &points, Ulps(6));
    assert_function("cosh", Tensor::cosh, f64::cosh, &points, Ulps(4));
    assert_function("sinh", Tensor::sinh, f64::sinh, &points, Ulps(4));
}

#[test]
fn logarithm_over_the_whole_range() {
    let points = [0.0, -0.0, 6e-5, 1e-3, 0.99, 1.0, 1.01, 1e4, 65504.0, INF, -1.0, -INF, f64::NAN];
    assert_function("log", Tensor::log, f64::ln, &points, Ulps(4));
}

#[test]
fn angles_of_many_turns() {
    let points = [0.0, -0.0, 1e-4, 1.5, 3.140625, 100.0, -1000.0, 12345.0, 60000.0, INF, f64::NAN];
    assert_function("sin", Tensor::sin, f64::sin, &points, Ulps(4));
    assert_function("cos", Tensor::cos, f64::cos, &points, Ulps(4));
    assert_function("tan", Tensor::tan, f64::tan, &points, Ulps(6));
}

#[test]
fn halves_round_to_even() {
    let points = [-2.5, -1.5, -0.5, -0.25, -0.0, 0.25, 0.5, 1.5, 2.5, 1023.5, INF, f64::NAN];
    assert_function("round", Tensor::round, f64::round_ties_even, &points, Exact);
    assert_function("trunc", Tensor::trunc, f64::trunc, &points, Exact);
}

#[test]
fn subnormal_numbers_are_kept() {
    // 16-bit floats hold smaller ones; every dtype holds its own smallest.
    for (dtype, smallest) in [(DType::F32, 1e-44), (DType::F16, 6e-8), (DType::BF16, 1e-40)] {
        let data = TensorData::from([smallest, -smallest]).convert_dtype(dtype);
        let device = Default::default();
        let found = || (-Tensor::<MpsGraph, 1>::from_data(data.clone(), (&device, dtype))).into_data();
        let expected = TensorData::from([-smallest, smallest]).convert_dtype(dtype);
        assert_gives(&format!("neg of a subnormal {dtype:?}"), &expected, found, Exact);
    }
}
