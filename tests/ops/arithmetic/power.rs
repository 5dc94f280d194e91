//! Powers of floats.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Ulps;
use test_support::{FLOATS, Layout};

use crate::compare::{assert_function, assert_gives};

/// Small integers of the shape of `x`, some negative.
fn exponents<B: Backend>(x: &Tensor<B, 3>) -> Tensor<B, 3, Int> {
    let numbers: Vec<i32> = (0..x.shape().num_elements()).map(|i| i as i32 % 7 - 3).collect();
    Tensor::from_data(TensorData::new(numbers, x.shape()), &x.device())
}

cases! {
    // Approximations on both sides; those of 16-bit floats are rounded once here, by burn-flex also.
    sweep(floats, FLOATS, Layout::ALL, Ulps(4)) {
        powf = |x, y| x.abs().powf(y);
        powf_of_negatives = |x, y| x.powf(y.round());
        powf_scalar = |x| x.abs().powf_scalar(1.7);
        powf_scalar_of_negatives = |x| x.powf_scalar(1.7);
        powf_scalar_half = |x| x.powf_scalar(0.5);
        powf_scalar_whole = |x| x.powf_scalar(3.0);
        powi_scalar_negative_2 = |x| x.powi_scalar(-2);
        powi_scalar_negative_1 = |x| x.powi_scalar(-1);
        powi_scalar_0 = |x| x.powi_scalar(0);
        powi_scalar_1 = |x| x.powi_scalar(1);
        powi_scalar_2 = |x| x.powi_scalar(2);
        powi_scalar_3 = |x| x.powi_scalar(3);
        powi_scalar_4 = |x| x.powi_scalar(4);
        powi_scalar_5 = |x| x.powi_scalar(5);
        powi_scalar_10 = |x| x.powi_scalar(10);
        powi_scalar_that_bf16_rounds_to_an_even_one = |x| x.powi_scalar(257);
        powi = |x| { let n = exponents(&x).float().cast(x.dtype()); x.powi(n) };
    }

    by_hand() {
        powf = |x = [2.0, 9.0, 4.0], y = [3.0, 0.5, -1.0]| x.powf(y) => [8.0, 3.0, 0.25];
        powf_scalar = |x = [4.0, 9.0]| x.powf_scalar(1.5) => [8.0, 27.0];
        powi = |x = [2.0, -2.0, 4.0], y = [3.0, 3.0, -1.0]| x.powi(y) => [8.0, -8.0, 0.25];
        powi_scalar = |x = [2.0, -2.0]| x.powi_scalar(3) => [8.0, -8.0];
        powi_scalar_beyond_i64 = |x = [1.0, 2.0, -0.5]| x.powi_scalar(1e30) => [1.0, f64::INFINITY, 0.0];
        powi_scalar_of_the_largest = |x = [1.0, 2.0, 0.5]| x.powi_scalar(u64::MAX) => [1.0, f64::INFINITY, 0.0];
    }
}

/// Numbers of which C's power is special.
const SPECIAL: [f32; 17] = {
    let inf = f32::INFINITY;
    [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, -1.5, 3.0, -3.0, 1e4, -1e4, inf, -inf, f32::NAN]
};

// Apple does not document negative bases, so the results are compared with f32's own power, which is C's.
#[test]
fn powf_is_cs_at_every_pair_of_special_numbers() {
    let pairs: Vec<(f32, f32)> = SPECIAL.iter().flat_map(|&a| SPECIAL.map(|b| (a, b))).collect();
    let [bases, exponents]: [Vec<f32>; 2] = [pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()];
    let exact: Vec<f32> = pairs.iter().map(|&(a, b)| f64::from(a).powf(b.into()) as f32).collect();
    let tensor = |values: &[f32]| Tensor::<MpsGraph, 1>::from_floats(values, &Default::default());
    let found = || tensor(&bases).powf(tensor(&exponents)).into_data();
    assert_gives(&format!("powf of {pairs:?}"), &TensorData::from(exact.as_slice()), found, Ulps(4));
}

#[test]
fn powf_scalar_is_cs_at_every_pair_of_special_numbers() {
    let bases = || Tensor::<MpsGraph, 1>::from_floats(SPECIAL, &Default::default());
    for exponent in SPECIAL {
        let exact = SPECIAL.map(|base| f64::from(base).powf(exponent.into()) as f32);
        let found = || bases().powf_scalar(exponent).into_data();
        assert_gives(&format!("{SPECIAL:?} to the {exponent}"), &TensorData::from(exact), found, Ulps(4));
    }
}

#[test]
fn zero_keeps_its_sign_in_odd_powers() {
    let tensor = || Tensor::<MpsGraph, 1>::from_floats([-0.0, 0.0], &Default::default());
    let signs = |data: TensorData| data.iter::<f32>().map(f32::is_sign_negative).collect::<Vec<_>>();
    assert_eq!(signs(tensor().powf_scalar(3.0).into_data()), [true, false]);
    assert_eq!(signs(tensor().powf_scalar(5.0).into_data()), [true, false]);
    assert_eq!(signs(tensor().powi_scalar(-3).into_data()), [true, false]);
    assert_eq!(signs(tensor().powf_scalar(2.0).into_data()), [false, false]);
}

#[test]
fn inverse_squares_are_rounded_once() {
    // The square of these alone overflows in f16, or has few digits left.
    let points = [300.0, -256.0, 0.005, -0.0047, 17.3, 0.0, f64::INFINITY, f64::NAN];
    assert_function("powi_scalar(-2)", |x| x.powi_scalar(-2), |x| x.powi(-2), &points, Ulps(1));
}

/// The squares of some are less than the least normal number.
#[test]
fn inverse_squares_of_small_numbers_are_finite() {
    let points = [1e-19f32, -1e-19, 6e-20, 3e18, 1e-20];
    let tensor = || Tensor::<MpsGraph, 1>::from_data(TensorData::from(points), (&Default::default(), DType::F32));
    let exact = TensorData::from(points.map(|x| f64::from(x).powi(-2) as f32));
    assert_gives("powf_scalar(-2)", &exact, || tensor().powf_scalar(-2.0).into_data(), Ulps(1));
}

#[test]
fn cubes_and_fourth_powers_are_rounded_as_other_powers_are() {
    let inf = f64::INFINITY;
    // In f16 the square of some has few digits left, where the power still has as many.
    let points = [30.0, -17.3, 1.1, -0.9, 0.05, -0.0047, 1e9, -1e13, 1e-9, -1e-15, 0.0, -0.0, inf, -inf, f64::NAN];
    assert_function("powi_scalar(3)", |x| x.powi_scalar(3), |x| x.powi(3), &points, Ulps(1));
    assert_function("powi_scalar(4)", |x| x.powi_scalar(4), |x| x.powi(4), &points, Ulps(1));
}

#[test]
fn exponents_beyond_i64_are_numbers() {
    let tensor =
        || Tensor::<MpsGraph, 1>::from_data(TensorData::from([0.5f32, 1.0, 2.0]), (&Default::default(), DType::F32));
    let expected = TensorData::from([0.0, 1.0, f32::INFINITY]);
    assert_gives("powf_scalar", &expected, || tensor().powf_scalar(1e30).into_data(), Ulps(0));
}
