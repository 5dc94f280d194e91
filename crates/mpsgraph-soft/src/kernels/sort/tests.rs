//! Sorts against the standard library's, along any axis and of any length.

use super::*;
use bytemuck::{Pod, cast_slice};

fn sorted<K: Key, T: Pod>(dtype: DType, x: &[T], shape: &[usize], axis: usize, descending: bool) -> Vec<T> {
    let sort = Sort { axis, descending };
    let mut out = x.to_vec();
    let mut scratch = [x, x].concat();
    sort.sort::<K>((cast_slice(x), shape), dtype, cast_slice_mut(&mut out), cast_slice_mut(&mut scratch));
    out
}

/// Numbers in no order, some of them twice.
fn mixed(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|i| (i / 3 * 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i % 3))
}

#[test]
fn rows_along_any_axis() {
    let x = [3, 1, 2, -1, 5, 0];
    assert_eq!(sorted::<u32, i32>(DType::I32, &x, &[2, 3], 1, false), [1, 2, 3, -1, 0, 5]);
    assert_eq!(sorted::<u32, i32>(DType::I32, &x, &[2, 3], 1, true), [3, 2, 1, 5, 0, -1]);
    assert_eq!(sorted::<u32, i32>(DType::I32, &x, &[2, 3], 0, false), [-1, 1, 0, 3, 5, 2]);
    assert_eq!(sorted::<u32, i32>(DType::I32, &x, &[1, 6, 1], 1, true), [5, 3, 2, 1, 0, -1]);
    assert_eq!(sorted::<u32, i32>(DType::I32, &x, &[1, 3, 2], 1, true), [5, 1, 3, 0, 2, -1]);
}

#[test]
fn floats_by_sign_and_magnitude() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = [1.0, nan, -0.0, inf, 1e-40, 0.0, -nan, -inf, -2.0];
    let up = [-nan, -inf, -2.0, -0.0, 0.0, 1e-40, 1.0, inf, nan].map(f32::to_bits);
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(sorted::<u32, f32>(DType::F32, &x, &[9], 0, false)), up);
    let down: Vec<u32> = up.into_iter().rev().collect();
    assert_eq!(bits(sorted::<u32, f32>(DType::F32, &x, &[9], 0, true)), down);
}

#[test]
fn half_floats() {
    let x = [1.5f32, -2.0, 0.25, 65_504.0, -0.5].map(half::f16::from_f32);
    let expected = [-2.0f32, -0.5, 0.25, 1.5, 65_504.0].map(half::f16::from_f32);
    assert_eq!(sorted::<u16, half::f16>(DType::F16, &x, &[5], 0, false), expected);
}

/// Every path: short rows, digits of 8 and 11 bits, rows in pieces, many rows, another axis.
#[test]
fn rows_of_any_length() {
    for shape in [[1, 2], [3, 255], [2, 257], [1, 20_000], [700, 130], [2, 40_000], [1, 300_001]] {
        let [rows, extent] = shape;
        let x: Vec<i64> = mixed(rows * extent).map(|x| x as i64).collect();
        let narrow: Vec<i32> = x.iter().map(|&x| (x >> 9) as i32).collect();
        let (mut up, mut turned) = (x.clone(), narrow.clone());
        up.chunks_mut(extent).for_each(<[i64]>::sort);
        assert!(sorted::<u64, i64>(DType::I64, &x, &shape, 1, false) == up, "{shape:?}");
        turned.chunks_mut(extent).for_each(|row| row.sort_by(|a, b| b.cmp(a)));
        assert!(sorted::<u32, i32>(DType::I32, &narrow, &shape, 1, true) == turned, "{shape:?} down");
        let columns: Vec<i32> = (0..rows * extent).map(|i| narrow[i % rows * extent + i / rows]).collect();
        let expected: Vec<i32> = (0..rows * extent).map(|i| turned[i % rows * extent + i / rows]).collect();
        assert!(
            sorted::<u32, i32>(DType::I32, &columns, &[extent, rows], 0, true) == expected,
            "{shape:?} along the first"
        );
    }
}

/// Keys with their position below them, which are in order by the position.
#[test]
fn keys_above_positions() {
    for (extent, bits) in [(1000, 10), (70_000, 17), (300_000, 19)] {
        let x: Vec<i32> = mixed(extent).enumerate().map(|(i, x)| ((x as i32) << bits) | i as i32).collect();
        let mut expected = x.clone();
        expected.sort();
        assert!(sorted::<u32, i32>(DType::I32, &x, &[extent], 0, false) == expected, "{extent}");
        assert!(sorted::<u32, i32>(DType::I32, &expected, &[extent], 0, false) == expected, "{extent} in order");
    }
}

/// 64-bit integers that are near each other and such that are not, with and without a sign.
#[test]
fn integers_of_64_bits() {
    for shift in [0, 20, 40] {
        let x: Vec<i64> = mixed(5000).map(|x| x.cast_signed() >> shift).collect();
        let bits: Vec<u64> = x.iter().map(|x| x.cast_unsigned()).collect();
        let (mut down, mut up) = (x.clone(), bits.clone());
        down.chunks_mut(50).for_each(|row| row.sort_by(|a, b| b.cmp(a)));
        up.chunks_mut(50).for_each(<[u64]>::sort);
        assert!(sorted::<u64, i64>(DType::I64, &x, &[100, 50], 1, true) == down, "{shift}");
        assert!(sorted::<u64, u64>(DType::U64, &bits, &[100, 50], 1, false) == up, "{shift}, without a sign");
    }
}

#[test]
fn all_the_same() {
    assert_eq!(sorted::<u32, i32>(DType::I32, &[7; 1000], &[1000], 0, false), [7; 1000]);
}

#[test]
fn short_rows_of_any_length() {
    for extent in 1..=network::LONGEST + 1 {
        for rows in [1, 16, 37] {
            let mut keys: Vec<u32> = mixed(rows * extent).map(|key| key as u32 % 50).collect();
            let mut expected = keys.clone();
            expected.chunks_mut(extent).for_each(|row| row.sort_unstable());
            let mut scratch = keys.clone();
            sort_keys(&mut keys, &mut scratch, extent, 1);
            assert_eq!(keys, expected, "{rows} rows of {extent}");
        }
    }
}

/// In order or in the opposite order, with equal keys.
#[test]
fn rows_that_are_in_some_order() {
    for extent in [2, 100, 256, 300, 20_000, 100_000] {
        for rows in [1, 3, 7, 20] {
            let x: Vec<i32> = (0..rows * extent).map(|at| (at % extent / 3) as i32 - 1000).collect();
            let down: Vec<i32> = x.chunks(extent).flat_map(|row| row.iter().rev().copied()).collect();
            for x_or_down in [&x, &down] {
                assert!(sorted::<u32, i32>(DType::I32, x_or_down, &[rows, extent], 1, false) == x, "{rows} {extent}");
                assert!(sorted::<u32, i32>(DType::I32, x_or_down, &[rows, extent], 1, true) == down, "{rows} {extent}");
            }
            let wide = |x: &[i32]| x.iter().map(|&x| i64::from(x) << 30).collect::<Vec<_>>();
            assert!(sorted::<u64, i64>(DType::I64, &wide(&down), &[rows, extent], 1, false) == wide(&x));
            let mut mostly = x.clone();
            mostly.swap(0, extent - 1);
            assert!(sorted::<u32, i32>(DType::I32, &mostly, &[rows, extent], 1, false) == x, "{rows} {extent}");
        }
    }
}
