//! Elementwise operations.

use burn::tensor::{Bool, DType, Int, Tensor};

use crate::agreement::{EXACT, F32, Tolerance, close_floats, rounded_to, same_integers, within};
use crate::table::{Check, Outcome, check, note};
use crate::values::{
    B, FLOATS, bools, coordinates, exact, f32s, floats, ints, noise, position, wide_integers,
    wrapped,
};

pub const CHECKS: &[Check] = &[
    check("integer add, sub, mul, neg wrap (i8 to u64)", integers_wrap),
    check(
        "integer division toward zero (i32, i64; -616 / 28)",
        integer_division,
    ),
    check(
        "unsigned division and remainder beyond the sign bit",
        unsigned_division,
    ),
    check(
        "integer remainder has the divisor's sign",
        integer_remainder,
    ),
    check("float remainder has the divisor's sign", float_remainder),
    check("round takes halves to even; floor, ceil, trunc", rounding),
    check(
        "NaN stays in clamp, abs, sign, max_pair, min_pair",
        nan_stays,
    ),
    check(
        "comparisons with NaN; is_nan, is_inf, is_finite",
        nan_compares,
    ),
    check("float powers of negative bases", float_powers),
    check("integer powers wrap", integer_powers),
    check("log1p near 0 and at its ends", log1p),
    check("functions of one float against f64", functions),
    check(
        "functions of one f16 and bf16 against f64",
        narrow_functions,
    ),
    check("atan2 in all quadrants", atan2),
    check("integer abs and sign, with the smallest i64", integer_sign),
    check("bitwise and, or, xor, not (i32, i64, u8)", bitwise),
    check(
        "shifts: arithmetic to the right, none beyond the width",
        shifts,
    ),
    check("bool and, or, xor, not, equal", bools_combine),
    check("bool of floats and integers is != 0", bools_of_numbers),
    check("broadcasting both ways, ranks 2, 4 and 6", broadcasting),
    check(
        "mask_where and mask_fill broadcast; -inf as a number",
        masks,
    ),
    check("infinities and division by zero", infinities),
    note("denormals: 1e-40 * 1 (0 if flushed)", denormals),
    note("sign of zero: 1 / (-0 rounded)", sign_of_zero),
];

const INTEGERS: [DType; 8] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

/// Numbers that need all bits of `dtype`, and its ends.
fn edges(dtype: DType, salt: u64) -> Vec<i64> {
    let bits = 8 * dtype.size() as u32;
    let mut values = if dtype.is_uint() {
        // Halved, so that u64 can be written as i64.
        wide_integers(30, salt, dtype)
            .iter()
            .map(|x| x & (i64::MAX >> (64 - bits)))
            .collect()
    } else {
        let mut values = wide_integers(28, salt, dtype);
        values.extend([i64::MIN >> (64 - bits), -1]);
        values
    };
    values.extend([i64::MAX >> (64 - bits), 1]);
    values
}

fn integers_wrap() -> Outcome {
    Outcome::of(INTEGERS.into_iter().flat_map(|dtype| {
        let (a, b) = (edges(dtype, 1), edges(dtype, 2));
        let tensors = || (ints(&a, [32], dtype), ints(&b, [32], dtype));
        let same = |got: Tensor<B, 1, Int>, of: fn(i128, i128) -> i128| {
            let expected: Vec<i128> = a
                .iter()
                .zip(&b)
                .map(|(&a, &b)| wrapped(of(a.into(), b.into()), dtype))
                .collect();
            same_integers(&got.into_data(), &[32], &expected)
        };
        let (x, y) = tensors();
        [
            same(x.clone() + y.clone(), |a, b| a + b),
            same(x.clone() - y.clone(), |a, b| a - b),
            same(x.clone() * y, |a, b| a * b),
            same(-x, |a, _| -a),
        ]
    }))
}

const DIVIDENDS: [i64; 10] = [
    -7,
    7,
    -7,
    7,
    -616,
    616,
    2_147_483_647,
    -2_147_483_647,
    50_331_651,
    -16_777_217,
];
const DIVISORS: [i64; 10] = [3, -3, -3, 3, 28, -28, 7, 2, 3, 1];
const LARGE_DIVIDENDS: [i64; 4] = [
    (1 << 62) + 12_345,
    -(1 << 62) - 12_345,
    i64::MAX,
    (1 << 53) + 1,
];
const LARGE_DIVISORS: [i64; 4] = [7, 7, -10, 1];

fn integer_division() -> Outcome {
    let divide = |a: &[i64], b: &[i64], dtype| {
        let expected: Vec<i128> = a.iter().zip(b).map(|(a, b)| (a / b).into()).collect();
        let count = [a.len()];
        let got = ints(a, count, dtype) / ints(b, count, dtype);
        let scalar = ints(a, count, dtype) / 7;
        let by_seven: Vec<i128> = a.iter().map(|a| (a / 7).into()).collect();
        Outcome::of([
            same_integers(&got.into_data(), &count, &expected),
            same_integers(&scalar.into_data(), &count, &by_seven),
        ])
    };
    Outcome::of([
        divide(&DIVIDENDS, &DIVISORS, DType::I32),
        divide(&DIVIDENDS, &DIVISORS, DType::I64),
        divide(&LARGE_DIVIDENDS, &LARGE_DIVISORS, DType::I64),
    ])
}

fn unsigned_division() -> Outcome {
    let of = |values: &[i64], by: i64, dtype: DType| {
        // The sum of two halves reaches the upper half of the range.
        let whole: Vec<i128> = values.iter().map(|&x| i128::from(x) * 2 + 1).collect();
        let count = [values.len()];
        let x = || ints(values, count, dtype) * 2 + 1;
        let by_all = || Tensor::<B, 1, Int>::full(count, by, (&x().device(), dtype));
        let [quotients, rests] =
            [|a, b| a / b, |a, b| a % b].map(|f: fn(i128, i128) -> i128| -> Vec<i128> {
                whole.iter().map(|&x| f(x, by.into())).collect()
            });
        Outcome::of([
            same_integers(&(x() / by_all()).into_data(), &count, &quotients),
            same_integers(&x().remainder(by_all()).into_data(), &count, &rests),
        ])
    };
    Outcome::of([
        of(&[100, 127, 3], 3, DType::U8),
        of(&[2_000_000_000, i64::from(i32::MAX), 5], 3, DType::U32),
        of(&[i64::MAX, 1 << 62, 9], 10, DType::U64),
    ])
}

fn integer_remainder() -> Outcome {
    let rest = |a: &[i64], b: &[i64], dtype| {
        let modulo = |a: i64, b: i64| -> i128 {
            let rest = a % b;
            (if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            })
            .into()
        };
        let expected: Vec<i128> = a.iter().zip(b).map(|(&a, &b)| modulo(a, b)).collect();
        let by_five: Vec<i128> = a.iter().map(|&a| modulo(a, -5)).collect();
        let count = [a.len()];
        Outcome::of([
            same_integers(
                &ints(a, count, dtype)
                    .remainder(ints(b, count, dtype))
                    .into_data(),
                &count,
                &expected,
            ),
            same_integers(
                &ints(a, count, dtype).remainder_scalar(-5).into_data(),
                &count,
                &by_five,
            ),
        ])
    };
    Outcome::of([
        rest(&DIVIDENDS, &DIVISORS, DType::I32),
        rest(&DIVIDENDS, &DIVISORS, DType::I64),
        rest(&LARGE_DIVIDENDS, &LARGE_DIVISORS, DType::I64),
    ])
}

fn float_remainder() -> Outcome {
    let a = [-7.0, 7.0, -7.0, 7.0, -0.5, 5.5, 6.0, -6.0, 16_777_216.0];
    let b = [3.0, -3.0, -3.0, 3.0, 3.0, -2.0, 3.0, 3.0, 3.0];
    let expected = [2.0, -2.0, -1.0, 1.0, 2.5, -0.5, 0.0, 0.0, 1.0];
    let by_three: Vec<f64> = a.iter().map(|a: &f64| a.rem_euclid(3.0)).collect();
    Outcome::of([
        close_floats(
            &f32s(&a, [9]).remainder(f32s(&b, [9])).into_data(),
            &[9],
            &expected,
            EXACT,
        ),
        close_floats(
            &f32s(&a, [9]).remainder_scalar(3.0).into_data(),
            &[9],
            &by_three,
            EXACT,
        ),
        close_floats(
            &floats(&a[..8], [8], DType::F16)
                .remainder(floats(&b[..8], [8], DType::F16))
                .into_data(),
            &[8],
            &expected[..8],
            EXACT,
        ),
    ])
}

fn rounding() -> Outcome {
    let x = [
        0.5,
        1.5,
        2.5,
        3.5,
        -0.5,
        -1.5,
        -2.5,
        2.4,
        2.6,
        -2.4,
        -2.6,
        8_388_609.0,
    ];
    let of = |got: Tensor<B, 1>, f: fn(f64) -> f64| {
        close_floats(&got.into_data(), &[12], &x.map(f), EXACT)
    };
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
        let of = |got: Tensor<B, 1>, expected: [f64; 4]| {
            close_floats(&got.into_data(), &[4], &expected, EXACT)
        };
        [
            of(x().clamp(-1.0, 1.0), [nan, 1.0, -1.0, 1.0]),
            of(x().clamp_min(-1.0), [nan, 2.0, -1.0, f64::INFINITY]),
            of(x().clamp_max(1.0), [nan, 1.0, -3.0, 1.0]),
            of(x().abs(), [nan, 2.0, 3.0, f64::INFINITY]),
            of(x().sign(), [nan, 1.0, -1.0, 1.0]),
            of(
                x().max_pair(floats(&[1.0; 4], [4], dtype)),
                [nan, 2.0, 1.0, f64::INFINITY],
            ),
            of(
                x().min_pair(floats(&[1.0; 4], [4], dtype)),
                [nan, 1.0, -3.0, 1.0],
            ),
        ]
    }))
}

fn nan_compares() -> Outcome {
    let values = [f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY, 0.0];
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&values, [5], dtype);
        let y = || floats(&[f64::NAN, f64::NAN, f64::INFINITY, 0.0, 0.0], [5], dtype);
        let of = |got: Tensor<B, 1, Bool>, expected: [i128; 5]| {
            same_integers(&got.into_data(), &[5], &expected)
        };
        [
            of(x().equal(y()), [0, 0, 1, 0, 1]),
            of(x().not_equal(y()), [1, 1, 0, 1, 0]),
            of(x().greater(y()), [0, 0, 0, 0, 0]),
            of(x().greater_equal(y()), [0, 0, 1, 0, 1]),
            of(x().lower(y()), [0, 0, 0, 1, 0]),
            of(x().lower_equal(y()), [0, 0, 1, 1, 1]),
            of(x().lower_elem(5.0), [0, 1, 0, 1, 1]),
            of(x().is_nan(), [1, 0, 0, 0, 0]),
            of(x().is_inf(), [0, 0, 1, 1, 0]),
            of(x().is_finite(), [0, 1, 0, 0, 1]),
        ]
    }))
}

fn float_powers() -> Outcome {
    let base = [-2.0, -2.0, -2.0, -8.0, -1.0, 2.0, 0.0, -0.5, 3.0, 0.0];
    let exponent = [3.0, -3.0, 2.0, 1.0 / 3.0, 0.5, 0.5, 0.0, 5.0, -2.0, 2.0];
    let expected: Vec<f64> = base
        .iter()
        .zip(&exponent)
        .map(|(b, e)| f64::powf(*b, *e))
        .collect();
    let negative = [-2.0, -1.5, -0.25];
    let of = |got: Tensor<B, 1>, power: i32| {
        close_floats(
            &got.into_data(),
            &[3],
            &negative.map(|x: f64| x.powi(power)),
            F32,
        )
    };
    let x = || f32s(&negative, [3]);
    Outcome::of([
        close_floats(
            &f32s(&base, [10]).powf(f32s(&exponent, [10])).into_data(),
            &[10],
            &expected,
            F32,
        ),
        of(x().powf_scalar(3.0), 3),
        of(x().powf_scalar(-3.0), -3),
        of(x().powi_scalar(2), 2),
        of(x().powi_scalar(-1), -1),
        of(x().powi_scalar(5), 5),
        close_floats(
            &x().powf_scalar(0.5).into_data(),
            &[3],
            &[f64::NAN; 3],
            EXACT,
        ),
    ])
}

fn integer_powers() -> Outcome {
    let base = [3, -3, 2, -1, 7, 0, 10];
    let exponent = [21u32, 21, 31, 1001, 13, 0, 11];
    let power = |dtype: DType, base: i64, exponent: u32| {
        (0..exponent).fold(1, |x, _| wrapped(x * i128::from(base), dtype))
    };
    Outcome::of([DType::I32, DType::I64].into_iter().flat_map(|dtype| {
        let x = || ints(&base, [7], dtype);
        let each: Vec<i128> = base
            .iter()
            .zip(exponent)
            .map(|(&b, e)| power(dtype, b, e))
            .collect();
        let fixed: Vec<i128> = base.iter().map(|&b| power(dtype, b, 23)).collect();
        [
            same_integers(
                &x().powi(ints(&exponent.map(i64::from), [7], dtype))
                    .into_data(),
                &[7],
                &each,
            ),
            same_integers(&x().powi_scalar(23).into_data(), &[7], &fixed),
        ]
    }))
}

fn log1p() -> Outcome {
    let x = [
        1e-10,
        -1e-10,
        1e-7,
        -1e-7,
        3e-5,
        0.5,
        -0.5,
        1e6,
        1e30,
        f64::INFINITY,
        -1.0,
        0.0,
    ];
    let expected = x.map(|x: f64| f64::from(x as f32).ln_1p());
    close_floats(
        &f32s(&x, [12]).log1p().into_data(),
        &[12],
        &expected,
        within(0.0, 1e-6),
    )
}

/// A function on the device, the same in f64, and the numbers it is asked for.
type Function = (
    fn(Tensor<B, 1>) -> Tensor<B, 1>,
    fn(f64) -> f64,
    fn(f64) -> f64,
);

const FUNCTIONS: [Function; 21] = [
    (|x| x.exp(), f64::exp, |x| 10.0 * x),
    (|x| x.log(), f64::ln, |x| 50.0 * (x + 1.125)),
    (|x| x.sqrt(), f64::sqrt, |x| 50.0 * (x + 1.0)),
    (|x| x.sin(), f64::sin, |x| 6.0 * x),
    (|x| x.cos(), f64::cos, |x| 6.0 * x),
    (|x| x.tan(), f64::tan, |x| 1.25 * x),
    (|x| x.tanh(), f64::tanh, |x| 8.0 * x),
    (|x| x.sinh(), f64::sinh, |x| 4.0 * x),
    (|x| x.cosh(), f64::cosh, |x| 4.0 * x),
    (|x| x.asin(), f64::asin, |x| x),
    (|x| x.acos(), f64::acos, |x| 0.875 * x),
    (|x| x.atan(), f64::atan, |x| 8.0 * x),
    (|x| x.asinh(), f64::asinh, |x| 8.0 * x),
    (|x| x.acosh(), f64::acosh, |x| 8.0 * (x + 1.25)),
    (|x| x.atanh(), f64::atanh, |x| 0.875 * x),
    (|x| x.erf(), erf, |x| 3.0 * x),
    (|x| x.recip(), f64::recip, |x| x + 1.125),
    (|x| x.log1p(), f64::ln_1p, |x| 4.0 * (x + 1.0)),
    (|x| x.square(), |x| x * x, |x| 8.0 * x),
    (|x| -x, |x| -x, |x| 8.0 * x),
    (|x| x.abs(), f64::abs, |x| 8.0 * x),
];

/// By its Taylor series, which is enough within a few units of 0.
pub fn erf(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for n in 1..120 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn functions_of(dtype: DType, tolerance: Tolerance) -> Outcome {
    Outcome::of(
        FUNCTIONS
            .iter()
            .enumerate()
            .map(|(index, (device, reference, domain))| {
                let x: Vec<f64> = noise(200, index as u64).into_iter().map(domain).collect();
                let given = floats(&x, [200], dtype);
                // What the device was given, after rounding to its dtype.
                let expected: Vec<f64> = given.to_data().iter::<f64>().map(reference).collect();
                close_floats(&device(given).into_data(), &[200], &expected, tolerance)
            }),
    )
}

fn functions() -> Outcome {
    functions_of(DType::F32, within(4e-6, 8e-6))
}

fn narrow_functions() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let Tolerance { relative, .. } = rounded_to(dtype);
        // tanh of halves may be 11 units off (Metal's own table).
        functions_of(dtype, within(relative, 6.0 * relative))
    }))
}

fn atan2() -> Outcome {
    let (y, x) = (noise(100, 5), noise(100, 6));
    let expected: Vec<f64> = y.iter().zip(&x).map(|(y, x)| y.atan2(*x)).collect();
    close_floats(
        &f32s(&y, [100]).atan2(f32s(&x, [100])).into_data(),
        &[100],
        &expected,
        F32,
    )
}

fn integer_sign() -> Outcome {
    let values = [i64::MIN, -(1 << 53) - 1, -1, 0, 1, (1 << 53) + 1, i64::MAX];
    let x = || ints(&values, [7], DType::I64);
    Outcome::of([
        same_integers(
            &x().abs().into_data(),
            &[7],
            &exact(&values.map(i64::wrapping_abs)),
        ),
        same_integers(
            &x().sign().into_data(),
            &[7],
            &exact(&values.map(i64::signum)),
        ),
        same_integers(
            &ints(&[-5, 0, 9], [3], DType::I32).sign().into_data(),
            &[3],
            &[-1, 0, 1],
        ),
    ])
}

fn bitwise() -> Outcome {
    Outcome::of(
        [DType::I32, DType::I64, DType::U8]
            .into_iter()
            .flat_map(|dtype| {
                let (a, b) = (edges(dtype, 3), edges(dtype, 4));
                let of = |f: fn(i64, i64) -> i64| -> Vec<i128> {
                    a.iter()
                        .zip(&b)
                        .map(|(&a, &b)| wrapped(f(a, b).into(), dtype))
                        .collect()
                };
                let (x, y) = (ints(&a, [32], dtype), ints(&b, [32], dtype));
                [
                    same_integers(
                        &x.clone().bitwise_and(y.clone()).into_data(),
                        &[32],
                        &of(|a, b| a & b),
                    ),
                    same_integers(
                        &x.clone().bitwise_or(y.clone()).into_data(),
                        &[32],
                        &of(|a, b| a | b),
                    ),
                    same_integers(
                        &x.clone().bitwise_xor(y).into_data(),
                        &[32],
                        &of(|a, b| a ^ b),
                    ),
                    same_integers(&x.bitwise_not().into_data(), &[32], &of(|a, _| !a)),
                ]
            }),
    )
}

fn shifts() -> Outcome {
    Outcome::of(
        [DType::I8, DType::I32, DType::I64, DType::U8]
            .into_iter()
            .flat_map(|dtype| {
                let bits = 8 * dtype.size() as i64;
                let a = edges(dtype, 7);
                let counts: Vec<i64> = (0..32).map(|i| i * bits / 32).collect();
                let of = |f: fn(i128, i64) -> i128| -> Vec<i128> {
                    a.iter()
                        .zip(&counts)
                        .map(|(&a, &n)| wrapped(f(a.into(), n), dtype))
                        .collect()
                };
                let (x, n) = (ints(&a, [32], dtype), ints(&counts, [32], dtype));
                [
                    same_integers(
                        &x.clone().bitwise_left_shift(n.clone()).into_data(),
                        &[32],
                        &of(|a, n| a << n),
                    ),
                    same_integers(
                        &x.bitwise_right_shift(n).into_data(),
                        &[32],
                        &of(|a, n| a >> n),
                    ),
                ]
            }),
    )
}

fn bools_combine() -> Outcome {
    let (a, b) = ([false, false, true, true], [false, true, false, true]);
    let (x, y) = (bools(&a, [4]), bools(&b, [4]));
    let of = |got: Tensor<B, 1, Bool>, expected: [i128; 4]| {
        Outcome::of([
            same_integers(&got.clone().into_data(), &[4], &expected),
            // A byte of 255 would be true as well.
            same_integers(&got.clone().int().into_data(), &[4], &expected),
            close_floats(
                &got.float().into_data(),
                &[4],
                &expected.map(|x| x as f64),
                EXACT,
            ),
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

fn bools_of_numbers() -> Outcome {
    let floats = f32s(&[0.0, -0.0, 0.25, 2.0, -1.0, f64::INFINITY, f64::NAN], [7]);
    let integers = ints(&[0, 1, 2, 256, 1 << 32, -1, i64::MIN], [7], DType::I64);
    Outcome::of([
        same_integers(
            &floats.bool().int().into_data(),
            &[7],
            &[0, 0, 1, 1, 1, 1, 1],
        ),
        same_integers(
            &integers.bool().int().into_data(),
            &[7],
            &[0, 1, 1, 1, 1, 1, 1],
        ),
    ])
}

fn broadcasting() -> Outcome {
    fn of<const D: usize>(a: [usize; D], b: [usize; D]) -> Outcome {
        let whole: Vec<usize> = a.iter().zip(b).map(|(&a, b)| a.max(b)).collect();
        let (x, y) = (noise(a.iter().product(), 1), noise(b.iter().product(), 2));
        let at = coordinates(&whole);
        let values = |f: fn(f64, f64) -> f64| -> Vec<f64> {
            at.iter()
                .map(|at| f(x[position(&a, at)], y[position(&b, at)]))
                .collect()
        };
        let (left, right) = (f32s(&x, a), f32s(&y, b));
        let both = (left.clone() - right.clone()) * left.clone();
        Outcome::of([
            close_floats(&both.into_data(), &whole, &values(|x, y| (x - y) * x), F32),
            same_integers(
                &left.greater(right).into_data(),
                &whole,
                &values(|x, y| f64::from(u8::from(x > y)))
                    .iter()
                    .map(|&x| x as i128)
                    .collect::<Vec<_>>(),
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

fn masks() -> Outcome {
    let x = noise(12, 3);
    let mask = [true, false, true, false];
    let filled: Vec<f64> = (0..12)
        .map(|i| if mask[i % 4] { f64::NEG_INFINITY } else { x[i] })
        .collect();
    let chosen: Vec<f64> = (0..12)
        .map(|i| if mask[i % 4] { (i / 4) as f64 } else { x[i] })
        .collect();
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let tensor = || floats(&x, [3, 4], dtype);
        let mask = || bools(&mask, [1, 4]);
        let rows = floats(&[0.0, 1.0, 2.0], [3, 1], dtype);
        [
            close_floats(
                &tensor().mask_fill(mask(), f64::NEG_INFINITY).into_data(),
                &[3, 4],
                &filled,
                EXACT,
            ),
            close_floats(
                &tensor()
                    .mask_where(mask().expand([3, 4]), rows.expand([3, 4]))
                    .into_data(),
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
        let of = |got: Tensor<B, 1>, expected: [f64; 5]| {
            close_floats(&got.into_data(), &[5], &expected, EXACT)
        };
        [
            of(
                x() / floats(&[0.0; 5], [5], dtype),
                [inf, -inf, nan, inf, -inf],
            ),
            of(
                x() * floats(&[inf; 5], [5], dtype),
                [inf, -inf, nan, inf, -inf],
            ),
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
