//! Products against a triple loop, for sizes 1 to 20, both orders of both operands, batches and 16-bit floats.

use super::*;
use half::{bf16, f16};

fn pattern(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 17) as f32 - 8.0).collect()
}

fn run<T: bytemuck::Pod>(product: &MatMul, a: &[T], b: &[T], n: usize) -> Vec<T> {
    let mut c = vec![T::zeroed(); n];
    // SAFETY: the three vectors outlive the call.
    unsafe { product.run(Span::of(a), Span::of(b), &SpanMut::of(&mut c)) };
    c
}

#[test]
fn every_size_and_order() {
    for size in 1..=20usize {
        let (m, n, k) = (size, (size * 7) % 19 + 1, (size * 5) % 13 + 1);
        let (a, b) = (pattern(m * k), pattern(k * n));
        for (a_strides, b_strides) in
            [([k, 1], [n, 1]), ([1, m], [n, 1]), ([k, 1], [1, k]), ([1, m], [1, k])].map(|(a, b)| (a, b))
        {
            let operand = |s: [usize; 2]| Operand { offset: 0, strides: s.map(|s| s as isize).to_vec() };
            let product = MatMul::new(DType::F32, &[m, n], k, &operand(a_strides), &operand(b_strides));
            let c = run(&product, &a, &b, m * n);
            for i in 0..m {
                for j in 0..n {
                    let at = |x: &[f32], s: [usize; 2], i: usize, j: usize| x[i * s[0] + j * s[1]];
                    let sum: f32 = (0..k).map(|l| at(&a, a_strides, i, l) * at(&b, b_strides, l, j)).sum();
                    assert_eq!(c[i * n + j], sum, "{m}x{n}x{k} at {i}, {j}");
                }
            }
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
fn large_products_on_all_threads() {
    let (m, n, k) = (130, 140, 150);
    let (a, b) = (pattern(m * k), pattern(k * n));
    let plain = |columns: usize| Operand { offset: 0, strides: vec![columns as isize, 1] };
    let product = MatMul::new(DType::F32, &[m, n], k, &plain(k), &plain(n));
    assert!(product.is_parallel());
    let c = run(&product, &a, &b, m * n);
    for (at, &got) in c.iter().enumerate() {
        assert_eq!(got, (0..k).map(|l| a[at / n * k + l] * b[l * n + at % n]).sum::<f32>());
    }
}
