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

    // burn-flex composes `a - b * floor(a / b)`, which rounds; with ordinary numbers it is exact.
    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
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

#[test]
fn remainder_is_exact_and_has_the_divisors_sign() {
    // burn-flex's composition rounds; these are Python's `%`.
    let cases: [(f32, f32, f32); 10] = [
        (7.5, 2.0, 1.5),
        (-7.5, 2.0, 0.5),
        (7.5, -2.0, -0.5),
        (-7.5, -2.0, -1.5),
        (6.0, 3.0, 0.0),
        (1e10, 3.0, 1.0),
        (16777215.0, 2.5, 0.0),
        (1.0, 0.0, f32::NAN),
        (f32::INFINITY, 2.0, f32::NAN),
        (f32::NAN, 2.0, f32::NAN),
    ];
    let column = |pick: fn(&(f32, f32, f32)) -> f32| cases.iter().map(pick).collect::<Vec<_>>();
    let [a, b, rest] = [column(|c| c.0), column(|c| c.1), column(|c| c.2)];
    let device = Default::default();
    let tensor = |values: &[f32]| Tensor::<MpsGraph, 1>::from_floats(values, &device);
    let found = || tensor(&a).remainder(tensor(&b)).into_data();
    assert_gives("remainder", &TensorData::from(rest.as_slice()), found, Ulps(0));
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
