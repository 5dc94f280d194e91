//! Products against a triple loop, for sizes 1 to 20, both orders of both operands, batches, 16-bit floats and
//! constants with equal columns.

use super::*;
use half::{bf16, f16};
use std::f64::consts::PI;

pub(super) fn pattern(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 17) as f32 - 8.0).collect()
}

pub(super) fn run<T: bytemuck::Pod>(product: &MatMul, a: &[T], b: &[T], n: usize) -> Vec<T> {
    let mut c = vec![T::zeroed(); n];
    // SAFETY: the three vectors outlive the call.
    unsafe { product.run(Span::of(a), Span::of(b), None, &mut SpanMut::of(&mut c)) };
    c
}

/// Multiplies two matrices with these strides, and compares every result. Sums of these numbers are exact in any order.
pub(super) fn compare([m, n, k]: [usize; 3], [a_strides, b_strides]: [[usize; 2]; 2]) {
    let reach = |extents: [usize; 2], s: [usize; 2]| (extents[0] - 1) * s[0] + (extents[1] - 1) * s[1] + 2;
    let [a, b] = [pattern(reach([m, k], a_strides)), pattern(reach([k, n], b_strides))];
    let operand = |strides: [usize; 2]| Operand { offset: 1, strides: strides.map(|s| s as isize).to_vec() };
    let product = MatMul::new(DType::F32, &[m, n], k, &operand(a_strides), &operand(b_strides));
    for (at, &got) in run(&product, &a, &b, m * n).iter().enumerate() {
        let (i, j) = (at / n, at % n);
        let element = |x: &[f32], s: [usize; 2], i: usize, j: usize| x[1 + i * s[0] + j * s[1]];
        let sum: f32 = (0..k).map(|l| element(&a, a_strides, i, l) * element(&b, b_strides, l, j)).sum();
        assert_eq!(got, sum, "{m}x{n}x{k}, strides {a_strides:?} and {b_strides:?}, at {i}, {j}");
    }
}

#[test]
fn every_size_and_order() {
    for size in 1..=20usize {
        let (m, n, k) = (size, (size * 7) % 19 + 1, (size * 5) % 13 + 1);
        for strides in [[[k, 1], [n, 1]], [[1, m], [n, 1]], [[k, 1], [1, k]], [[1, m], [1, k]]] {
            compare([m, n, k], strides);
        }
    }
}

#[test]
fn batches_broadcast_and_fold() {
    let (m, n, k) = (3, 4, 5);
    let (a, b) = (pattern(6 * m * k), pattern(3 * k * n));
    // [2, 3] batch: the left operand has all of it, the right one the second axis only.
    let lhs = Operand { offset: 0, strides: vec![45, 15, 5, 1] };
    let rhs = Operand { offset: 0, strides: vec![0, 20, 4, 1] };
    let product = MatMul::new(DType::F32, &[2, 3, m, n], k, &lhs, &rhs);
    assert_eq!(product.extents(), (m, n, k, 6));
    let c = run(&product, &a, &b, 6 * m * n);
    let one = |a: &[f32], b: &[f32], i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f32>();
    for (at, &got) in c.iter().enumerate() {
        let (batch, i, j) = (at / (m * n), at / n % m, at % n);
        assert_eq!(got, one(&a[batch * m * k..], &b[batch % 3 * k * n..], i, j));
    }
    let still = Operand { offset: 20, strides: vec![0, 0, 4, 1] };
    let product = MatMul::new(DType::F32, &[2, 3, m, n], k, &lhs, &still);
    assert_eq!(product.extents(), (18, n, k, 1), "one taller product");
    let c = run(&product, &a, &b, 6 * m * n);
    for (at, &got) in c.iter().enumerate() {
        assert_eq!(got, one(&a[at / n * k..], &b[20..], 0, at % n));
    }
}

#[test]
fn sixteen_bits_accumulate_in_f32() {
    let k = 5000;
    let plain = |columns: isize| Operand { offset: 0, strides: vec![columns, 1] };
    let product = MatMul::new(DType::F16, &[1, 1], k, &plain(k as isize), &plain(1));
    let ones = vec![f16::ONE; k];
    assert_eq!(run(&product, &ones, &ones, 1)[0].to_f32(), 5000.0);
    let product = MatMul::new(DType::BF16, &[2, 300], 3, &plain(3), &Operand { offset: 0, strides: vec![1, 3] });
    let a: Vec<bf16> = pattern(6).into_iter().map(bf16::from_f32).collect();
    let b: Vec<bf16> = pattern(900).into_iter().map(bf16::from_f32).collect();
    for (at, got) in run(&product, &a, &b, 600).into_iter().enumerate() {
        let (i, j) = (at / 300, at % 300);
        let sum: f32 = (0..3).map(|l| a[i * 3 + l].to_f32() * b[j * 3 + l].to_f32()).sum();
        assert_eq!(got, bf16::from_f32(sum));
    }
}

#[test]
fn a_few_rows_of_every_float() {
    fn check<T: bytemuck::Pod>(dtype: DType, of: fn(f32) -> T, to_f32: fn(T) -> f32) {
        for (m, n, k) in [
            (1, 7, 9),
            (1, 8, 2),
            (2, 33, 64),
            (3, 513, 70),
            (4, 777, 1400),
            (8, 1030, 1030),
            (5, 9000, 120),
            (9, 40, 50),
            (1, 6000, 50),
        ] {
            let values = |n| pattern(n).into_iter().map(of).collect::<Vec<T>>();
            let (a, b) = (values(2 * m * k), values(k * (n + 3)));
            let operand = |strides: [usize; 2]| Operand { offset: 0, strides: strides.map(|s| s as isize).to_vec() };
            // Numbers side by side, with others between them, and of a transposed operand; the rows of the matrix have
            // others behind them.
            for strides in [[k, 1], [2 * k, 2], [1, m]] {
                let product = MatMul::new(dtype, &[m, n], k, &operand(strides), &operand([n + 3, 1]));
                let mut results = vec![run(&product, &a, &b, m * n)];
                let turned: Vec<T> = (0..k * n).map(|at| b[at % k * (n + 3) + at / k]).collect();
                let by_columns = MatMul::new(dtype, &[m, n], k, &operand(strides), &operand([1, k]));
                results.push(run(&by_columns, &a, &turned, m * n));
                if m == 1 {
                    let column = operand([strides[1], 0]);
                    let transposed = MatMul::new(dtype, &[n, 1], k, &operand([1, n + 3]), &column);
                    results.push(run(&transposed, &b, &a, n));
                    let by_rows = MatMul::new(dtype, &[n, 1], k, &operand([k, 1]), &column);
                    results.push(run(&by_rows, &turned, &a, n));
                }
                for (at, got) in results.into_iter().flat_map(|c| c.into_iter().enumerate()) {
                    let a = |l: usize| to_f32(a[at / n * strides[0] + l * strides[1]]);
                    let sum: f32 = (0..k).map(|l| a(l) * to_f32(b[l * (n + 3) + at % n])).sum();
                    assert_eq!(to_f32(got), to_f32(of(sum)), "{dtype:?} {m} x {k} x {n} at {at}, {strides:?}");
                }
            }
        }
    }
    check(DType::F32, |x| x, |x| x);
    check(DType::F16, f16::from_f32, f16::to_f32);
    check(DType::BF16, bf16::from_f32, bf16::to_f32);
}

#[test]
fn what_no_number_multiplies_stays_infinite_or_nan() {
    // Columns that are no whole block, and rows that are not added together, have their own loops.
    let (n, k) = (37, 11);
    let a: Vec<f16> = pattern(k).into_iter().map(f16::from_f32).collect();
    let mut b: Vec<f16> = pattern(k * n).into_iter().map(f16::from_f32).collect();
    (b[3], b[36 + n], b[8 * n + 5], b[10 * n + 33]) = (f16::INFINITY, f16::NAN, f16::NEG_INFINITY, f16::INFINITY);
    let operand = |columns: usize| Operand { offset: 0, strides: vec![columns as isize, 1] };
    let c = run(&MatMul::new(DType::F16, &[1, n], k, &operand(k), &operand(n)), &a, &b, n);
    for (j, got) in c.into_iter().enumerate() {
        let sum: f32 = (0..k).map(|l| a[l].to_f32() * b[l * n + j].to_f32()).sum();
        assert_eq!(got.to_f32().to_string(), f16::from_f32(sum).to_f32().to_string(), "at {j}");
    }
}

#[test]
fn large_products_on_all_threads() {
    for (m, n, k) in [(130, 140, 150), (7, 900, 340), (600, 9, 400), (64, 200, 170), (3, 40, 20_000)] {
        let (a, b) = (pattern(m * k), pattern(k * n));
        let operand =
            |strides: [usize; 2]| Operand { offset: 0, strides: strides.map(|stride| stride as isize).to_vec() };
        for b_strides in [[n, 1], [1, k]] {
            let product = MatMul::new(DType::F32, &[m, n], k, &operand([k, 1]), &operand(b_strides));
            assert!(product.is_parallel());
            let c = run(&product, &a, &b, m * n);
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let expected = (0..k).map(|l| a[i * k + l] * b[l * b_strides[0] + j * b_strides[1]]).sum::<f32>();
                assert_eq!(got, expected, "{m} x {k} x {n} {b_strides:?}");
            }
        }
    }
}

#[test]
fn a_single_row_or_column() {
    for (n, k) in [(8, 2), (10, 512), (15, 9), (16, 8), (23, 31), (64, 65), (70, 7), (130, 3000), (300, 900)] {
        let (a, b) = (pattern(2 * k), pattern(k * n));
        let operand = |strides: [isize; 2]| Operand { offset: 0, strides: strides.to_vec() };
        let expected = |j: usize, step: usize| (0..k).map(|l| a[l * step] * b[l * n + j]).sum::<f32>();
        // Numbers side by side, and with others between them.
        for step in [1, 2] {
            let (row, column) = (operand([0, step as isize]), operand([step as isize, 0]));
            let by_row = MatMul::new(DType::F32, &[1, n], k, &row, &operand([n as isize, 1]));
            let by_column = MatMul::new(DType::F32, &[n, 1], k, &operand([1, n as isize]), &column);
            for c in [run(&by_row, &a, &b, n), run(&by_column, &b, &a, n)] {
                for (j, got) in c.into_iter().enumerate() {
                    assert_eq!(got, expected(j, step), "{k} x {n} at {j}, every {step}");
                }
            }
        }
        let mut c = vec![1.0; n];
        let [a, b] = [(&a, [k, 1]), (&b, [n, 1])].map(|(elements, strides)| Matrix { elements, strides });
        product((1, n, k), a, b, (&mut c, n), true);
        for (j, got) in c.into_iter().enumerate() {
            assert_eq!(got, 1.0 + expected(j, 1), "added, {k} x {n} at {j}");
        }
    }
}

#[test]
fn right_operands_with_consecutive_columns() {
    for (m, n, k) in [(20, 20, 5), (3, 100, 33), (17, 50, 2100), (40, 7, 4096)] {
        let (a, b) = (pattern(m * k), pattern(k * n));
        let mut c = vec![1.0; m * n];
        let [a, b] = [(&a, [k, 1]), (&b, [1, k])].map(|(elements, strides)| Matrix { elements, strides });
        product((m, n, k), a, b, (&mut c, n), true);
        for (at, got) in c.into_iter().enumerate() {
            let (i, j) = (at / n, at % n);
            let sum: f32 = (0..k).map(|l| a.elements[i * k + l] * b.elements[j * k + l]).sum();
            assert_eq!(got, 1.0 + sum, "{m} x {k} x {n} at {i}, {j}");
        }
    }
}

/// Rows that are pages apart, of which parts are copied: too few rows of the left operand for that, few, many, and too
/// many; parts that are not whole.
#[test]
fn right_operands_with_rows_pages_apart() {
    for (m, n, k, apart) in [
        (11, 70, 300, 1024),
        (12, 64, 128, 1024),
        (12, 200, 129, 2048),
        (33, 1000, 257, 1024),
        (48, 17, 500, 4096),
        (49, 70, 300, 1024),
    ] {
        let (a, b) = (pattern(m * k), pattern(k * apart));
        let mut c = vec![1.0; m * (n + 3)];
        for (a_strides, before) in [([k, 1], 1.0), ([1, m], 0.0)] {
            let [a, b] = [(&a, a_strides), (&b, [apart, 1])].map(|(elements, strides)| Matrix { elements, strides });
            let mut copied = c.clone();
            product((m, n, k), a, b, (&mut c, n + 3), before > 0.0);
            let [a_matrix, b_matrix] = [a, b].map(|Matrix { elements, strides: [row, column] }| {
                (elements.as_ptr(), (row as isize, column as isize))
            });
            let (extents, c_rows) = ((m, n, k), (copied.as_mut_ptr(), n + 3));
            let by_copies = Product { extents, a: a_matrix, b: b_matrix, c: c_rows, accumulate: before > 0.0 };
            // SAFETY: the three are as large as above, and live.
            unsafe { by_copies.run_copied() };
            assert_eq!(copied, c, "copies on every processor: {m} x {k} x {n}, {apart} apart");
            for (at, got) in c.iter_mut().enumerate() {
                let (i, j) = (at / (n + 3), at % (n + 3));
                let product = |l: usize| a.elements[i * a_strides[0] + l * a_strides[1]] * b.elements[l * apart + j];
                let expected = if j < n { before + (0..k).map(product).sum::<f32>() } else { 1.0 };
                assert_eq!(*got, expected, "{m} x {k} x {n}, {apart} apart, at {i}, {j}");
            }
        }
    }
}

#[test]
fn pieces_are_of_the_side_that_costs_least() {
    let piece = |m: usize, n: usize, k: usize, b: (isize, isize)| {
        let (a, c) = ((std::ptr::null(), (k as isize, 1)), (std::ptr::null_mut(), n));
        Product { extents: (m, n, k), a, b: (std::ptr::null(), b), c, accumulate: false }.piece()
    };
    assert_eq!(piece(64, 64, 64, (64, 1)), [32, 64]);
    assert_eq!(piece(128, 128, 128, (128, 1)), [32, 128]);
    assert_eq!(piece(256, 10, 512, (10, 1)), [128, 10]);
    assert_eq!(piece(256, 512, 10, (1, 10)), [256, 256]);
    assert_eq!(piece(64, 128, 784, (128, 1)), [16, 128]);
    assert_eq!(piece(128, 128, 784, (128, 1)), [32, 128]);
    assert_eq!(piece(64, 512, 784, (512, 1)), [64, 128]);
    assert_eq!(piece(64, 512, 512, (1, 512)), [64, 128]);
    assert_eq!(piece(4, 4096, 512, (4096, 1)), [4, 1024]);
    assert_eq!(piece(2, 512, 1024, (512, 1)), [2, 128]);
    assert_eq!(piece(1024, 1024, 1024, (1024, 1)), [256, 512]);
    assert_eq!(piece(1, 500, 784, (500, 1)), [1, 128]);
    assert_eq!(piece(500, 1, 1000, (1, 1)), [128, 1]);
}

/// Real and imaginary parts of the transform of `points` real numbers, row by row.
fn transform(points: usize) -> Vec<f32> {
    let eighth = PI / 4.0;
    // Mirrored angles give the same bits.
    let part = |step: usize| {
        let angle = 2.0 * PI * (step % points) as f64 / points as f64;
        let folded = angle % (2.0 * eighth);
        let (sin, cos) = if folded > eighth {
            let (sin, cos) = (2.0 * eighth - folded).sin_cos();
            (cos as f32, sin as f32)
        } else {
            let (sin, cos) = folded.sin_cos();
            (sin as f32, cos as f32)
        };
        match (4 * (step % points)) / points {
            0 => [cos, sin],
            1 => [-sin, cos],
            2 => [-cos, -sin],
            _ => [sin, -cos],
        }
    };
    (0..points)
        .flat_map(|k| [0, 1].map(|of| (k, of)))
        .flat_map(|(k, of)| (0..points).map(move |j| part(k * j)[of]))
        .collect()
}

#[test]
fn transforms_have_few_multiplications() {
    for (points, most) in [(16, 70), (64, 500)] {
        let folded = Folded::of(transform(points), [2 * points, points]);
        let count = folded.map(|folded| folded.elements.len());
        assert!(count.is_some_and(|count| count <= most), "{points} points: {count:?}");
    }
    assert!(Folded::of(pattern(16 * 16), [16, 16]).is_none(), "no two columns are equal");
}

/// Left and right constants with equal columns, operands in both orders, lanes that fill their tiles or do not.
#[test]
fn constants_with_equal_columns() {
    let (points, rows) = (16, 32);
    let constant = transform(points);
    let strides = |strides: [usize; 3]| Operand { offset: 0, strides: strides.map(|s| s as isize).to_vec() };
    for (batch, lanes) in [(1, 16), (3, 16), (2, 33), (1, 5000)] {
        let x = pattern(batch * points * lanes);
        for [row, lane] in [[lanes, 1], [1, points]] {
            let other = |side| match side {
                Side::Left => strides([points * lanes, row, lane]),
                Side::Right => strides([points * lanes, lane, row]),
            };
            for side in [Side::Left, Side::Right] {
                let product = match side {
                    Side::Left => {
                        let left = strides([0, points, 1]);
                        MatMul::new(DType::F32, &[batch, rows, lanes], points, &left, &other(side))
                    }
                    Side::Right => {
                        let right = strides([0, 1, points]);
                        MatMul::new(DType::F32, &[batch, lanes, rows], points, &other(side), &right)
                    }
                };
                let (a, b) = if side == Side::Left { (&constant, &x) } else { (&x, &constant) };
                let plain = run(&product, a, b, batch * rows * lanes);
                let folded = product.with_constant(side, bytemuck::cast_slice(&constant));
                assert!(folded.folded.is_some(), "{side:?}");
                for (at, (got, expected)) in run(&folded, a, b, plain.len()).into_iter().zip(plain).enumerate() {
                    assert!((got - expected).abs() < 1e-4, "{side:?}, {batch} x {lanes}, {at}: {got} {expected}");
                }
            }
        }
    }
}

/// Operands in every order, packed and with gaps between their lines, so that each way of converting is taken.
#[test]
fn large_products_of_16_bit_floats_on_all_threads() {
    for (m, n, k) in [(130, 140, 150), (7, 900, 340), (600, 9, 400), (520, 520, 5), (1, 600, 500), (5, 1, 250_000)] {
        for gap in [0, 3] {
            let (a, b) = (pattern((m + gap) * (k + gap)), pattern((k + gap) * (n + gap)));
            let [a, b] = [a, b].map(|x| x.into_iter().map(bf16::from_f32).collect::<Vec<bf16>>());
            for (a_strides, b_strides) in
                [([k + gap, 1], [n + gap, 1]), ([1, m + gap], [1, k + gap]), ([k + gap, 1], [1, k + gap])]
            {
                let operand = |s: [usize; 2]| Operand { offset: 0, strides: s.map(|s| s as isize).to_vec() };
                let product = MatMul::new(DType::BF16, &[m, n], k, &operand(a_strides), &operand(b_strides));
                assert!(product.is_parallel());
                let c = run(&product, &a, &b, m * n);
                let at = |x: &[bf16], s: [usize; 2], i: usize, j: usize| x[i * s[0] + j * s[1]].to_f32();
                for (place, &got) in c.iter().enumerate() {
                    let (i, j) = (place / n, place % n);
                    // Whole numbers, of which f32 holds every sum.
                    let sum = (0..k).map(|l| at(&a, a_strides, i, l) * at(&b, b_strides, l, j)).sum::<f32>();
                    assert_eq!(got, bf16::from_f32(sum), "{m} x {k} x {n} {a_strides:?} {b_strides:?}");
                }
            }
        }
    }
}

/// Results of small whole numbers, which have no rounding before the last, are those of f32, rounded.
#[test]
fn sixteen_bits_in_pieces() {
    let packed = |rows: usize, columns: usize| [columns, 1, rows * columns];
    let transposed = |rows: usize, columns: usize| [1, rows, rows * columns];
    let spread = |rows: usize, columns: usize| [columns * 2, 2, rows * columns * 2];
    let repeated = |_: usize, columns: usize| [0, 1, columns];
    let orders: [fn(usize, usize) -> [usize; 3]; 4] = [packed, transposed, spread, repeated];
    // Rows are cut, columns are, parts of a deep operand, an operand for all threads, small ones, and those that are
    // cut in depth.
    let sizes = [
        (96, 40, 300),
        (64, 520, 100),
        (20, 300, 200),
        (40, 30, 9000),
        (1100, 1030, 1024),
        (9, 17, 5),
        (33, 65, 31),
        (64, 128, 784),
        (9, 40, 1001),
    ];
    for ((m, n, k), lhs, rhs) in sizes
        .into_iter()
        .flat_map(|size| orders.into_iter().flat_map(move |lhs| orders.into_iter().map(move |rhs| (size, lhs, rhs))))
    {
        let ([a, b], operand) = ([lhs(m, k), rhs(k, n)], |[row, column, _]: [usize; 3]| Operand {
            offset: 0,
            strides: vec![row as isize, column as isize],
        });
        let product = |dtype| MatMul::new(dtype, &[m, n], k, &operand(a), &operand(b));
        let (lhs, rhs) = (pattern(a[2]), pattern(b[2]));
        let expected = run(&product(DType::F32), &lhs, &rhs, m * n);
        let halves = |x: &[f32]| x.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>();
        let got = run(&product(DType::F16), &halves(&lhs), &halves(&rhs), m * n);
        assert!(got == halves(&expected), "f16, {m}x{n}x{k}, strides {a:?} and {b:?}");
        let halves = |x: &[f32]| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>();
        let got = run(&product(DType::BF16), &halves(&lhs), &halves(&rhs), m * n);
        assert!(got == halves(&expected), "bf16, {m}x{n}x{k}, strides {a:?} and {b:?}");
    }
}
