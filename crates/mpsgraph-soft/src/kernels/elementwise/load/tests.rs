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

#[test]
fn runs_of_one_element() {
    let data: Vec<u16> = (0..40).collect();
    for run in [1, 2, 3, 4, 8, 16, 32, 33] {
        let view = Geometry::new(1, &[2, 5, run], &[20, 3, 0]);
        let expected: Vec<u16> = (0..10 * run).map(|at| (1 + at / run / 5 * 20 + at / run % 5 * 3) as u16).collect();
        for start in [0, 1, run - 1, 3 * run, 7 * run + 1] {
            let mut buffer = vec![0u16; 10 * run - start];
            // SAFETY: `data` has `end()` elements and `buffer` has as many as are asked for.
            let got = unsafe {
                let at = view.fetch(2, data.as_ptr().cast(), start, buffer.len(), buffer.as_mut_ptr().cast());
                std::slice::from_raw_parts(at.cast::<u16>(), buffer.len())
            };
            assert_eq!(got, &expected[start..], "runs of {run} from {start}");
        }
    }
}

/// Runs of windows and borders: short ones that follow each other, along up to four other axes, from the middle of a
/// run and of a group of runs on.
#[test]
fn groups_of_short_runs() {
    let data: Vec<u32> = (0..3000).collect();
    for run in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 32, 33] {
        for outer in [&[][..], &[3], &[2, 3], &[2, 1, 3, 2]] {
            let shape = [outer, &[2, run]].concat();
            let strides: Vec<isize> = [&[700, 350, 120, 40][..outer.len()], &[-37, 1]].concat();
            let view = Geometry::new(37, &shape, &strides);
            let all: usize = shape.iter().product();
            let expected: Vec<u32> = (0..all).map(|at| data[view.position(at) as usize]).collect();
            for (start, end) in [(0, all), (run / 2, all), (2 * run, all), (all / 3, all - 1)] {
                let mut buffer = vec![0u32; end - start];
                // SAFETY: `data` has `end()` elements and `buffer` has as many as are asked for.
                let got = unsafe {
                    let at = view.fetch(4, data.as_ptr().cast(), start, buffer.len(), buffer.as_mut_ptr().cast());
                    std::slice::from_raw_parts(at.cast::<u32>(), end - start)
                };
                assert_eq!(got, &expected[start..end], "{shape:?} from {start}");
            }
        }
    }
}

#[test]
fn every_second_element() {
    let data: Vec<u16> = (0..140).collect();
    for run in [1, 2, 3, 8, 9, 33, 70] {
        // The last element that is read is the last one there is.
        let view = Geometry::new(139 - 2 * (run - 1), &[run], &[2]);
        let mut buffer = vec![0u16; run];
        // SAFETY: `data` has `end()` elements and `buffer` has as many as are asked for.
        let got = unsafe {
            let at = view.fetch(2, data.as_ptr().cast(), 0, run, buffer.as_mut_ptr().cast());
            std::slice::from_raw_parts(at.cast::<u16>(), run)
        };
        assert!(got.iter().copied().eq((0..run as u16).map(|at| 141 - 2 * run as u16 + 2 * at)), "{run}: {got:?}");
    }
}
