//! Integers: all bits are exact, sums and products wrap, and no op converts to floats.

use burn::tensor::{DType, Int, Tensor};
use test_support::Outcome;

use crate::agreement::same_integers;
use crate::values::{B, INTEGERS, exact, ints, wide_integers, wrapped};

/// Numbers that need all bits of `dtype`, and its ends.
fn edges(dtype: DType, salt: u64) -> Vec<i64> {
    let bits = 8 * dtype.size() as u32;
    let mut values = if dtype.is_uint() {
        // Halved, so that u64 can be written as i64.
        wide_integers(30, salt, dtype).iter().map(|x| x & (i64::MAX >> (64 - bits))).collect()
    } else {
        let mut values = wide_integers(28, salt, dtype);
        values.extend([i64::MIN >> (64 - bits), -1]);
        values
    };
    values.extend([i64::MAX >> (64 - bits), 1]);
    values
}

pub fn integers_wrap() -> Outcome {
    Outcome::of(INTEGERS.into_iter().flat_map(|dtype| {
        let (a, b) = (edges(dtype, 1), edges(dtype, 2));
        let tensors = || (ints(&a, [32], dtype), ints(&b, [32], dtype));
        let same = |got: Tensor<B, 1, Int>, of: fn(i128, i128) -> i128| {
            let expected: Vec<i128> = a.iter().zip(&b).map(|(&a, &b)| wrapped(of(a.into(), b.into()), dtype)).collect();
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

const DIVIDENDS: [i64; 10] = [-7, 7, -7, 7, -616, 616, 2_147_483_647, -2_147_483_647, 50_331_651, -16_777_217];
const DIVISORS: [i64; 10] = [3, -3, -3, 3, 28, -28, 7, 2, 3, 1];
const LARGE_DIVIDENDS: [i64; 4] = [(1 << 62) + 12_345, -(1 << 62) - 12_345, i64::MAX, (1 << 53) + 1];
const LARGE_DIVISORS: [i64; 4] = [7, 7, -10, 1];

pub fn integer_division() -> Outcome {
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

pub fn unsigned_division() -> Outcome {
    let of = |values: &[i64], by: i64, dtype: DType| {
        // The sum of two halves reaches the upper half of the range.
        let whole: Vec<i128> = values.iter().map(|&x| i128::from(x) * 2 + 1).collect();
        let count = [values.len()];
        let x = || ints(values, count, dtype) * 2 + 1;
        let by_all = || Tensor::<B, 1, Int>::full(count, by, (&x().device(), dtype));
        let [quotients, rests] = [|a, b| a / b, |a, b| a % b]
            .map(|f: fn(i128, i128) -> i128| -> Vec<i128> { whole.iter().map(|&x| f(x, by.into())).collect() });
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

pub fn integer_remainder() -> Outcome {
    let rest = |a: &[i64], b: &[i64], dtype| {
        let modulo = |a: i64, b: i64| -> i128 {
            let rest = a % b;
            (if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }).into()
        };
        let expected: Vec<i128> = a.iter().zip(b).map(|(&a, &b)| modulo(a, b)).collect();
        let by_five: Vec<i128> = a.iter().map(|&a| modulo(a, -5)).collect();
        let count = [a.len()];
        Outcome::of([
            same_integers(&ints(a, count, dtype).remainder(ints(b, count, dtype)).into_data(), &count, &expected),
            same_integers(&ints(a, count, dtype).remainder_scalar(-5).into_data(), &count, &by_five),
        ])
    };
    Outcome::of([
        rest(&DIVIDENDS, &DIVISORS, DType::I32),
        rest(&DIVIDENDS, &DIVISORS, DType::I64),
        rest(&LARGE_DIVIDENDS, &LARGE_DIVISORS, DType::I64),
    ])
}

pub fn integer_powers() -> Outcome {
    let base = [3, -3, 2, -1, 7, 0, 10];
    let exponent = [21u32, 21, 31, 1001, 13, 0, 11];
    let power =
        |dtype: DType, base: i64, exponent: u32| (0..exponent).fold(1, |x, _| wrapped(x * i128::from(base), dtype));
    Outcome::of([DType::I32, DType::I64].into_iter().flat_map(|dtype| {
        let x = || ints(&base, [7], dtype);
        let each: Vec<i128> = base.iter().zip(exponent).map(|(&b, e)| power(dtype, b, e)).collect();
        let fixed: Vec<i128> = base.iter().map(|&b| power(dtype, b, 23)).collect();
        [
            same_integers(&x().powi(ints(&exponent.map(i64::from), [7], dtype)).into_data(), &[7], &each),
            same_integers(&x().powi_scalar(23).into_data(), &[7], &fixed),
        ]
    }))
}

pub fn integer_sign() -> Outcome {
    let values = [i64::MIN, -(1 << 53) - 1, -1, 0, 1, (1 << 53) + 1, i64::MAX];
    let x = || ints(&values, [7], DType::I64);
    Outcome::of([
        same_integers(&x().abs().into_data(), &[7], &exact(&values.map(i64::wrapping_abs))),
        same_integers(&x().sign().into_data(), &[7], &exact(&values.map(i64::signum))),
        same_integers(&ints(&[-5, 0, 9], [3], DType::I32).sign().into_data(), &[3], &[-1, 0, 1]),
    ])
}

pub fn shifts() -> Outcome {
    Outcome::of([DType::I8, DType::I32, DType::I64, DType::U8].into_iter().flat_map(|dtype| {
        let bits = 8 * dtype.size() as i64;
        let a = edges(dtype, 7);
        let counts: Vec<i64> = (0..32).map(|i| i * bits / 32).collect();
        let of = |f: fn(i128, i64) -> i128| -> Vec<i128> {
            a.iter().zip(&counts).map(|(&a, &n)| wrapped(f(a.into(), n), dtype)).collect()
        };
        let (x, n) = (ints(&a, [32], dtype), ints(&counts, [32], dtype));
        [
            same_integers(&x.clone().bitwise_left_shift(n.clone()).into_data(), &[32], &of(|a, n| a << n)),
            same_integers(&x.bitwise_right_shift(n).into_data(), &[32], &of(|a, n| a >> n)),
        ]
    }))
}

pub fn bitwise() -> Outcome {
    Outcome::of([DType::I32, DType::I64, DType::U8].into_iter().flat_map(|dtype| {
        let (a, b) = (edges(dtype, 3), edges(dtype, 4));
        let of = |f: fn(i64, i64) -> i64| -> Vec<i128> {
            a.iter().zip(&b).map(|(&a, &b)| wrapped(f(a, b).into(), dtype)).collect()
        };
        let (x, y) = (ints(&a, [32], dtype), ints(&b, [32], dtype));
        [
            same_integers(&x.clone().bitwise_and(y.clone()).into_data(), &[32], &of(|a, b| a & b)),
            same_integers(&x.clone().bitwise_or(y.clone()).into_data(), &[32], &of(|a, b| a | b)),
            same_integers(&x.clone().bitwise_xor(y).into_data(), &[32], &of(|a, b| a ^ b)),
            same_integers(&x.bitwise_not().into_data(), &[32], &of(|a, _| !a)),
        ]
    }))
}
