//! Every integer dtype against Rust's own integers, at each pair of its extremes: burn-flex computes most of them as
//! i64, which itself overflows.

use burn::tensor::{DType, Element, ElementConversion, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;

use crate::compare::assert_gives;

type Ints = Tensor<MpsGraph, 1, Int>;

/// What the macro below needs of an integer besides its methods, which do not belong to a trait.
trait Integer: Element + Copy + PartialEq {
    /// The values of which each pair is tried.
    fn edges() -> Vec<Self>;
}

fn tensor<T: Integer>(values: &[T]) -> Ints {
    Tensor::from_data(TensorData::from(values), (&Default::default(), T::dtype()))
}

/// Compares `function` with `exact` at each pair of edges for which `exact` has an answer.
#[track_caller]
fn assert_pairs<T: Integer>(name: &str, function: fn(Ints, Ints) -> Ints, exact: impl Fn(T, T) -> Option<T>) {
    let (mut left, mut right, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for a in T::edges() {
        for b in T::edges() {
            if let Some(value) = exact(a, b) {
                left.push(a);
                right.push(b);
                expected.push(value);
            }
        }
    }
    let found = || function(tensor(&left), tensor(&right)).into_data();
    let what = format!("{name} of {:?}: {left:?} and {right:?}", T::dtype());
    assert_gives(&what, &TensorData::from(expected.as_slice()), found, Exact);
}

/// Compares `function` with `exact` at each edge.
#[track_caller]
fn assert_each<T: Integer>(name: &str, function: fn(Ints) -> Ints, exact: impl Fn(T) -> T) {
    let expected: Vec<T> = T::edges().into_iter().map(exact).collect();
    let found = || function(tensor(&T::edges())).into_data();
    assert_gives(&format!("{name} of {:?}", T::dtype()), &TensorData::from(expected.as_slice()), found, Exact);
}

macro_rules! dtypes {
    ($($int:ident $signed:literal)+) => {$(
        impl Integer for $int {
            fn edges() -> Vec<$int> {
                let middle = $int::MAX / 2 + 1;
                let mut edges = vec![0, 1, 2, 3, 7, $int::MAX, $int::MAX - 1, middle, $int::MIN, $int::MIN + 1];
                if $signed {
                    edges.extend([1, 2, 7].map(|x: $int| x.wrapping_neg()));
                }
                edges
            }
        }

        mod $int {
            use super::*;

            #[test]
            fn arithmetic_wraps_around() {
                assert_pairs("add", |a, b| a + b, |a: $int, b| Some(a.wrapping_add(b)));
                assert_pairs("sub", |a, b| a - b, |a: $int, b| Some(a.wrapping_sub(b)));
                assert_pairs("mul", |a, b| a * b, |a: $int, b| Some(a.wrapping_mul(b)));
                assert_each("neg", |x| -x, |x: $int| x.wrapping_neg());
                assert_each("abs", Tensor::abs, |x: $int| if x < 1 { x.wrapping_neg() } else { x });
                // -1 is all bits set.
                let sign = |x: $int| if x > 0 { 1 } else if x == 0 { 0 } else { !0 };
                assert_each("sign", Tensor::sign, sign);
            }

            #[test]
            fn quotients_are_truncated_and_remainders_have_the_divisors_sign() {
                // The result of a division by zero is undefined; the next test checks that it does not change other
                // elements.
                let defined = |b: $int| b != 0;
                assert_pairs("div", |a, b| a / b, |a: $int, b| defined(b).then(|| a.wrapping_div(b)));
                assert_pairs("remainder", Tensor::remainder, |a: $int, b| {
                    defined(b).then(|| {
                        let rest = a.wrapping_rem(b);
                        if rest != 0 && (rest < 1) != (b < 1) { rest.wrapping_add(b) } else { rest }
                    })
                });
            }

            #[test]
            fn division_by_zero_is_no_failure() {
                let (a, b) = ([9 as $int, 9, 9], [2 as $int, 0, 4]);
                for function in [|a: Ints, b| a / b, |a: Ints, b| a.remainder(b)] {
                    let data = function(tensor(&a), tensor(&b)).into_data();
                    let found = data.to_vec::<$int>().unwrap();
                    assert!([found[0], found[2]] == [4, 2] || [found[0], found[2]] == [1, 1], "{found:?}");
                }
            }

            #[test]
            fn bits_and_shifts_are_those_of_rust() {
                assert_pairs("bitwise_and", Tensor::bitwise_and, |a: $int, b| Some(a & b));
                assert_pairs("bitwise_or", Tensor::bitwise_or, |a: $int, b| Some(a | b));
                assert_pairs("bitwise_xor", Tensor::bitwise_xor, |a: $int, b| Some(a ^ b));
                assert_each("bitwise_not", Tensor::bitwise_not, |a: $int| !a);
                // Counts up to the width; right shifts of signed integers copy the sign, of unsigned ones do not.
                let count = |b: $int| u32::try_from(b).ok().filter(|&b| b < $int::BITS);
                assert_pairs("left_shift", Tensor::bitwise_left_shift, |a: $int, b| Some(a << count(b)?));
                assert_pairs("right_shift", Tensor::bitwise_right_shift, |a: $int, b| Some(a >> count(b)?));
            }

            #[test]
            fn shifts_by_each_count_are_exact() {
                let mut numbers = $int::edges();
                // Bits that alternate.
                numbers.extend([$int::MAX / 3, $int::MAX / 3 * 2].into_iter().flat_map(|x| [x, !x]));
                for count in 0..$int::BITS {
                    let counts = || tensor(&vec![count as $int; numbers.len()]);
                    let left: Vec<$int> = numbers.iter().map(|x| x << count).collect();
                    let found = || tensor(&numbers).bitwise_left_shift(counts()).into_data();
                    assert_gives(&format!("left by {count}"), &TensorData::from(&left[..]), found, Exact);
                    let right: Vec<$int> = numbers.iter().map(|x| x >> count).collect();
                    let found = || tensor(&numbers).bitwise_right_shift(counts()).into_data();
                    assert_gives(&format!("right by {count}"), &TensorData::from(&right[..]), found, Exact);
                }
                // By numbers up to 63, which shift all bits out of narrower dtypes.
                for count in 0..64 {
                    let left: Vec<$int> = numbers.iter().map(|x| x.checked_shl(count).unwrap_or(0)).collect();
                    let found = || tensor(&numbers).bitwise_left_shift_scalar(count.elem()).into_data();
                    assert_gives(&format!("left by the number {count}"), &TensorData::from(&left[..]), found, Exact);
                    let places = count.min($int::BITS);
                    let twice = |x: &$int| x >> (places / 2) >> places.div_ceil(2);
                    let right: Vec<$int> = numbers.iter().map(twice).collect();
                    let found = || tensor(&numbers).bitwise_right_shift_scalar(count.elem()).into_data();
                    assert_gives(&format!("right by the number {count}"), &TensorData::from(&right[..]), found, Exact);
                }
            }

            #[test]
            fn extremes_comparisons_and_bounds_are_exact() {
                assert_pairs("max_pair", Tensor::max_pair, |a: $int, b| Some(a.max(b)));
                assert_pairs("min_pair", Tensor::min_pair, |a: $int, b| Some(a.min(b)));
                assert_pairs("lower", |a, b| a.lower(b).int().cast($int::dtype()), |a: $int, b| Some((a < b).into()));
                assert_pairs("equal", |a, b| a.equal(b).int().cast($int::dtype()), |a: $int, b| Some((a == b).into()));
                assert_each("clamp", |x| x.clamp(1, 100), |x: $int| x.clamp(1, 100));
                // Bounds that the dtype does not have; Burn refuses negative ones of unsigned integers.
                const LOWEST: i64 = if $signed { i64::MIN } else { 0 };
                let at_most = |x: $int, high: i64| i128::from(x).min(high.into()) as $int;
                assert_each("clamp", |x| x.clamp(LOWEST.max(-300), 300), |x: $int| {
                    i128::from(x).clamp(LOWEST.max(-300).into(), 300) as $int
                });
                assert_each("clamp", |x| x.clamp(LOWEST, i64::MAX), |x: $int| at_most(x, i64::MAX));
                assert_each("clamp_min", |x| x.clamp_min(LOWEST), |x: $int| x);
                assert_each("clamp_max", |x| x.clamp_max(i64::MAX), |x: $int| at_most(x, i64::MAX));
                assert_each("clamp_max", |x| x.clamp_max(1e9), |x: $int| at_most(x, 1_000_000_000));
            }

            #[test]
            fn powers_wrap_around() {
                let exponent = |b: $int| u32::try_from(b).ok().filter(|&b| b < 8);
                assert_pairs("powi", Tensor::powi, |a: $int, b| Some(a.wrapping_pow(exponent(b)?)));
                assert_each("powi_scalar", |x| x.powi_scalar(5), |x: $int| x.wrapping_pow(5));
            }
        }
    )+};
}

dtypes! { i8 true i16 true i32 true i64 true u8 false u16 false u32 false u64 false }

#[test]
fn shift_counts_are_taken_modulo_64() {
    // As burn-flex, whose i64 takes them so, has it for the narrower dtypes; MPSGraph takes the dtype's width.
    let (a, counts) = (vec![-5i32; 4], [31, 32, 63, 64]);
    let left = || tensor(&a).bitwise_left_shift(tensor(&counts)).into_data();
    assert_gives("left_shift", &TensorData::from([i32::MIN, 0, 0, -5]), left, Exact);
    let right = || tensor(&a).bitwise_right_shift(tensor(&counts)).into_data();
    assert_gives("right_shift", &TensorData::from([-1, -1, -1, -5]), right, Exact);
}

#[test]
fn scalar_shift_counts_are_taken_modulo_64() {
    let a = [1_i64, -5, i64::MAX, i64::MIN, 1 << 31];
    for places in [0, 1, 31, 32, 40, 63, 64, 65] {
        let left = || tensor(&a).bitwise_left_shift_scalar(places.elem()).into_data();
        let expected = a.map(|a| a.wrapping_shl(places as u32));
        assert_gives(&format!("left by {places}"), &TensorData::from(expected), left, Exact);
        let right = || tensor(&a).bitwise_right_shift_scalar(places.elem()).into_data();
        let expected = a.map(|a| a.wrapping_shr(places as u32));
        assert_gives(&format!("right by {places}"), &TensorData::from(expected), right, Exact);
    }
}

#[test]
fn scalars_that_do_not_fit_wrap() {
    // burn-flex does the same for most dtypes by computing in i64.
    let ones = || Ints::ones([2], (&Default::default(), DType::I8));
    let add = || (ones() + 300).into_data();
    assert_gives("add_scalar", &TensorData::from([45i8; 2]), add, Exact);
    let full = || Ints::full([2], 300, (&Default::default(), DType::U8)).into_data();
    assert_gives("full", &TensorData::from([44u8; 2]), full, Exact);
}

#[test]
fn u64_scalars_are_exact() {
    let zeros = || Ints::zeros([1], (&Default::default(), DType::U64));
    let add = || (zeros() + (u64::MAX - 1)).into_data();
    assert_gives("add_scalar", &TensorData::from([u64::MAX - 1]), add, Exact);
}

/// Halves of 64 bits stand along an axis more than a tensor can have.
#[test]
fn bitwise_ops_take_64_bit_integers_of_all_axes() {
    let shape = [1, 2, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 2];
    let narrow = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2];
    let (left, right) = ([-1, i64::MAX, 1 << 40, -(1 << 40), 5, 0, 12, 77, -77, 1 << 62, 3, i64::MIN], [33, 2, 62, 7]);
    let of = |values: &[i64], shape: [usize; 16], dtype: DType| {
        Tensor::<MpsGraph, 16, Int>::from_data(
            TensorData::new(values.to_vec(), shape),
            (&Default::default(), DType::I64),
        )
        .cast(dtype)
    };
    type Exact64 = fn(i64, i64) -> i64;
    let each =
        |function: Exact64| -> Vec<i64> { (0..12).map(|at| function(left[at], right[at / 6 * 2 + at % 2])).collect() };
    type Function = fn(Tensor<MpsGraph, 16, Int>, Tensor<MpsGraph, 16, Int>) -> Tensor<MpsGraph, 16, Int>;
    let cases: [(&str, Function, Exact64, Exact64); 5] = [
        ("and", Tensor::bitwise_and, |a, b| a & b, |a, b| a & b),
        ("or", Tensor::bitwise_or, |a, b| a | b, |a, b| a | b),
        ("exclusive or", Tensor::bitwise_xor, |a, b| a ^ b, |a, b| a ^ b),
        ("left", Tensor::bitwise_left_shift, |a, b| a << b, |a, b| a << b),
        ("right", Tensor::bitwise_right_shift, |a, b| a >> b, |a, b| (a.cast_unsigned() >> b).cast_signed()),
    ];
    for (name, function, signed, unsigned) in cases {
        for (dtype, exact) in [(DType::I64, signed), (DType::U64, unsigned)] {
            let expected = TensorData::new(each(exact), shape);
            let found = || function(of(&left, shape, dtype), of(&right, narrow, dtype)).cast(DType::I64).into_data();
            assert_gives(&format!("{name} of {dtype:?}"), &expected, found, Exact);
        }
    }
    let one = |x: Tensor<MpsGraph, 16, Int>| x.bitwise_right_shift_scalar(3.elem()).into_data();
    let expected = TensorData::new(left.map(|a| a >> 3).to_vec(), shape);
    assert_gives("right by a number", &expected, || one(of(&left, shape, DType::I64)), Exact);
}

/// Integers take the exponent modulo 2^32.
#[test]
fn the_power_of_2_to_the_32_is_that_of_0() {
    let x = Ints::from_data([2, -3, 0], &Default::default());
    x.powi_scalar(1_i64 << 32).into_data().assert_eq(&TensorData::from([1, 1, 1]), true);
}
