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
