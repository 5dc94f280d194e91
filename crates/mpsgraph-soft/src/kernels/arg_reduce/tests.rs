//! Positions against a search one element at a time.

use super::*;
use crate::kernels::element::Element;

fn naive(extreme: Extreme, nan: NanRule, mut x: impl Iterator<Item = f64> + Clone) -> i32 {
    if let Some(at) = x.clone().position(|x| nan == NanRule::First && x.is_nan()) {
        return at as i32;
    }
    let mut found: Option<(i32, f64)> = None;
    for (at, x) in x.by_ref().enumerate().filter(|(_, x)| !x.is_nan()) {
        if found.is_none_or(|(_, best)| if extreme == Extreme::Largest { x > best } else { x < best }) {
            found = Some((at as i32, x));
        }
    }
    found.map_or(-1, |(at, _)| at)
}

fn compare<T: Element>(dtype: DType, shape: [usize; 3], x: &[T], value: impl Fn(T) -> f64) {
    let strides = [shape[1] * shape[2], shape[2], 1];
    for axis in 0..3 {
        let rules = [Extreme::Largest, Extreme::Smallest]
            .map(|extreme| [NanRule::Skip, NanRule::First].map(|nan| (extreme, nan)));
        for (extreme, nan) in rules.into_iter().flatten() {
            if nan == NanRule::First && dtype != DType::F32 {
                continue;
            }
            let mut out = vec![7; x.len() / shape[axis]];
            ArgReduce { extreme, nan, axis }.execute(dtype, (cast_slice(x), &shape), &mut out);
            for (at, &out) in out.iter().enumerate() {
                let (outer, inner) = (at / strides[axis], at % strides[axis]);
                let first = outer * strides[axis] * shape[axis] + inner;
                let along = (0..shape[axis]).map(|i| value(x[first + i * strides[axis]]));
                assert_eq!(
                    out,
                    naive(extreme, nan, along),
                    "{dtype:?} {shape:?} axis {axis} at {at}, {extreme:?}, NaN: {nan:?}"
                );
            }
        }
    }
}

#[test]
fn sizes_ties_and_nan() {
    for extent in (1..=20).chain([31, 32, 33, 64, 100, 300]) {
        let shape = [3, extent, 5];
        let n = 15 * extent;
        let few = |i: usize| (i * 7919 % 13) as f32 - 6.0;
        compare::<f32>(DType::F32, shape, &(0..n).map(few).collect::<Vec<_>>(), f64::from);
        let holes: Vec<f32> = (0..n).map(|i| if i % 3 == 0 { f32::NAN } else { few(i) }).collect();
        compare::<f32>(DType::F32, shape, &holes, f64::from);
        let shape = [extent, 2, extent];
        let n = extent * extent * 2;
        let wide: Vec<i64> = (0..n as i64).map(|i| (i * 7919 % 1_000_003 - 500_000) << 30).collect();
        compare::<i64>(DType::I64, shape, &wide, |x| x as f64);
        let bytes: Vec<u8> = (0..n).map(|i| (i * 31) as u8).collect();
        compare::<u8>(DType::U8, shape, &bytes, f64::from);
    }
}

#[test]
fn extremes_that_equal_the_start() {
    for x in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN] {
        for shape in [[2, 50, 1], [2, 50, 3]] {
            compare::<f32>(DType::F32, shape, &vec![x; shape.iter().product()], f64::from);
            let mut late = vec![f32::NAN; shape.iter().product()];
            late[40 * shape[2]] = x;
            compare::<f32>(DType::F32, shape, &late, f64::from);
        }
    }
    compare::<i8>(DType::I8, [1, 40, 2], &[i8::MIN; 80], f64::from);
    compare::<f32>(DType::F32, [1, 40, 2], &[f32::NAN; 80], f64::from);
}

/// Numbers around both ends of each type and around zero, where signs decide.
#[test]
fn integers_with_and_without_a_sign() {
    macro_rules! integers {
        ($($t:ident $dtype:ident)*) => {$(
            let ends = [$t::MAX / 2, 0, $t::MAX, $t::MIN, $t::MIN / 2, 1, !0, $t::MAX / 4];
            for shape in [[1, 9, 40], [5, 70, 1], [3, 8, 7], [1, 1000, 1]] {
                let n = shape.iter().product::<usize>();
                let x: Vec<$t> = (0..n).map(|i| ends[i * 7919 % 61 % 8]).collect();
                compare::<$t>(DType::$dtype, shape, &x, |x| x as f64);
            }
        )*};
    }
    integers!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32);
}

/// Zeros of both signs are equal, and all NaN are alike, whatever their sign and their other bits.
#[test]
fn zeros_and_nan_of_both_signs() {
    let nan = f32::from_bits(0xffc1_2345);
    for ends in [[0.0, -0.0, 0.0, -0.0], [-1.0, -0.0, 0.0, nan], [f32::MIN_POSITIVE / 2.0, -0.0, 0.0, -nan]] {
        for shape in [[3, 5, 1], [40, 20, 1], [2, 70, 1], [3, 9, 40], [20, 8, 3]] {
            let x: Vec<f32> = (0..shape.iter().product()).map(|i: usize| ends[i * 7919 % 61 % 4]).collect();
            compare::<f32>(DType::F32, shape, &x, f64::from);
        }
    }
}

#[test]
fn short_rows_and_narrow_columns() {
    for rows in [1, 15, 16, 17, 35, 64] {
        for extent in [1, 2, 3, 4, 7, 8, 19, 20, 31, 32] {
            let n = rows * extent;
            let few = |i: usize| (i * 7919 % 11) as f32 - 5.0;
            let holes = |i: usize| [f32::NAN, f32::NEG_INFINITY, few(i), f32::INFINITY][i * 31 % 4];
            for x in [(0..n).map(few).collect::<Vec<_>>(), (0..n).map(holes).collect(), vec![f32::NAN; n]] {
                compare::<f32>(DType::F32, [1, rows, extent], &x, f64::from);
                compare::<f32>(DType::F32, [1, extent, rows], &x, f64::from);
            }
            let small: Vec<i8> = (0..n).map(|i| [i8::MIN, i8::MAX, (i * 37) as i8][i / 3 % 3]).collect();
            compare::<i8>(DType::I8, [1, rows, extent], &small, f64::from);
            compare::<i8>(DType::I8, [1, extent, rows], &small, f64::from);
        }
    }
}

#[test]
fn narrow_blocks() {
    for [blocks, extent, inner] in [[1, 2, 2], [9, 3, 4], [40, 2, 2], [17, 31, 3], [5, 32, 3], [6, 7, 15], [6, 7, 16]] {
        let x = |i: usize| [f32::NAN, (i * 7919 % 5) as f32, -1.0, f32::NEG_INFINITY][i * 31 % 4];
        let n = blocks * extent * inner;
        compare::<f32>(DType::F32, [blocks, extent, inner], &(0..n).map(x).collect::<Vec<_>>(), f64::from);
        let bytes: Vec<u8> = (0..n).map(|i| (i * 37 % 7) as u8).collect();
        compare::<u8>(DType::U8, [blocks, extent, inner], &bytes, f64::from);
    }
}

/// Parts are searched by several threads: equals, NaN and infinities in one part or another.
#[test]
fn one_long_row() {
    const COUNT: usize = 300_007;
    let few = |i: usize| (i * 7919 % 1009) as f32;
    let mut x: Vec<f32> = (0..COUNT).map(few).collect();
    compare::<f32>(DType::F32, [1, COUNT, 1], &x, f64::from);
    for (at, value) in [(290_000, 2000.0), (130_000, 2000.0), (250_000, f32::NAN), (16_384, f32::NEG_INFINITY)] {
        x[at] = value;
        compare::<f32>(DType::F32, [1, COUNT, 1], &x, f64::from);
    }
    x[..200_000].fill(f32::NAN);
    compare::<f32>(DType::F32, [1, COUNT, 1], &x, f64::from);
    x.fill(f32::NAN);
    compare::<f32>(DType::F32, [1, COUNT, 1], &x, f64::from);
    x[299_999] = f32::NEG_INFINITY;
    compare::<f32>(DType::F32, [1, COUNT, 1], &x, f64::from);
    let bytes: Vec<u8> = (0..COUNT).map(|i| (i / 1000 * 7 % 251) as u8).collect();
    compare::<u8>(DType::U8, [1, COUNT, 1], &bytes, f64::from);
}

#[test]
fn large() {
    let x: Vec<f32> = (0..600 * 700_i64).map(|i| (i * 7919 % 100_003) as f32).collect();
    compare::<f32>(DType::F32, [1, 600, 700], &x, f64::from);
    compare::<f32>(DType::F32, [600, 700, 1], &x, f64::from);
    compare::<f32>(DType::F32, [600, 7, 100], &x, f64::from);
}
