//! Conversion between all dtypes: float to integer toward zero and saturating with NaN as 0, integer to integer
//! wrapping, anything to bool as `!= 0`.

use burn::tensor::activation::{hard_sigmoid, prelu, softmax};
use burn::tensor::module::{avg_pool2d, interpolate};
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{Bool, DType, Element, FloatDType, Int, IntDType, Tensor, TensorData, bf16, f16};
use burn_mpsgraph::{MpsGraph, eagerly};
use test_support::Tolerance::Exact;
use test_support::{BOOL, FLOATS, INTS, Layout};

use crate::compare::assert_gives;

cases! {
    sweep(floats, FLOATS, Layout::ALL, Exact) {
        float_to_bf16 = |x| x.cast(FloatDType::BF16);
        float_to_bool = |x| x.bool();
        float_to_f16 = |x| x.cast(FloatDType::F16);
        float_to_f32 = |x| x.cast(FloatDType::F32);
        float_to_i32 = |x| x.cast(IntDType::I32);
        float_to_i64 = |x| x.cast(IntDType::I64);
        float_to_int = |x| x.int();
        float_to_u8 = |x| x.cast(IntDType::U8);
    }

    sweep(ints, INTS, Layout::ALL, Exact) {
        int_to_bf16 = |x| x.cast(FloatDType::BF16);
        int_to_bool = |x| x.bool();
        int_to_f16 = |x| x.cast(FloatDType::F16);
        int_to_f32 = |x| x.cast(FloatDType::F32);
        int_to_float = |x| x.float();
        int_to_i32 = |x| x.cast(IntDType::I32);
        int_to_i64 = |x| x.cast(IntDType::I64);
        int_to_i8 = |x| x.cast(IntDType::I8);
    }

    sweep(bools, [BOOL], Layout::ALL, Exact) {
        bool_to_bf16 = |x| x.cast(FloatDType::BF16);
        bool_to_f16 = |x| x.cast(FloatDType::F16);
        bool_to_f32 = |x| x.cast(FloatDType::F32);
        bool_to_i32 = |x| x.cast(IntDType::I32);
        bool_to_i64 = |x| x.cast(IntDType::I64);
        bool_to_i8 = |x| x.cast(IntDType::I8);
        bool_to_u64 = |x| x.cast(IntDType::U64);
        bool_to_u8 = |x| x.cast(IntDType::U8);
    }

    by_hand() {
        cast = |x = [1.75, -1.75, 0.0]| x.cast(IntDType::I32) => [1, -1, 0];
        into_float = |x = [3, -2]| x.cast(FloatDType::F32) => [3.0, -2.0];
        into_int = |x = [true, false]| x.int() => [1, 0];
    }
}

fn data<T: Element>(values: &[T]) -> TensorData {
    TensorData::from(values)
}

/// Compares the cast of `values` to `T` with `as`.
fn assert_floats_to<T: Element>(exact: fn(f64) -> T) {
    let numbers: [f64; 20] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.99,
        1.9,
        -1.9,
        127.5,
        128.0,
        -129.0,
        255.9,
        256.0,
        32768.0,
        -32769.0,
        65504.0,
        3e9,
        -3e9,
        1e20,
        f64::INFINITY,
        f64::NAN,
    ];
    for from in FLOATS {
        let rounded = data(&numbers).convert_dtype(from);
        let values: Vec<f64> = rounded.iter().collect();
        let expected: Vec<T> = values.iter().map(|&x| exact(x)).collect();
        let device = Default::default();
        let found = || {
            Tensor::<MpsGraph, 1>::from_data(rounded.clone(), (&device, from))
                .cast(IntDType::from(T::dtype()))
                .into_data()
        };
        assert_gives(&format!("{from:?} {values:?} to {:?}", T::dtype()), &data(&expected), found, Exact);
    }
}

/// Compares the casts of the extremes of each integer dtype to `T` with `as`.
fn assert_ints_to<T: Element>(exact: fn(i128) -> T) {
    fn each<S: Element + Into<i128>, T: Element>(values: [S; 8], exact: fn(i128) -> T) {
        let device = Default::default();
        let tensor = || Tensor::<MpsGraph, 1, Int>::from_data(data(&values), (&device, S::dtype()));
        let expected: Vec<T> = values.iter().map(|&x| exact(x.into())).collect();
        let what = format!("{values:?} to {:?}", T::dtype());
        let to = T::dtype();
        if to.is_float() {
            assert_gives(&what, &data(&expected), || tensor().cast(FloatDType::from(to)).into_data(), Exact);
        } else {
            assert_gives(&what, &data(&expected), || tensor().cast(IntDType::from(to)).into_data(), Exact);
        }
    }
    each([0, 1, -1, 127, -128, 5, -6, 100i8], exact);
    each([0, 1, -1, 32767, -32768, 128, -129, 256i16], exact);
    each([0, 1, -1, i32::MAX, i32::MIN, 16777217, -16777219, 65536], exact);
    each([0, 1, -1, i64::MAX, i64::MIN, (1 << 53) + 1, -(1 << 40) - 1, 1 << 32], exact);
    each([0, 1, 2, 127, 128, 200, 254, 255u8], exact);
    each([0, 1, 2, 255, 256, 32768, 65534, 65535u16], exact);
    each([0, 1, 2, 65536, 16777217, 1 << 31, u32::MAX - 1, u32::MAX], exact);
    each([0, 1, 2, (1 << 53) + 1, 1 << 63, (1 << 63) + 1025, u64::MAX - 1, u64::MAX], exact);
}

macro_rules! to_integers {
    ($($int:ident)+) => {$(
        #[test]
        fn $int() {
            assert_floats_to::<$int>(|x| x as $int);
            assert_ints_to::<$int>(|x| x as $int);
        }
    )+};
}

/// burn-flex converts some of these dtypes through i64; elsewhere it follows `as`, which is the definition here.
mod to {
    use super::*;

    to_integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

    #[test]
    fn f32() {
        assert_ints_to::<f32>(|x| x as f32);
    }

    #[test]
    fn sixteen_bit_floats() {
        // By way of f32, which rounds twice.
        assert_ints_to::<f16>(|x| f16::from_f32(x as f32));
        assert_ints_to::<bf16>(|x| bf16::from_f32(x as f32));
    }
}

#[test]
fn anything_but_zero_is_true() {
    let device = Default::default();
    for dtype in FLOATS {
        let numbers = data(&[0.0, -0.0, 6e-8, -1.0, 256.0, f64::INFINITY, f64::NAN]).convert_dtype(dtype);
        let nonzero: Vec<bool> = numbers.iter::<f64>().map(|x| x != 0.0).collect();
        let found = || Tensor::<MpsGraph, 1>::from_data(numbers.clone(), (&device, dtype)).bool().into_data();
        assert_gives(&format!("{dtype:?} to bool"), &data(&nonzero), found, Exact);
    }
    let found = || {
        Tensor::<MpsGraph, 1, Int>::from_data(data(&[0i64, 256, 1 << 32, i64::MIN]), (&device, DType::I64))
            .bool()
            .into_data()
    };
    assert_gives("I64 to bool", &data(&[false, true, true, true]), found, Exact);
}

#[test]
fn to_the_own_dtype_changes_nothing() {
    let device = Default::default();
    let bits = data(&[f32::from_bits(1), f32::MAX, f32::MIN_POSITIVE, -0.0]);
    let found = || Tensor::<MpsGraph, 1>::from_data(bits.clone(), &device).cast(FloatDType::F32).into_data();
    assert_gives("f32 to f32", &bits, found, Exact);
    let bools = || Tensor::<MpsGraph, 1, Bool>::from_data(data(&[true, false]), &device).into_data();
    assert_gives("bool", &data(&[true, false]), bools, Exact);
}

#[test]
fn narrowing_rounds_to_even_and_overflows_to_infinity() {
    let device = Default::default();
    let numbers = [
        65504.0,
        65519.0,
        65520.0,
        -65520.0,
        1.0 + 4096.0 * f32::EPSILON,
        1.0 + 12288.0 * f32::EPSILON,
        2.9802322e-8,
        3.0e-8,
        1e-10,
    ];
    let expected: Vec<f16> = numbers.iter().map(|&x| f16::from_f32(x)).collect();
    let tensor = || Tensor::<MpsGraph, 1>::from_floats(numbers, &device);
    assert_gives("f32 to f16", &data(&expected), || tensor().cast(FloatDType::F16).into_data(), Exact);
    let expected: Vec<bf16> = numbers.iter().map(|&x| bf16::from_f32(x)).collect();
    assert_gives("f32 to bf16", &data(&expected), || tensor().cast(FloatDType::BF16).into_data(), Exact);
    let wide =
        || Tensor::<MpsGraph, 1>::from_data(data(&[bf16::MAX, bf16::MIN, bf16::from_f32(1.5)]), (&device, DType::BF16));
    let expected = data(&[f16::INFINITY, f16::NEG_INFINITY, f16::from_f32(1.5)]);
    assert_gives("bf16 to f16", &expected, || wide().cast(FloatDType::F16).into_data(), Exact);
}

/// What the first cast loses stays lost, and a chain is one program.
#[test]
fn casts_of_casts() {
    let x = || Tensor::<MpsGraph, 1>::from_data([1.001f32, -2.7, 300.4, 3e9], &Default::default());
    let back = |to: FloatDType| move || x().cast(to).cast(FloatDType::F32).into_data();
    let rounded = [1.001f32, -2.7, 300.4, 3e9].map(|x| bf16::from_f32(x).to_f32());
    assert_gives("by way of bf16", &TensorData::from(rounded), back(FloatDType::BF16), Exact);
    let rounded = [1.001f32, -2.7, 300.4, 3e9].map(|x| f16::from_f32(x).to_f32());
    assert_gives("by way of f16", &TensorData::from(rounded), back(FloatDType::F16), Exact);
    let through = |to: IntDType| move || x().cast(to).cast(FloatDType::F32).into_data();
    assert_gives("i32", &TensorData::from([1.0f32, -2.0, 300.0, 2147483648.0]), through(IntDType::I32), Exact);
    assert_gives("i64", &TensorData::from([1.0f32, -2.0, 300.0, 3e9]), through(IntDType::I64), Exact);
    assert_gives("u8", &TensorData::from([1.0f32, 0.0, 255.0, 255.0]), through(IntDType::U8), Exact);
    assert_gives("i8", &TensorData::from([1.0f32, -2.0, 127.0, 127.0]), through(IntDType::I8), Exact);
    assert_gives("u32", &TensorData::from([1.0f32, 0.0, 300.0, 3e9]), through(IntDType::U32), Exact);
    let numbers = [5i64, -1, (1 << 40) + 7, -(1 << 31) - 1];
    let wide = || Tensor::<MpsGraph, 1, Int>::from_data(numbers, (&Default::default(), DType::I64));
    let through = |to: IntDType| move || wide().cast(to).cast(IntDType::I64).into_data();
    assert_gives("i32", &TensorData::from([5i64, -1, 7, (1 << 31) - 1]), through(IntDType::I32), Exact);
    assert_gives("u32", &TensorData::from([5i64, (1 << 32) - 1, 7, (1 << 31) - 1]), through(IntDType::U32), Exact);
    assert_gives("u16", &TensorData::from([5i64, 65535, 7, 65535]), through(IntDType::U16), Exact);
    assert_gives("i8", &TensorData::from([5i64, -1, 7, -1]), through(IntDType::I8), Exact);
    // Integers that floats do not hold, and what is bounded or wraps before another op widens it.
    let by_float = |to: FloatDType| move || wide().cast(to).cast(FloatDType::F32).into_data();
    let rounded = numbers.map(|x| bf16::from_f32(x as f32).to_f32());
    assert_gives("bf16", &TensorData::from(rounded), by_float(FloatDType::BF16), Exact);
    let rounded = [5.0f32, -1.0, f32::INFINITY, f32::NEG_INFINITY];
    assert_gives("f16", &TensorData::from(rounded), by_float(FloatDType::F16), Exact);
    let exact = numbers.map(|x| x as f32 as i64);
    let back = || wide().cast(FloatDType::F32).cast(IntDType::I64).into_data();
    assert_gives("f32", &TensorData::from(exact), back, Exact);
    let quarter = || (x() * 2.0).cast(IntDType::U32).div_scalar(4).cast(IntDType::I64).into_data();
    assert_gives("u32 / 4", &TensorData::from([0i64, 0, 150, i64::from(u32::MAX / 4)]), quarter, Exact);
    let squares = || {
        let x = Tensor::<MpsGraph, 2, Int>::from_data([[200i64, 100]], (&Default::default(), DType::U8));
        x.clone().matmul(x.transpose()).cast(FloatDType::F32).into_data()
    };
    assert_gives("a product of u8", &TensorData::from([[80.0f32]]), squares, Exact);
}

#[test]
fn casts_of_floats_by_way_of_integers() {
    /// Compares the casts by way of each integer dtype to `To` with `as`.
    macro_rules! by_way_of {
        ($To:ident: $($by:ident)+) => {{
            let numbers = [0.5, -1.9, 255.9, -129.0, 65537.0, 3e9, -3e9, 1.3e10, 1e19, 3e38, f32::INFINITY, f32::NAN];
            let x = || Tensor::<MpsGraph, 1>::from_floats(numbers, &Default::default());
            $(
                let found = || x().cast(IntDType::from($by::dtype())).cast(IntDType::from($To::dtype())).into_data();
                let name = concat!(stringify!($by), " to ", stringify!($To));
                assert_gives(name, &data(&numbers.map(|x| x as $by as $To)), found, Exact);
            )+
        }};
    }
    macro_rules! to_each {
        ($($To:ident)+) => { $(by_way_of! { $To: i8 i16 i32 i64 u8 u16 u32 u64 })+ };
    }
    to_each! { i8 i16 i32 i64 u8 u16 u32 u64 }
}

/// A mean of integers widens them.
#[test]
fn means_of_casts() {
    let wide = || Tensor::<MpsGraph, 2, Int>::from_data([[(1i64 << 32) + 1, 3]], (&Default::default(), DType::I64));
    let floats = || Tensor::<MpsGraph, 2>::from_data([[3e9f32, 3e9]], &Default::default());
    let largest = TensorData::from([[i32::MAX]]);
    let mean = || wide().cast(IntDType::I32).mean_dim(1).into_data();
    assert_gives("of i64 as i32", &TensorData::from([[2i32]]), mean, Exact);
    let moved = || wide().cast(IntDType::I32).flip([1]).transpose().mean_dim(0).into_data();
    assert_gives("of i64 as i32, moved", &TensorData::from([[2i32]]), moved, Exact);
    let whole = || wide().cast(IntDType::I32).mean().into_data();
    assert_gives("of all", &TensorData::from([2i32]), whole, Exact);
    let mean = || floats().int().cast(IntDType::I32).mean_dim(1).into_data();
    assert_gives("of floats as i32", &largest, mean, Exact);
    let mean = || wide().cast(IntDType::U32).mean_dim(1).into_data();
    assert_gives("of i64 as u32", &TensorData::from([[2u32]]), mean, Exact);
    let mean = || wide().cast(IntDType::I16).mean_dim(1).into_data();
    assert_gives("of i64 as i16", &TensorData::from([[2i16]]), mean, Exact);
}

/// What computes 16-bit floats in f32 reads them as the cast rounded them.
#[test]
fn functions_of_casts_to_16_bits() {
    let numbers = [[[[-39_700_552i32, 257], [1_001, -3_333]]]];
    let fed = |dtype| {
        let rounded = TensorData::from(numbers).convert_dtype(DType::F32).convert_dtype(dtype);
        Tensor::<MpsGraph, 4>::from_data(rounded, (&Default::default(), dtype))
    };
    let cast = |to| Tensor::<MpsGraph, 4, Int>::from_data(numbers, &Default::default()).cast(to);
    type Function = fn(Tensor<MpsGraph, 4>) -> Tensor<MpsGraph, 4>;
    let functions: &[(&str, Function)] = &[
        ("prelu", |x| prelu(x.clone(), (x.ones_like() * 0.574).slice([0..1, 0..1, 0..1, 0..1]).reshape([1]))),
        ("hard sigmoid", |x| hard_sigmoid(x, 1e-4, 0.5)),
        ("log1p", |x| x.log1p()),
        ("power", |x| x.powf_scalar(1.5)),
        ("remainder", |x| x.remainder_scalar(7)),
        ("softmax", |x| softmax(x / 1024, 3)),
        ("sum", |x| x.sum_dim(3)),
        ("maximum", |x| x.max_dim(3)),
        ("running sum", |x| x.cumsum(3)),
        ("pooling", |x| avg_pool2d(x, [1, 2], [1, 1], [0, 0], true, false)),
        ("product", |x| x.clone().matmul(x / 1024)),
        ("interpolation", |x| interpolate(x, [3, 3], InterpolateOptions::new(InterpolateMode::Bilinear))),
        ("sum of moved", |x| x.flip([3]).swap_dims(2, 3).sum_dim(3)),
    ];
    for dtype in [FloatDType::BF16, FloatDType::F16] {
        for (name, function) in functions {
            let expected = eagerly(|| function(fed(dtype.into())).into_data());
            assert_gives(&format!("{name} of {dtype:?}"), &expected, || function(cast(dtype)).into_data(), Exact);
        }
    }
}
