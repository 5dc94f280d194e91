//! Functions of two floats.

use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Ulps};
use test_support::{FLOATS, Layout};

use crate::compare::assert_gives;

cases! {
    // One rounding each: IEEE 754 defines the result to the last bit.
    sweep(floats, FLOATS, Layout::ALL, Exact) {
        add = |x, y| x + y;
        add_scalar = |x| x + 1.1;
        div = |x, y| x / y;
        div_scalar = |x| x / 3.0;
        max_pair = |x, y| x.max_pair(y);
        min_pair = |x, y| x.min_pair(y);
        mul = |x, y| x * y;
        mul_scalar = |x| x * 1.1;
        scalar_div = |x| 3.0f32 / x;
        scalar_sub = |x| 1.1f32 - x;
        sub = |x, y| x - y;
        sub_scalar = |x| x - 1.1;
    }

    // burn-flex composes `((a % b) + b) % b`, which rounds; with ordinary numbers it is exact. Its zeros have the sign
    // of the divisor; those here have that of the left operand, as PyTorch's.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(0)) {
        remainder = |x, y| x.remainder(y.abs() + 0.5);
        remainder_of_negative_divisor = |x, y| x.remainder(-(y.abs()) - 0.5);
        remainder_scalar = |x| x.remainder_scalar(1.5);
        remainder_scalar_negative = |x| x.remainder_scalar(-1.5);
        fmod = |x, y| x.fmod(y.abs() + 0.5);
        fmod_scalar = |x| x.fmod_scalar(1.5);
    }

    sweep(floats, FLOATS, Layout::ALL, Ulps(4)) {
        atan2 = |x, y| x.atan2(y);
    }

    by_hand() {
        add = |x = [1.0, 2.0], y = [0.5, -4.0]| x + y => [1.5, -2.0];
        add_scalar = |x = [1.0, 2.0]| x + 0.5 => [1.5, 2.5];
        atan2 = |y = [1.0, 1.0, 0.0], x = [1.0, 0.0, -1.0]| y.atan2(x) => [0.785398, 1.570796, 3.141593];
        div = |x = [1.0, 2.0], y = [0.5, -4.0]| x / y => [2.0, -0.5];
        div_scalar = |x = [1.0, 2.0]| x / 4.0 => [0.25, 0.5];
        mul = |x = [1.0, 2.0], y = [0.5, -4.0]| x * y => [0.5, -8.0];
        mul_scalar = |x = [1.0, 2.0]| x * 4.0 => [4.0, 8.0];
        remainder = |x = [7.5, -7.5, 7.5], y = [2.0, 2.0, -2.0]| x.remainder(y) => [1.5, 0.5, -0.5];
        remainder_scalar = |x = [7.5, -7.5]| x.remainder_scalar(2.0) => [1.5, 0.5];
        sub = |x = [1.0, 2.0], y = [0.5, -4.0]| x - y => [0.5, 6.0];
        sub_scalar = |x = [1.0, 2.0]| x - 0.5 => [0.5, 1.5];
    }
}

/// PyTorch's remainder, in f64: C's, and where its sign is not the divisor's, the divisor added.
fn exact_remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

/// Each float dtype with the largest power of ten that it holds.
const RANGES: [(DType, i32); 3] = [(DType::F32, 38), (DType::F16, 4), (DType::BF16, 38)];

#[test]
fn remainder_is_exact_and_has_the_divisors_sign() {
    // burn-flex's composition rounds, absorbs a small left operand, and has no remainder of infinity.
    for (dtype, top) in RANGES {
        let large = 3.0 * 10f64.powi(top);
        let sizes = [0.0, 1e-3, 0.1, 0.3457, 0.75, 1.0, 1.78125, 2.0, 2.5, 3.0, 7.5, 1e3, 1e4, large, f64::INFINITY];
        let numbers: Vec<f64> = sizes.iter().flat_map(|&x| [x, -x]).chain([f64::NAN]).collect();
        let pairs = numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| [a, b]));
        // The exact remainder of numbers that are far apart takes more steps than a kernel need have.
        let pairs = pairs.filter(|[a, b]| *b == 0.0 || !a.is_finite() || (a / b).abs() < 1e6);
        let data: Vec<TensorData> = (0..2)
            .map(|at| {
                TensorData::from(&pairs.clone().map(|pair| pair[at]).collect::<Vec<_>>()[..]).convert_dtype(dtype)
            })
            .collect();
        let rest: Vec<f64> = data[0].iter::<f64>().zip(data[1].iter()).map(|(a, b)| exact_remainder(a, b)).collect();
        let tensor = |at: usize| Tensor::<MpsGraph, 1>::from_data(data[at].clone(), (&Default::default(), dtype));
        let expected = TensorData::from(&rest[..]).convert_dtype(dtype);
        assert_gives(
            &format!("remainder {dtype:?}"),
            &expected,
            || tensor(0).remainder(tensor(1)).into_data(),
            Ulps(0),
        );
    }
}

#[test]
fn remainder_of_a_small_number_and_a_large_scalar() {
    for (dtype, top) in RANGES {
        for by in [1e3, -1e3, 3.0 * 10f64.powi(top), f64::INFINITY, f64::NEG_INFINITY] {
            let points = TensorData::from([0.0, 0.01, -0.01, 1.0, -1.0, f64::INFINITY, f64::NAN]).convert_dtype(dtype);
            let device = Default::default();
            let by = TensorData::from([by]).convert_dtype(dtype).iter::<f64>().next().expect("one number");
            let rest: Vec<f64> = points.iter::<f64>().map(|a| exact_remainder(a, by)).collect();
            let tensor = || Tensor::<MpsGraph, 1>::from_data(points.clone(), (&device, dtype));
            let expected = TensorData::from(&rest[..]).convert_dtype(dtype);
            let found = || tensor().remainder_scalar(by).into_data();
            assert_gives(&format!("remainder_scalar {by} {dtype:?}"), &expected, found, Ulps(0));
        }
    }
}

#[test]
fn scalars_that_do_not_fit_become_infinite() {
    let device = Default::default();
    for dtype in [DType::F32, DType::F16] {
        let zeros = || Tensor::<MpsGraph, 1>::zeros([2], (&device, dtype));
        let expected = TensorData::from([f32::INFINITY; 2]).convert_dtype(dtype);
        assert_gives(&format!("add_scalar {dtype:?}"), &expected, || (zeros() + 1e300).into_data(), Exact);
    }
}

#[test]
fn large_integer_scalars_reach_floats_as_numbers() {
    let device = Default::default();
    let found = || (Tensor::<MpsGraph, 1>::zeros([1], &device) + u64::MAX).into_data();
    assert_gives("add_scalar", &TensorData::from([u64::MAX as f32]), found, Exact);
}
