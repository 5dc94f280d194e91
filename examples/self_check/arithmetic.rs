//! Elementwise operations.

mod integer;

use burn::tensor::{Bool, DType, Tensor};
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, same_integers, within};
use crate::table::{Trap, check, note};
use crate::values::{B, FLOATS, bools, coordinates, f32s, floats, ints, noise, position};

pub const TRAPS: &[Trap] = &[
    check("integer add, sub, mul, neg wrap (i8 to u64)", integer::integers_wrap),
    check("integer division toward zero (i32, i64; -616 / 28)", integer::integer_division),
    check("unsigned division and remainder beyond the sign bit", integer::unsigned_division),
    check("integer remainder has the divisor's sign", integer::integer_remainder),
    check("float remainder has the divisor's sign", float_remainder),
    check("round takes halves to even; floor, ceil, trunc", rounding),
    check("NaN stays in clamp, abs, sign, max_pair, min_pair", nan_stays),
    check("float powers of negative bases", float_powers),
    check("integer powers wrap", integer::integer_powers),
    check("log1p near 0 and at its ends", log1p),
    check("integer abs and sign, with the smallest i64", integer::integer_sign),
    check("shifts: arithmetic to the right, none beyond the width", integer::shifts),
    check("bool of floats and integers is != 0", bools_of_numbers),
    check("mask_where and mask_fill broadcast; -inf as a number", masks),
    check("infinities and division by zero", infinities),
    note("denormals: 1e-40 * 1 (0 if flushed)", denormals),
    note("sign of zero: 1 / (-0 rounded)", sign_of_zero),
    check("bool and, or, xor, not, equal", bools_combine),
    check("broadcasting both ways, ranks 2, 4 and 6", broadcasting),
    check("bitwise and, or, xor, not (i32, i64, u8)", integer::bitwise),
];

fn float_remainder() -> Outcome {
    let a = [-7.0, 7.0, -7.0, 7.0, -0.5, 5.5, 6.0, -6.0, 16_777_216.0];
    let b = [3.0, -3.0, -3.0, 3.0, 3.0, -2.0, 3.0, 3.0, 3.0];
    let expected = [2.0, -2.0, -1.0, 1.0, 2.5, -0.5, 0.0, 0.0, 1.0];
    let by_three: Vec<f64> = a.iter().map(|a: &f64| a.rem_euclid(3.0)).collect();
    Outcome::of([
        close_floats(&f32s(&a, [9]).remainder(f32s(&b, [9])).into_data(), &[9], &expected, EXACT),
        close_floats(&f32s(&a, [9]).remainder_scalar(3.0).into_data(), &[9], &by_three, EXACT),
        close_floats(
            &floats(&a[..8], [8], DType::F16).remainder(floats(&b[..8], [8], DType::F16)).into_data(),
            &[8],
            &expected[..8],
            EXACT,
        ),
    ])
}

fn rounding() -> Outcome {
    let x = [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 2.4, 2.6, -2.4, -2.6, 8_388_609.0];
    let of = |got: Tensor<B, 1>, f: fn(f64) -> f64| close_floats(&got.into_data(), &[12], &x.map(f), EXACT);
    let narrow = floats(&x[..11], [11], DType::F16).round().into_data();
    let even: Vec<f64> = x[..11].iter().map(|x| x.round_ties_even()).collect();
    Outcome::of([
        of(f32s(&x, [12]).round(), f64::round_ties_even),
        of(f32s(&x, [12]).floor(), f64::floor),
        of(f32s(&x, [12]).ceil(), f64::ceil),
        of(f32s(&x, [12]).trunc(), f64::trunc),
        close_floats(&narrow, &[11], &even, EXACT),
    ])
}

fn nan_stays() -> Outcome {
    let nan = f64::NAN;
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&[nan, 2.0, -3.0, f64::INFINITY], [4], dtype);
        let of = |got: Tensor<B, 1>, expected: [f64; 4]| close_floats(&got.into_data(), &[4], &expected, EXACT);
        [
            of(x().clamp(-1.0, 1.0), [nan, 1.0, -1.0, 1.0]),
            of(x().clamp_min(-1.0), [nan, 2.0, -1.0, f64::INFINITY]),
            of(x().clamp_max(1.0), [nan, 1.0, -3.0, 1.0]),
            of(x().abs(), [nan, 2.0, 3.0, f64::INFINITY]),
            of(x().sign(), [nan, 1.0, -1.0, 1.0]),
            of(x().max_pair(floats(&[1.0; 4], [4], dtype)), [nan, 2.0, 1.0, f64::INFINITY]),
            of(x().min_pair(floats(&[1.0; 4], [4], dtype)), [nan, 1.0, -3.0, 1.0]),
        ]
    }))
}

fn float_powers() -> Outcome {
    let base = [-2.0, -2.0, -2.0, -8.0, -1.0, 2.0, 0.0, -0.5, 3.0, 0.0];
    let exponent = [3.0, -3.0, 2.0, 1.0 / 3.0, 0.5, 0.5, 0.0, 5.0, -2.0, 2.0];
    let expected: Vec<f64> = base.iter().zip(&exponent).map(|(b, e)| f64::powf(*b, *e)).collect();
    let negative = [-2.0, -1.5, -0.25];
    let of = |got: Tensor<B, 1>, power: i32| {
        close_floats(&got.into_data(), &[3], &negative.map(|x: f64| x.powi(power)), F32)
    };
    let x = || f32s(&negative, [3]);
    Outcome::of([
        close_floats(&f32s(&base, [10]).powf(f32s(&exponent, [10])).into_data(), &[10], &expected, F32),
        of(x().powf_scalar(3.0), 3),
        of(x().powf_scalar(-3.0), -3),
        of(x().powi_scalar(2), 2),
        of(x().powi_scalar(-1), -1),
        of(x().powi_scalar(5), 5),
        close_floats(&x().powf_scalar(0.5).into_data(), &[3], &[f64::NAN; 3], EXACT),
    ])
}

fn bools_of_numbers() -> Outcome {
    let floats = f32s(&[0.0, -0.0, 0.25, 2.0, -1.0, f64::INFINITY, f64::NAN], [7]);
    let integers = ints(&[0, 1, 2, 256, 1 << 32, -1, i64::MIN], [7], DType::I64);
    Outcome::of([
        same_integers(&floats.bool().int().into_data(), &[7], &[0, 0, 1, 1, 1, 1, 1]),
        same_integers(&integers.bool().int().into_data(), &[7], &[0, 1, 1, 1, 1, 1, 1]),
    ])
}

fn masks() -> Outcome {
    let x = noise(12, 3);
    let mask = [true, false, true, false];
    let filled: Vec<f64> = (0..12).map(|i| if mask[i % 4] { f64::NEG_INFINITY } else { x[i] }).collect();
    let chosen: Vec<f64> = (0..12).map(|i| if mask[i % 4] { (i / 4) as f64 } else { x[i] }).collect();
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let tensor = || floats(&x, [3, 4], dtype);
        let mask = || bools(&mask, [1, 4]);
        let rows = floats(&[0.0, 1.0, 2.0], [3, 1], dtype);
        [
            close_floats(&tensor().mask_fill(mask(), f64::NEG_INFINITY).into_data(), &[3, 4], &filled, EXACT),
            close_floats(
                &tensor().mask_where(mask().expand([3, 4]), rows.expand([3, 4])).into_data(),
                &[3, 4],
                &chosen,
                EXACT,
            ),
        ]
    }))
}

fn infinities() -> Outcome {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&[1.0, -1.0, 0.0, inf, -inf], [5], dtype);
        let of = |got: Tensor<B, 1>, expected: [f64; 5]| close_floats(&got.into_data(), &[5], &expected, EXACT);
        [
            of(x() / floats(&[0.0; 5], [5], dtype), [inf, -inf, nan, inf, -inf]),
            of(x() * floats(&[inf; 5], [5], dtype), [inf, -inf, nan, inf, -inf]),
            of(x() - x(), [0.0, 0.0, 0.0, nan, nan]),
            of(x().log(), [0.0, nan, -inf, inf, nan]),
            of(x().sqrt(), [1.0, nan, 0.0, inf, nan]),
        ]
    }))
}

fn denormals() -> Outcome {
    let got = f32s(&[1e-40], [1]) * f32s(&[1.0], [1]);
    close_floats(&got.into_data(), &[1], &[f64::from(1e-40f32)], EXACT)
}

fn sign_of_zero() -> Outcome {
    let got = f32s(&[-0.25], [1]).round().recip();
    close_floats(&got.into_data(), &[1], &[f64::NEG_INFINITY], EXACT)
}

fn log1p() -> Outcome {
    let x = [1e-10, -1e-10, 1e-7, -1e-7, 3e-5, 0.5, -0.5, 1e6, 1e30, f64::INFINITY, -1.0, 0.0];
    let expected = x.map(|x: f64| f64::from(x as f32).ln_1p());
    close_floats(&f32s(&x, [12]).log1p().into_data(), &[12], &expected, within(0.0, 1e-6))
}

fn bools_combine() -> Outcome {
    let (a, b) = ([false, false, true, true], [false, true, false, true]);
    let (x, y) = (bools(&a, [4]), bools(&b, [4]));
    let of = |got: Tensor<B, 1, Bool>, expected: [i128; 4]| {
        Outcome::of([
            same_integers(&got.clone().into_data(), &[4], &expected),
            // A byte of 255 would count as true as well.
            same_integers(&got.clone().int().into_data(), &[4], &expected),
            close_floats(&got.float().into_data(), &[4], &expected.map(|x| x as f64), EXACT),
        ])
    };
    Outcome::of([
        of(x.clone().bool_and(y.clone()), [0, 0, 0, 1]),
        of(x.clone().bool_or(y.clone()), [0, 1, 1, 1]),
        of(x.clone().bool_xor(y.clone()), [0, 1, 1, 0]),
        of(x.clone().equal(y.clone()), [1, 0, 0, 1]),
        of(x.clone().not_equal(y), [0, 1, 1, 0]),
        of(x.bool_not(), [1, 1, 0, 0]),
    ])
}

fn broadcasting() -> Outcome {
    fn of<const D: usize>(a: [usize; D], b: [usize; D]) -> Outcome {
        let whole: Vec<usize> = a.iter().zip(b).map(|(&a, b)| a.max(b)).collect();
        let (x, y) = (noise(a.iter().product(), 1), noise(b.iter().product(), 2));
        let at = coordinates(&whole);
        let values = |f: fn(f64, f64) -> f64| -> Vec<f64> {
            at.iter().map(|at| f(x[position(&a, at)], y[position(&b, at)])).collect()
        };
        let (left, right) = (f32s(&x, a), f32s(&y, b));
        let both = (left.clone() - right.clone()) * left.clone();
        Outcome::of([
            close_floats(&both.into_data(), &whole, &values(|x, y| (x - y) * x), F32),
            same_integers(
                &left.greater(right).into_data(),
                &whole,
                &values(|x, y| f64::from(u8::from(x > y))).iter().map(|&x| x as i128).collect::<Vec<_>>(),
            ),
        ])
    }
    Outcome::of([
        of([3, 1], [1, 4]),
        of([2, 1, 3, 1], [1, 4, 1, 5]),
        of([2, 1, 3, 1, 2, 1], [1, 2, 1, 3, 1, 2]),
        of([1, 1, 1, 1, 1], [2, 3, 2, 3, 2]),
    ])
}
