//! Blends against sums by their formula.

use super::*;

/// Rows of one element and of many, fewer and more than are summed side by side.
#[test]
fn sums_of_rows_by_the_formula() {
    let few = [[1, 3, 1, 1, 2], [2, 5, 1, 3, 40], [3, 4, 2, 2, 7], [2, 6, 13, 2, 3]];
    let many = [[2, 9, 33, 4, 5], [2, 6, 70, 2, 3], [3, 5, 150, 3, 4], [40, 60, 100, 2, 90]];
    for [outer, extent, inner, slots, count] in few.into_iter().chain(many) {
        let x: Vec<f32> = (0..outer * extent * inner).map(|i| (i * 37 % 101) as f32 / 7.0 - 5.0).collect();
        let indices: Vec<i32> = (0..slots * count).map(|i| (i * 5 % extent) as i32).collect();
        let weights: Vec<f32> = (0..slots * count).map(|i| (i * 11 % 13) as f32 / 3.0 - 1.0).collect();
        let mut out = vec![f32::NAN; outer * count * inner];
        let (parts, whole, x) = (1, slots, &x);
        Sums { parts, whole, x, extent, inner, slots, count, indices: &indices, weights: &weights }.all(&mut out);
        for (at, &got) in out.iter().enumerate() {
            let (image, place, lane) = (at / (count * inner), at / inner % count, at % inner);
            let term = |slot: usize| {
                let entry = slot * count + place;
                x[(image * extent + indices[entry] as usize) * inner + lane] * weights[entry]
            };
            let wanted = (0..slots).fold(0.0, |sum, slot| sum + term(slot));
            assert_eq!(got.to_bits(), wanted.to_bits(), "{outer} {extent} {inner} {slots} {count}: element {at}");
        }
    }
}
