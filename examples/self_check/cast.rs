//! Conversion between dtypes.

use burn::tensor::{DType, FloatDType, IntDType};
use test_support::Outcome;

use crate::agreement::{EXACT, close_floats, same_integers};
use crate::table::{Trap, check, note};
use crate::values::{FLOATS, exact, f32s, floats, ints, noise, rounded, wide_integers, wrapped};

pub const TRAPS: &[Trap] = &[
    check("float to integer truncates and saturates; NaN is 0", saturation),
    check("integer to narrower integer wraps", wrapping),
    check("integer to float beyond 2^24", integers_to_float),
    check("large integers to f16 overflow to infinity", overflow),
    check("f32 to f16 and bf16 rounds to even", narrowing),
    check("there and back beyond 2^24", there_and_back),
    check("two casts in one program that lose digits (are chains folded?)", lossy_chains),
    note("3e38 to i64 (9223372036854775807 if it saturates)", largest_to_i64),
];

fn saturation() -> Outcome {
    let x = [300.0, -300.0, 127.9, -128.9, 1.9, -1.9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e9, -3e9];
    let dtypes = [
        (IntDType::I8, i128::from(i8::MIN), i128::from(i8::MAX)),
        (IntDType::I16, i128::from(i16::MIN), i128::from(i16::MAX)),
        (IntDType::I32, i128::from(i32::MIN), i128::from(i32::MAX)),
        (IntDType::U8, 0, i128::from(u8::MAX)),
        (IntDType::U16, 0, i128::from(u16::MAX)),
    ];
    let of = |dtype: DType| {
        dtypes.map(|(to, min, max)| {
            let given = floats(&x, [11], dtype);
            // `as` truncates and takes NaN to 0.
            let expected: Vec<i128> = given.to_data().iter::<f64>().map(|x| (x as i128).clamp(min, max)).collect();
            same_integers(&given.cast(to).into_data(), &[11], &expected)
        })
    };
    Outcome::of(FLOATS.into_iter().flat_map(of))
}

fn wrapping() -> Outcome {
    let x = wide_integers(64, 1, DType::I64);
    let targets = [
        (IntDType::I8, DType::I8),
        (IntDType::U8, DType::U8),
        (IntDType::I16, DType::I16),
        (IntDType::I32, DType::I32),
        (IntDType::U32, DType::U32),
    ];
    Outcome::of(targets.map(|(to, dtype)| {
        let expected: Vec<i128> = x.iter().map(|&x| wrapped(x.into(), dtype)).collect();
        same_integers(&ints(&x, [64], DType::I64).cast(to).into_data(), &[64], &expected)
    }))
}

fn integers_to_float() -> Outcome {
    let x = [16_777_217, 16_777_219, -16_777_217, 2_147_483_647, 123_456_789];
    let expected = x.map(|x| f64::from(x as f32));
    Outcome::of(
        [DType::I32, DType::I64]
            .map(|dtype| close_floats(&ints(&x, [5], dtype).float().into_data(), &[5], &expected, EXACT)),
    )
}

fn overflow() -> Outcome {
    let x = [70_000, -70_000, 65_504, 1 << 40];
    let inf = f64::INFINITY;
    let got = ints(&x, [4], DType::I64).cast(FloatDType::F16);
    close_floats(&got.into_data(), &[4], &[inf, -inf, 65_504.0, inf], EXACT)
}

fn narrowing() -> Outcome {
    let mut x: Vec<f64> = noise(200, 1).iter().zip(noise(200, 2)).map(|(a, b)| a + b / 3000.0).collect();
    // Halfway between two bf16, and between two f16.
    x.extend([1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, 1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0, 70_000.0]);
    let of = |to: FloatDType, dtype: DType| {
        let expected: Vec<f64> = x.iter().map(|&x| rounded(x, dtype)).collect();
        close_floats(&f32s(&x, [205]).cast(to).into_data(), &[205], &expected, EXACT)
    };
    Outcome::of([of(FloatDType::F16, DType::F16), of(FloatDType::BF16, DType::BF16)])
}

fn there_and_back() -> Outcome {
    let x: Vec<i64> = wide_integers(100, 9, DType::I32);
    let got = ints(&x, [100], DType::I32).cast(IntDType::I64).add_scalar(1i64 << 40).sub_scalar(1i64 << 40);
    same_integers(&got.cast(IntDType::I32).into_data(), &[100], &exact(&x))
}

/// A compiler that folds a chain of casts keeps what the first one loses.
fn lossy_chains() -> Outcome {
    let x: Vec<f64> = noise(100, 5).iter().zip(noise(100, 6)).map(|(a, b)| 9.0 * a + b / 3000.0).collect();
    let through = |to: FloatDType, dtype: DType| {
        let expected: Vec<f64> = x.iter().map(|&x| rounded(x, dtype)).collect();
        close_floats(&f32s(&x, [100]).cast(to).cast(FloatDType::F32).into_data(), &[100], &expected, EXACT)
    };
    let whole: Vec<f64> = x.iter().map(|x| x.trunc()).collect();
    let odd = [16_777_217, -16_777_219, 123_456_789];
    let nearest = odd.map(|x| i128::from(x as f32 as i64));
    Outcome::of([
        through(FloatDType::F16, DType::F16),
        through(FloatDType::BF16, DType::BF16),
        close_floats(&f32s(&x, [100]).int().float().into_data(), &[100], &whole, EXACT),
        same_integers(&ints(&odd, [3], DType::I32).float().cast(IntDType::I32).into_data(), &[3], &nearest),
    ])
}

fn largest_to_i64() -> Outcome {
    let got = f32s(&[3e38, -3e38], [2]).cast(IntDType::I64);
    same_integers(&got.into_data(), &[2], &exact(&[i64::MAX, i64::MIN]))
}
