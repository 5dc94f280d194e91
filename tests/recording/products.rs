//! Products between reshapes that recording or a rewrite leaves. MPSGraph's compiler ends the process on some of them
//! on macOS 26 and 27, so these tests tell something where the system is such a one.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Tensor, s};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// 0, 1, 2 and so on.
fn counted<const D: usize>(shape: [usize; D]) -> Tensor<B, D> {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|number| number as f32).collect();
    vector(&numbers).reshape(shape)
}

/// A product of matrices with `inner` columns and rows.
fn product(a: &[f32], b: &[f32], inner: usize) -> Vec<f32> {
    let columns = b.len() / inner;
    let sum = |row: &[f32], column: usize| row.iter().enumerate().map(|(k, x)| x * b[k * columns + column]).sum();
    a.chunks(inner).flat_map(|row| (0..columns).map(move |column| sum(row, column))).collect()
}

#[test]
fn what_is_read_behind_an_assigned_region() {
    let _turn = Turn::take();
    let (x, w) = (counted([16]), counted([2, 5]));
    let expected: Vec<f32> = product(&read(x.clone()), &read(w.clone()), 2).iter().map(|x| 2.0 * x).collect();
    let whole = Tensor::zeros([2, 8, 5], &MpsGraphDevice);
    let product = x.reshape([8, 2]).matmul(w);
    let whole = whole.slice_assign([0..1, 0..8, 0..5], product.reshape([1, 8, 5]));
    assert_eq!(read(whole.slice(s![0..1]).reshape([1, 1, 8, 5]) * 2.0), expected);
}

#[test]
fn sums_of_assigned_regions_in_16_bits() {
    let _turn = Turn::take();
    let half = |x: Tensor<B, 2>| x.cast(DType::F16);
    let (part, w) = (half(counted([4, 3])), half(counted([3, 4])));
    let expected: Vec<f32> = product(&read(counted::<2>([8, 3]) + 1.0), &read(counted([3, 4])), 3);
    let base = half(counted([8, 3]) - Tensor::cat(vec![counted([4, 3]); 2], 0) + 1.0);
    MpsGraphDevice.sync().expect("the device works");
    let placed = |at: usize| {
        let zeros = Tensor::<B, 3>::zeros([2, 4, 3], (&MpsGraphDevice, DType::F16));
        zeros.slice_assign(s![at..at + 1], part.clone().reshape([1, 4, 3])).reshape([8, 3])
    };
    let sum = base + placed(0) + placed(1);
    let found = sum.matmul(w).reshape([2, 4, 4]) * 2.0;
    let doubled: Vec<f32> = expected.iter().map(|x| 2.0 * x).collect();
    assert_eq!(read(found.cast(DType::F32)), doubled);
}

#[test]
fn a_column_of_shifted_64_bit_integers() {
    let _turn = Turn::take();
    let x = Tensor::<B, 2, Int>::from_data([[2_i64], [5], [-3], [1 << 20]], (&MpsGraphDevice, DType::I64));
    let w = Tensor::<B, 2>::from_data([[1.0, 2.0, 4.0]], &MpsGraphDevice);
    let found = x.bitwise_right_shift_scalar(1).float().matmul(w).reshape([12]) * 2.0;
    let expected = [1.0, 2.0, -2.0, 524_288.0].map(|x| [2.0, 4.0, 8.0].map(|w: f32| w * x));
    assert_eq!(read(found), expected.concat());
}

#[test]
fn random_numbers_in_16_bits() {
    let _turn = Turn::take();
    let distributions = [Distribution::Default, Distribution::Uniform(-2.0, 5.0), Distribution::Normal(1.0, 3.0)];
    for dtype in [DType::F16, DType::BF16] {
        for distribution in distributions {
            let drawn = || {
                B::seed(&MpsGraphDevice, 3);
                [[8, 4], [4, 6]].map(|shape| Tensor::<B, 2>::random(shape, distribution, (&MpsGraphDevice, dtype)))
            };
            let [a, b] = drawn().map(|x| read(x.cast(DType::F32)));
            let [x, y] = drawn();
            let found = read((x.matmul(y).reshape([2, 4, 6]) + 1.0).cast(DType::F32));
            for (found, expected) in found.into_iter().zip(product(&a, &b, 4)) {
                let error = (found - expected - 1.0).abs();
                assert!(error <= 0.02 * (4.0 + expected.abs()), "{dtype:?} {distribution:?}: {found} {expected}");
            }
        }
    }
}

#[test]
fn batches_of_more_than_two_axes() {
    let _turn = Turn::take();
    let (a, b) = (counted([2, 1, 2, 1, 2]), counted([2, 1, 2, 2, 3]));
    let parts =
        read(a.clone()).chunks(2).zip(read(b.clone()).chunks(6)).map(|(a, b)| product(a, b, 2)).collect::<Vec<_>>();
    let found = a.matmul(b);
    assert_eq!(found.dims(), [2, 1, 2, 1, 3]);
    assert_eq!(read(found), parts.concat());
}

#[test]
fn casts_of_what_is_read_in_another_shape() {
    let _turn = Turn::take();
    let w = counted([10, 8]);
    let made = || counted([1, 1, 4, 10]).cast(DType::F16);
    MpsGraphDevice.flush();
    let expected = product(&read(made().cast(DType::F32)), &read(w.clone()), 10);
    // Made and fed, read by a cast and by the product.
    let fed = made();
    MpsGraphDevice.flush();
    for x in [made() * 1.0, fed] {
        let other = x.clone().reshape([2, 20]).exp().sum();
        let rows = x.clone().reshape([4, 10]).cast(DType::F32).matmul(w.clone());
        let matrices = x.reshape([1, 4, 10]).cast(DType::F32).matmul(w.clone().reshape([1, 10, 8]));
        assert_eq!(read(rows.reshape([2, 16])), expected);
        assert_eq!(read(matrices.reshape([1, 1, 4, 8])), expected);
        drop(other);
    }
}

#[test]
fn a_feed_that_a_later_product_reads_in_its_own_shape() {
    let _turn = Turn::take();
    let x = counted([40]).cast(DType::F16);
    let (w, v) = (counted([10, 8]), counted([2, 40, 1]).cast(DType::F16) / 16);
    MpsGraphDevice.flush();
    let expected = product(&read(counted([40])), &read(w.clone()), 10);
    let whole = product(&read(counted([40])), &(0..40).map(|at| at as f32 / 16.0).collect::<Vec<_>>(), 40);
    let rows = x.clone().reshape([4, 10]).cast(DType::F32).matmul(w).reshape([2, 16]);
    let batches = x.reshape([1, 1, 40]).matmul(v).cast(DType::F32);
    let sums = Tensor::cat(vec![rows.sum(), batches.slice(s![.., 0..1]).slice(s![0..1]).reshape([1])], 0);
    let sums = read(sums);
    assert_eq!(sums[0], expected.iter().sum::<f32>());
    assert!((sums[1] - whole[0]).abs() <= whole[0] * 1e-3, "{sums:?}, {whole:?}");
}

#[test]
fn what_was_permuted_and_is_read_in_another_shape() {
    let _turn = Turn::take();
    for half in [DType::F16, DType::BF16, DType::F32] {
        let small = |count: usize| vector(&(0..count).map(|at| (at % 5) as f32).collect::<Vec<_>>()).cast(half);
        let right = || small(64).reshape([4, 8, 2]);
        let products: [Tensor<B, 3>; 3] = [
            small(32).reshape([8, 4]).transpose().reshape([4, 1, 8]).matmul(right()),
            small(96).reshape([3, 4, 1, 8]).swap_dims(0, 1).squeeze_dim::<3>(2).matmul(right()),
            small(64).reshape([2, 4, 2, 4]).swap_dims(0, 1).reshape([4, 2, 8]).matmul(right()),
        ];
        let places: [&dyn Fn(usize, usize, usize) -> usize; 3] =
            [&|batch, _, k| k * 4 + batch, &|batch, row, k| (row * 4 + batch) * 8 + k, &|batch, row, k| {
                ((row * 4 + batch) * 2 + k / 4) * 4 + k % 4
            }];
        for (product, place) in products.into_iter().zip(places) {
            let [_, rows, _] = product.dims();
            let expected = (0..4 * rows * 2).map(|at| {
                let (batch, row, column) = (at / 2 / rows, at / 2 % rows, at % 2);
                let term = |k: usize| (place(batch, row, k) % 5 * (((batch * 8 + k) * 2 + column) % 5)) as f32;
                (0..8).map(term).sum::<f32>()
            });
            assert_eq!(read(product.cast(DType::F32)), expected.collect::<Vec<_>>(), "{half:?}");
        }
    }
}

/// What is added to products would be infinite without them.
#[test]
fn sums_of_products_in_f16_that_stay_finite() {
    let _turn = Turn::take();
    let half = |x: f32, shape: [usize; 2]| (Tensor::<B, 2>::full(shape, x, &MpsGraphDevice) + 0.0).cast(DType::F16);
    let term = |x: f32| half(x, [16, 4]).matmul(half(75.0, [4, 16]));
    let other = || half(-24_000.0, [16, 16]);
    let sum = term(100.0) + other() + term(100.0) + other() + other();
    assert_eq!(read(sum.cast(DType::F32)), [-12_000.0; 256]);
}
