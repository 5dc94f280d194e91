//! Orders against the standard library's stable sort.

use super::*;
use bytemuck::cast_slice;

fn order<T: Number + Ord>(x: &[T], extent: usize, sign: u64, descending: bool) -> Vec<i32> {
    let mut scratch = vec![0u64; 3 * x.len()];
    let mut out = vec![0; x.len()];
    let scratch: &mut [u8] = &mut cast_slice_mut(&mut scratch)[..20 * x.len()];
    Rows::new(Limits::of(x, sign, descending), extent).order(x, &mut out, scratch);
    out
}

/// The order that the standard library's stable sort gives.
fn expected<T: Copy, O: Ord>(x: &[T], extent: usize, descending: bool, key: impl Fn(T) -> O) -> Vec<i32> {
    let row = |row: &[T]| {
        let mut positions: Vec<i32> = (0..row.len() as i32).collect();
        positions.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|at| key(row[at as usize]));
            if descending { b.cmp(&a) } else { a.cmp(&b) }
        });
        positions
    };
    x.chunks(extent).flat_map(row).collect()
}

/// Numbers in no order, some of them twice, of which the highest bits are the sign's.
fn mixed(count: usize, shift: u32) -> Vec<i64> {
    let number = |i: u64| (i / 3 * 2).wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed() >> shift;
    (0..count as u64).map(number).collect()
}

/// Narrow and wide keys and two of them, in short rows, in long ones, and in rows that threads share.
#[test]
fn rows_of_any_length_and_range() {
    for [rows, extent] in [[1, 1], [1, 2], [3, 16], [40, 16], [1, 255], [7, 300], [300, 300], [2, 5000], [1, 90_001]] {
        for shift in [0, 8, 20, 33, 45, 60, 63] {
            let x = mixed(rows * extent, shift);
            let bits: &[u64] = cast_slice(&x);
            for descending in [false, true] {
                let case = format!("{rows} rows of {extent}, {shift} bits fewer, {descending}");
                let wanted = expected(&x, extent, descending, |x| x);
                assert!(order(bits, extent, SIGN, descending) == wanted, "{case}");
                let wanted = expected(bits, extent, descending, |x| x);
                assert!(order(bits, extent, 0, descending) == wanted, "{case}, without a sign");
                let narrow: Vec<i32> = x.iter().map(|&x| x as i32).collect();
                let wanted = expected(&narrow, extent, descending, |x| x);
                assert!(order(&narrow, extent, SIGN, descending) == wanted, "{case}, 32 bits");
            }
        }
    }
}

#[test]
fn extremes() {
    let x = [0, i64::MAX, i64::MIN, -1, i64::MIN, i64::MAX, 1, 0];
    let bits: &[u64] = cast_slice(&x);
    assert_eq!(order(bits, 8, SIGN, false), [2, 4, 3, 0, 7, 6, 1, 5]);
    assert_eq!(order(bits, 8, SIGN, true), [1, 5, 6, 0, 7, 3, 2, 4]);
    assert_eq!(order(bits, 8, 0, false), [0, 7, 6, 1, 5, 2, 4, 3]);
    assert_eq!(order(&[5, 5, 5], 3, SIGN, true), [0, 1, 2]);
}
