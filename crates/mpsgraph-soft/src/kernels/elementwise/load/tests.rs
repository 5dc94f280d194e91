//! Merging of axes, and elements fetched through strides.

use super::*;

#[test]
fn neighbours_merge() {
    assert!(Geometry::new(0, &[2, 3, 4], &[12, 4, 1]).is_flat());
    assert!(Geometry::new(0, &[2, 1, 4], &[4, 99, 1]).is_flat());
    assert!(Geometry::new(0, &[2, 3], &[0, 0]).is_scalar());
    assert_eq!(Geometry::new(0, &[5, 2, 3], &[0, 3, 1]).period(), Some(6));
    assert_eq!(Geometry::new(0, &[2, 3], &[1, 2]).run(), 3);
}

#[test]
fn fetches_what_the_strides_say() {
    let data: Vec<u32> = (0..24).collect();
    // Axes [3, 2, 4] of the [2, 3, 4] data, the last one reversed.
    let view = Geometry::new(3, &[3, 2, 4], &[4, 12, -1]);
    let expected: Vec<u32> =
        (0..3).flat_map(|i| (0..2).flat_map(move |j| (0..4).map(move |k| j * 12 + i * 4 + 3 - k))).collect();
    for start in 0..24 {
        for n in 0..=24 - start {
            let mut buffer = vec![0u32; n];
            // SAFETY: `data` has `end()` elements and `buffer` has `n`.
            let got = unsafe {
                let at = view.fetch(4, data.as_ptr().cast(), start, n, buffer.as_mut_ptr().cast());
                std::slice::from_raw_parts(at.cast::<u32>(), n)
            };
            assert_eq!(got, &expected[start..start + n]);
        }
    }
    assert_eq!(view.end(), 24);
}
