//! Products that are cut in depth, against a triple loop.

use super::*;
use crate::kernels::matmul::tests::pattern;

/// Rows as they are and turned, parts of the rows and of the depth that are not whole, and a result to add to.
#[test]
fn a_few_rows_of_a_deep_operand() {
    for (m, n, k) in [(64, 128, 784), (2, 16, 2048), (9, 40, 1001), (33, 130, 500), (17, 500, 510), (100, 16, 2100)] {
        let (a, b) = (pattern(m * k), pattern(k * n));
        for (a_strides, before) in [((k as isize, 1), 1.0), ((1, m as isize), 0.0)] {
            let mut c = vec![1.0; m * n];
            let (left, right) = ((a.as_ptr(), a_strides), (b.as_ptr(), (n as isize, 1)));
            let extents = (m, n, k);
            let deep = Product { extents, a: left, b: right, c: (c.as_mut_ptr(), n), accumulate: before > 0.0 };
            assert!(is_deep(extents, deep.b.1));
            // SAFETY: the three are as large as that, and live.
            unsafe { deep.run(Sharing::Large) };
            for (at, got) in c.into_iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let left = |l: usize| a[i * a_strides.0 as usize + l * a_strides.1 as usize];
                let expected = before + (0..k).map(|l| left(l) * b[l * n + j]).sum::<f32>();
                assert_eq!(got, expected, "{m} x {k} x {n} at {i}, {j}, {a_strides:?}");
            }
        }
    }
}

#[test]
fn which_operands_are_deep() {
    assert!(is_deep((64, 128, 784), (128, 1)) && is_deep((64, 512, 512), (512, 1)));
    assert!(!is_deep((128, 128, 784), (128, 1)), "the sums are many");
    assert!(!is_deep((64, 512, 784), (512, 1)), "the operand is large");
    assert!(!is_deep((16, 64, 256), (64, 1)), "the operand is small");
    assert!(!is_deep((16, 512, 256), (512, 1)), "more columns than rows");
    assert!(!is_deep((64, 128, 784), (1, 784)), "the rows of what is transposed are columns");
    assert!(!is_deep((1, 256, 784), (256, 1)), "a row");
}

/// Rows and columns as they are and turned, parts that are not whole, a result whose rows are apart or to be added to.
#[test]
fn few_results_of_a_long_depth() {
    for (m, n, k) in [(1, 1, 270_001), (3, 5, 20_000), (16, 16, 8192), (1, 100, 9000), (10, 1, 33_333)] {
        assert!(parts((m, n, k)).is_some());
        let (a, b) = (pattern(m * k), pattern(k * n));
        for (a_strides, b_strides) in [((k, 1), (n, 1)), ((1, m), (n, 1)), ((k, 1), (1, k)), ((1, m), (1, k))] {
            let accumulate = a_strides.1 == 1;
            let (apart, signed) = (n + 2, |(row, column): (usize, usize)| (row as isize, column as isize));
            let mut c = vec![1.0; m * apart];
            let (left, right) = ((a.as_ptr(), signed(a_strides)), (b.as_ptr(), signed(b_strides)));
            let few = Product { extents: (m, n, k), a: left, b: right, c: (c.as_mut_ptr(), apart), accumulate };
            // SAFETY: the three are as large as that, and live.
            unsafe { few.run_parts(parts((m, n, k)).expect("asserted above"), Sharing::Large) };
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / apart, at % apart);
                let term = |l: usize| a[i * a_strides.0 + l * a_strides.1] * b[l * b_strides.0 + j * b_strides.1];
                let sum = if j < n { (0..k).map(term).sum::<f32>() } else { 0.0 };
                let expected = if accumulate || j >= n { 1.0 + sum } else { sum };
                assert_eq!(got, expected, "{m} x {k} x {n} at {i}, {j}, {a_strides:?}, {b_strides:?}");
            }
        }
    }
}

#[test]
fn which_results_are_few() {
    assert_eq!([(1, 1, 1 << 20), (16, 16, 8192), (1, 256, 20_000)].map(parts), [Some(8), Some(2), Some(4)]);
    assert_eq!([(1, 1, 8191), (16, 17, 1 << 20)].map(parts), [None, None]);
}
