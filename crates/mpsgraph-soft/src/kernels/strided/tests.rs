//! Strided copies against an element-by-element walk.

use super::*;
use crate::kernels::row_major::coordinates;

/// Row-major strides of `shape`.
fn packed(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// What `copy_bytes` promises, one element at a time.
fn naive(size: usize, shape: &[usize], (src, from): (&[u8], Strided<'_>), (dst, to): (&mut [u8], Strided<'_>)) {
    for flat in 0..shape.iter().product() {
        let at = coordinates(shape, flat);
        let place = |view: Strided<'_>| {
            let steps = at.iter().zip(view.strides).map(|(&at, &stride)| at as isize * stride);
            (view.offset as isize + steps.sum::<isize>()) as usize * size
        };
        dst[place(to)..][..size].copy_from_slice(&src[place(from)..][..size]);
    }
}

/// Bytes that repeat with a period no stride shares.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ (i / 251) as u8).collect()
}

/// Copies both ways and compares; each side has its number of elements and how the view lies among them.
fn compare(size: usize, shape: &[usize], (count, from): (usize, Strided<'_>), (room, to): (usize, Strided<'_>)) {
    let src = bytes(count * size);
    let (mut ours, mut theirs) = (vec![0xee; room * size], vec![0xee; room * size]);
    copy_bytes(size, shape, (&src, from), (&mut ours, to));
    naive(size, shape, (&src, from), (&mut theirs, to));
    assert!(ours == theirs, "{size} bytes, shape {shape:?}, from {from:?} to {to:?}");
}

/// The same to packed memory.
fn compare_packed(size: usize, shape: &[usize], from: (usize, Strided<'_>)) {
    compare(size, shape, from, (shape.iter().product(), Strided::new(&packed(shape))));
}

#[test]
fn transposes_of_every_small_size() {
    for size in [1, 2, 4, 8] {
        for rows in 1..=20 {
            for columns in 1..=20 {
                let n = rows * columns;
                compare_packed(size, &[columns, rows], (n, Strided::new(&[1, columns as isize])));
            }
        }
    }
}

#[test]
fn channels_apart_and_together() {
    for size in [1, 2, 4, 8] {
        for channels in 1..=17 {
            let stride = channels as isize;
            // The last is for several threads.
            for places in [1, 2, 15, 33, 301, 70_001 / channels] {
                let (n, far) = (channels * places, places as isize);
                compare_packed(size, &[places, channels], (n, Strided::new(&[1, far])));
                compare_packed(size, &[channels, places], (n, Strided::new(&[1, stride])));
            }
            // Backwards, between others, from between others, and as images.
            let (places, far) = (77, 80);
            let backward = Strided { offset: 16 * 80, strides: &[1, -far] };
            compare_packed(size, &[places, channels], (17 * 80, backward));
            let [wide, wider] = [stride + 2, stride + 3];
            let between = (80 * 20, Strided { offset: 1, strides: &[wider, 1] });
            compare(size, &[places, channels], (17 * 80, Strided::new(&[1, far])), between);
            let between = (80 * 20, Strided { offset: 1, strides: &[1, wide] });
            compare_packed(size, &[channels, places], between);
            let image = [3, 5, 7, channels];
            let [line, plane] = [7, 35];
            compare_packed(size, &image, (105 * channels, Strided::new(&[plane * stride, line, 1, plane])));
            let image = [3, channels, 5, 7];
            let strides = [plane * stride, 1, line * stride, stride];
            compare_packed(size, &image, (105 * channels, Strided::new(&strides)));
        }
    }
}

#[test]
fn short_rows() {
    for size in [1, 2, 4, 8] {
        for extent in (1..=9).chain([15, 16, 17, 31, 32, 33, 63, 64, 65]) {
            let row = extent as isize;
            // The last is for several threads.
            for rows in [1, 7, 280_001 / size / extent] {
                let n = rows * extent;
                let between = (rows * (extent + 3), Strided { offset: 2, strides: &[row + 3, 1] });
                compare(size, &[rows, extent], (n, Strided::new(&[row, 1])), between);
            }
            compare_packed(size, &[7, 2, extent], (7 * extent, Strided::new(&[row, 0, 1])));
        }
    }
}

#[test]
fn elements_that_repeat_a_few_times() {
    for size in [1, 2, 4, 8] {
        for times in 1..=6 {
            // As the pixels of images that grow, one of them large enough for several threads.
            for [lines, width] in [[3, 1], [2, 7], [300, 129]] {
                let shape = [lines, times, width, times];
                compare_packed(size, &shape, (lines * width, Strided::new(&[width as isize, 0, 1, 0])));
            }
        }
    }
}

#[test]
fn permutations_of_rank_4() {
    let shape = [3, 17, 5, 33];
    let strides = packed(&shape);
    for code in 0..256 {
        let perm = [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6];
        let mut seen = perm;
        seen.sort_unstable();
        if seen != [0, 1, 2, 3] {
            continue;
        }
        let out = perm.map(|axis| shape[axis]);
        let from = perm.map(|axis| strides[axis]);
        for size in [1, 4] {
            compare_packed(size, &out, (3 * 17 * 5 * 33, Strided::new(&from)));
        }
    }
}

#[test]
fn large_transposes_split_over_threads() {
    let (rows, columns) = (700, 900);
    for size in [1, 2, 4, 8] {
        let n = rows * columns;
        compare_packed(size, &[columns, rows], (n, Strided::new(&[1, columns as isize])));
        let reversed = Strided { offset: n - 1, strides: &[-(columns as isize), -1] };
        compare_packed(size, &[rows, columns], (n, reversed));
    }
    compare_packed(4, &[1 << 20], (1 << 20, Strided::new(&[1])));
}

#[test]
fn broadcasts() {
    compare_packed(4, &[5, 7], (7, Strided::new(&[0, 1])));
    compare_packed(2, &[5, 7], (5, Strided::new(&[1, 0])));
    compare_packed(8, &[5, 7], (1, Strided::new(&[0, 0])));
    compare_packed(1, &[3, 5, 2, 3], (6, Strided::new(&[0, 0, 3, 1])));
}

#[test]
fn odd_strides_offsets_and_reversals() {
    for step in [1, 2, 3, 7] {
        for extent in 1..=20 {
            let reach = extent * step + 3;
            let stride = step as isize;
            let [from, to] = [1, 2].map(|offset| Strided { offset, strides: std::slice::from_ref(&stride) });
            let backward = Strided { offset: (extent - 1) * step, strides: &[-stride] };
            compare(4, &[extent], (reach, from), (reach, to));
            compare_packed(4, &[extent], (reach, backward));
            compare(4, &[extent], (extent, Strided::new(&[1])), (reach, backward));
            let lines = Strided { offset: 1, strides: &[reach as isize, stride] };
            compare_packed(2, &[4, extent], (4 * reach, lines));
        }
    }
}

#[test]
fn rank_16() {
    let shape = [2; 16];
    let mut strides = packed(&shape);
    strides.reverse();
    compare_packed(1, &shape, (1 << 16, Strided::new(&strides)));
}

#[test]
#[should_panic(expected = "outside")]
fn reading_past_the_end_is_refused() {
    let packed = Strided::new(&[1]);
    copy_bytes(4, &[3], (&[0; 8], packed), (&mut [0; 12], packed));
}

/// Copies two rows of two numbers to memory where rows and columns are so far apart.
fn copy_to(strides: &[isize]) {
    copy_bytes(4, &[2, 2], (&[0; 16], Strided::new(&[2, 1])), (&mut [0; 64], Strided { offset: 4, strides }));
}

#[test]
#[should_panic(expected = "overlaps itself")]
fn rows_on_top_of_each_other_are_refused() {
    copy_to(&[0, 1]);
}

#[test]
#[should_panic(expected = "overlaps itself")]
fn rows_that_share_elements_are_refused() {
    copy_to(&[1, -1]);
}

#[test]
fn rows_between_each_other_are_no_overlap() {
    for strides in [[2, 1], [-1, 2], [3, -1], [1, 3]] {
        copy_to(&strides);
    }
}
