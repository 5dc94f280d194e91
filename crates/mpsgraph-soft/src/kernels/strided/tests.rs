//! Strided copies against an element-by-element walk.

use super::*;

/// Row-major strides of `shape`.
fn packed(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// What `copy_bytes` promises, one element at a time.
#[allow(clippy::too_many_arguments, reason = "the arguments of what it checks")]
fn naive(elem: usize, src: &[u8], so: usize, shape: &[usize], ss: &[isize], dst: &mut [u8], d_o: usize, ds: &[isize]) {
    for flat in 0..shape.iter().product() {
        let (mut rest, mut from, mut to) = (flat, so as isize, d_o as isize);
        for axis in (0..shape.len()).rev() {
            let at = (rest % shape[axis]) as isize;
            rest /= shape[axis];
            from += at * ss[axis];
            to += at * ds[axis];
        }
        let (from, to) = (from as usize * elem, to as usize * elem);
        dst[to..to + elem].copy_from_slice(&src[from..from + elem]);
    }
}

/// Bytes that repeat with a period no stride shares.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ (i / 251) as u8).collect()
}

/// Copies both ways and compares; `reach` is how many elements each side holds.
#[allow(clippy::too_many_arguments, reason = "as for `naive`")]
fn compare(elem: usize, reach: (usize, usize), so: usize, shape: &[usize], ss: &[isize], d_o: usize, ds: &[isize]) {
    let src = bytes(reach.0 * elem);
    let (mut ours, mut theirs) = (vec![0xee; reach.1 * elem], vec![0xee; reach.1 * elem]);
    copy_bytes(elem, &src, so, shape, ss, &mut ours, d_o, ds);
    naive(elem, &src, so, shape, ss, &mut theirs, d_o, ds);
    assert!(ours == theirs, "{elem} bytes, shape {shape:?}, source {so} {ss:?}, destination {d_o} {ds:?}");
}

#[test]
fn transposes_of_every_small_size() {
    for elem in [1, 2, 4, 8] {
        for rows in 1..=20 {
            for columns in 1..=20 {
                let n = rows * columns;
                compare(elem, (n, n), 0, &[columns, rows], &[1, columns as isize], 0, &packed(&[columns, rows]));
            }
        }
    }
}

#[test]
fn elements_that_repeat_a_few_times() {
    for elem in [1, 2, 4, 8] {
        for times in 1..=6 {
            // As the pixels of images that grow, one of them large enough for several threads.
            for [lines, width] in [[3, 1], [2, 7], [300, 129]] {
                let shape = [lines, times, width, times];
                let (from, to) = (lines * width, lines * width * times * times);
                compare(elem, (from, to), 0, &shape, &[width as isize, 0, 1, 0], 0, &packed(&shape));
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
        for elem in [1, 4] {
            compare(elem, (3 * 17 * 5 * 33, 3 * 17 * 5 * 33), 0, &out, &from, 0, &packed(&out));
        }
    }
}

#[test]
fn large_transposes_split_over_threads() {
    let (rows, columns) = (700, 900);
    for elem in [1, 2, 4, 8] {
        let n = rows * columns;
        compare(elem, (n, n), 0, &[columns, rows], &[1, columns as isize], 0, &packed(&[columns, rows]));
        compare(elem, (n, n), n - 1, &[rows, columns], &[-(columns as isize), -1], 0, &packed(&[rows, columns]));
    }
    compare(4, (1 << 20, 1 << 20), 0, &[1 << 20], &[1], 0, &[1]);
}

#[test]
fn broadcasts() {
    compare(4, (7, 35), 0, &[5, 7], &[0, 1], 0, &packed(&[5, 7]));
    compare(2, (5, 35), 0, &[5, 7], &[1, 0], 0, &packed(&[5, 7]));
    compare(8, (1, 35), 0, &[5, 7], &[0, 0], 0, &packed(&[5, 7]));
    compare(1, (6, 90), 0, &[3, 5, 2, 3], &[0, 0, 3, 1], 0, &packed(&[3, 5, 2, 3]));
}

#[test]
fn odd_strides_offsets_and_reversals() {
    for step in [1, 2, 3, 7] {
        for extent in 1..=20 {
            let reach = extent * step + 3;
            let s = step as isize;
            compare(4, (reach, reach), 1, &[extent], &[s], 2, &[s]);
            compare(4, (reach, extent), (extent - 1) * step, &[extent], &[-s], 0, &[1]);
            compare(4, (extent, reach), 0, &[extent], &[1], (extent - 1) * step, &[-s]);
            let wide = [4, extent];
            compare(2, (4 * reach, 4 * extent), 1, &wide, &[reach as isize, s], 0, &packed(&wide));
        }
    }
}

#[test]
fn rank_16() {
    let shape = [2; 16];
    let mut strides = packed(&shape);
    strides.reverse();
    compare(1, (1 << 16, 1 << 16), 0, &shape, &strides, 0, &packed(&shape));
}

#[test]
#[should_panic(expected = "outside")]
fn reading_past_the_end_is_refused() {
    copy_bytes(4, &[0; 8], 0, &[3], &[1], &mut [0; 12], 0, &[1]);
}
