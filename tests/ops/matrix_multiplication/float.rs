//! Float products: shapes, views, special numbers, and sums long enough to be taken in parts.

use std::sync::LazyLock;

use burn::tensor::backend::Backend;
use burn::tensor::module::{avg_pool2d, max_pool2d};
use burn::tensor::{DType, Distribution, Int, Tensor, TensorData};
use test_support::Tolerance::{self, Exact};
use test_support::{FLOATS, Layout, floats, quarters};

use crate::compare::{compare, compare_sums};

cases! {
    // The products of these multiples of 1/8 are exact in every order of summation.
    sweep(floats, [DType::F32], Layout::PLAIN, Exact) {
        product = |x| x.clone().matmul(x.transpose());
        product_of_transposed = |x| x.clone().transpose().matmul(x);
        product_of_flipped = |x| x.clone().flip([0, 2]).matmul(x.transpose());
    }

    given(FLOATS, [Layout::Contiguous], Exact) {
        product_between_reshapes = |layout, dtype| between_reshapes::<B>(layout, dtype);
    }

    by_hand() {
        matmul = |x = [[1.0, 2.0], [3.0, 4.0]], y = [[5.0], [6.0]]| x.matmul(y) => [[17.0], [39.0]];
    }
}

/// A product of computed values, of which one is read in another shape, and the product in a shape with extents of 1.
fn between_reshapes<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 4> {
    let x = floats::<B>(layout, dtype, 0).floor();
    let rows = x.clone().reshape([10, 3]);
    let columns = x.narrow(1, 0, 1).reshape([2, 3]).floor().transpose();
    -rows.matmul(columns).reshape([10, 1, 2, 1])
}

/// The expected product: for 16-bit floats, sums in f32, rounded once. burn-flex sums in 16 bits.
fn matmul<B: Backend, const D: usize>(a: Tensor<B, D>, b: Tensor<B, D>, sums: DType) -> TensorData {
    let dtype = a.dtype();
    a.cast(sums).matmul(b.cast(sums)).cast(dtype).into_data()
}

fn tolerance(dtype: DType) -> Tolerance {
    if dtype == DType::F32 { Tolerance::Relative(1e-5) } else { Tolerance::Ulps(1) }
}

#[track_caller]
fn assert_product<const D: usize>(a: [usize; D], b: [usize; D]) {
    fn case<B: Backend, const D: usize>([a, b]: [[usize; D]; 2], dtype: DType, sums: DType) -> Vec<TensorData> {
        let [a, b] = [quarters::<B, D>(a, dtype, 0), quarters(b, dtype, 1)];
        vec![matmul(a, b, sums)]
    }
    for dtype in FLOATS {
        compare(
            &format!("{a:?} times {b:?} of {dtype:?}"),
            tolerance(dtype),
            || case::<burn_flex::Flex, D>([a, b], dtype, DType::F32),
            || case::<burn_mpsgraph::MpsGraph, D>([a, b], dtype, dtype),
        );
    }
}

#[test]
fn two_axes() {
    for m in [0, 1, 2, 7] {
        for k in [0, 1, 3, 16] {
            for n in [0, 1, 5] {
                assert_product([m, k], [k, n]);
            }
        }
    }
    assert_product([33, 65], [65, 17]);
    assert_product([1, 1000], [1000, 3]);
}

#[test]
fn batches() {
    assert_product([3, 2, 4], [3, 4, 5]);
    assert_product([3, 2, 4], [1, 4, 5]);
    assert_product([1, 2, 4], [3, 4, 5]);
    assert_product([3, 1, 4], [1, 4, 1]);
    assert_product([3, 2, 0], [3, 0, 5]);
    assert_product([0, 2, 4], [0, 4, 5]);
}

#[test]
fn high_ranks() {
    assert_product([2, 3, 2, 4], [2, 3, 4, 5]);
    assert_product([2, 1, 2, 4], [1, 3, 4, 5]);
    assert_product([2, 3, 2, 4], [1, 1, 4, 5]);
    assert_product([2, 1, 3, 2, 4], [1, 2, 3, 4, 2]);
    assert_product([2, 2, 1, 1, 3], [2, 1, 2, 3, 1]);
    assert_product([1, 2, 1, 2, 2, 3], [2, 1, 3, 1, 3, 2]);
}

#[test]
fn sums_longer_than_one_part() {
    assert_product([2, 40_000], [40_000, 3]);
    assert_product([2, 1, 33_000], [2, 33_000, 2]);
}

/// Computed in parts on macOS 14.0 to 14.3, as which the gate runs this, too.
#[test]
fn extents_beyond_two_to_the_fifteenth() {
    assert_product([32_769, 2], [2, 3]);
    assert_product([3, 2], [2, 65_540]);
    assert_product([1, 33_000], [33_000, 2]);
    assert_product([2, 32_769, 1], [2, 1, 2]);
    assert_product([2, 2, 3], [1, 3, 32_770]);
    assert_product([1, 2, 2, 3], [2, 1, 3, 32_770]);
}

#[test]
fn operands_of_long_extents_that_are_views() {
    fn case<B: Backend>() -> Vec<TensorData> {
        let tall = quarters::<B, 2>([32_770, 3], DType::F32, 0);
        let wide = quarters::<B, 2>([3, 32_770], DType::F32, 1);
        vec![
            tall.clone().matmul(tall.clone().narrow(0, 5, 2).transpose()),
            wide.clone().transpose().matmul(tall.clone().narrow(0, 0, 3)),
            tall.clone().narrow(0, 9, 3).matmul(tall.clone().transpose()),
            tall.transpose().matmul(wide.transpose()),
        ]
        .into_iter()
        .map(Tensor::into_data)
        .collect()
    }
    compare_sums("long views", Tolerance::Relative(1e-5), case::<burn_flex::Flex>, case::<burn_mpsgraph::MpsGraph>);
}

/// Repeated rows and columns, which macOS 15 reads wrongly.
#[test]
fn operands_that_repeat() {
    fn case<B: Backend>() -> Vec<TensorData> {
        let row = quarters::<B, 2>([1, 5], DType::F32, 0) * 2.0;
        let column = quarters::<B, 2>([5, 1], DType::F32, 1) * 2.0;
        let full = Tensor::<B, 2>::full([33, 5], 0.75, &B::Device::default());
        vec![
            row.clone().expand([64, 5]).matmul(quarters([5, 16], DType::F32, 2)),
            quarters::<B, 2>([20, 5], DType::F32, 3).matmul(column.expand([5, 18])),
            full.matmul(row.expand([2, 5]).transpose()),
        ]
        .into_iter()
        .map(Tensor::into_data)
        .collect()
    }
    compare("repeated rows and columns", Tolerance::Exact, case::<burn_flex::Flex>, case::<burn_mpsgraph::MpsGraph>);
}

/// Products that macOS 27 fails to compile.
#[test]
fn reshapes_with_extents_of_one_around_a_product() {
    fn case<B: Backend>() -> Vec<TensorData> {
        let x = quarters::<B, 5>([2, 1, 2, 1, 2], DType::F32, 0) * 2.0;
        let w = quarters::<B, 2>([2, 4], DType::F32, 1);
        let row = quarters::<B, 1>([6], DType::F32, 2) + 0.5;
        vec![
            x.reshape([4, 2]).matmul(w.clone()).reshape([2, 1, 2, 1, 4]).into_data(),
            (row.clone().reshape([1, 1, 6]).matmul(row.reshape([1, 6, 1])) + 1.0).reshape([1]).into_data(),
            w.sum_dim(0)
                .reshape([1, 1, 1, 4])
                .matmul(Tensor::ones([1, 1, 4, 1], &B::Device::default()))
                .reshape([1, 1])
                .into_data(),
        ]
    }
    compare("reshape, product, reshape", Tolerance::Exact, case::<burn_flex::Flex>, case::<burn_mpsgraph::MpsGraph>);
}

#[test]
fn narrow_products_of_slices_with_few_rows() {
    fn case<B: Backend>(dtype: DType, sums: DType) -> Vec<TensorData> {
        let x = quarters::<B, 2>([9, 70], dtype, 0) * 2.0;
        let y = quarters::<B, 2>([70, 40], dtype, 1) * 2.0;
        vec![
            matmul(x.clone().slice([1..6, 3..40]), y.clone().slice([0..37, 2..33]), sums),
            matmul(y.slice([5..40, 1..3]).transpose(), x.slice([0..7, 3..38]).transpose(), sums),
        ]
    }
    for dtype in [DType::F16, DType::BF16] {
        compare_sums(
            &format!("few rows of {dtype:?}"),
            tolerance(dtype),
            || case::<burn_flex::Flex>(dtype, DType::F32),
            || case::<burn_mpsgraph::MpsGraph>(dtype, dtype),
        );
    }
}

/// Large enough for several threads, with numbers that are not exact.
#[test]
fn large_products() {
    fn case<B: Backend>() -> Vec<TensorData> {
        // The generator goes on, so one backend's numbers are read from the same data as the other's.
        let ([a, b], device) = (NUMBERS.clone(), B::Device::default());
        let (a, b) = (Tensor::<B, 3>::from_data(a, &device), Tensor::<B, 3>::from_data(b, &device));
        vec![
            a.clone().matmul(b.clone()).into_data(),
            b.clone().transpose().matmul(a.clone().transpose()).into_data(),
            a.flip([1]).matmul(b.narrow(0, 1, 1)).into_data(),
        ]
    }
    static NUMBERS: LazyLock<[TensorData; 2]> = LazyLock::new(|| [[3, 129, 200], [3, 200, 65]].map(random));
    compare_sums("large products", Tolerance::Relative(1e-5), case::<burn_flex::Flex>, case::<burn_mpsgraph::MpsGraph>);
}

#[test]
fn operands_that_are_views() {
    fn case<B: Backend>(layout: Layout, dtype: DType, sums: DType) -> Vec<TensorData> {
        let x = floats::<B>(layout, dtype, 0);
        let y = if x.shape().num_elements() == 0 {
            x.clone()
        } else {
            let [a, b, c] = x.dims();
            floats::<B>(Layout::Contiguous, dtype, 1).slice([0..a, 0..b, 0..c])
        };
        vec![
            matmul(x.clone(), y.clone().transpose(), sums),
            matmul(x.clone().transpose(), y.clone(), sums),
            matmul(x.clone().swap_dims(0, 1), y.clone().permute([1, 2, 0]), sums),
            matmul(x.clone().narrow(0, 0, 1), y.clone().transpose(), sums),
            matmul(x.clone().flip([2]), y.transpose().narrow(0, 0, 1), sums),
            matmul(x.clone(), x.transpose(), sums),
        ]
    }
    for layout in Layout::ALL {
        // To Burn, an empty part of a tensor has the default dtype.
        let dtypes = if layout == Layout::Empty { &FLOATS[..1] } else { &FLOATS };
        for &dtype in dtypes {
            compare_sums(
                &format!("products of views of {dtype:?}, {layout:?}"),
                tolerance(dtype),
                || case::<burn_flex::Flex>(layout, dtype, DType::F32),
                || case::<burn_mpsgraph::MpsGraph>(layout, dtype, dtype),
            );
        }
    }
}

/// What makes these operands ends in a permutation or a slice, which 16-bit products of few columns must not read in
/// place.
#[test]
fn operands_that_end_in_views() {
    fn case<B: Backend>(which: usize, dtype: DType, sums: DType) -> Option<Vec<TensorData>> {
        let x = |shape: [usize; 3]| quarters::<B, 3>(shape, dtype, 1);
        let images = || quarters::<B, 4>([1, 3, 6, 20], dtype, 2);
        let rows = match which {
            0 => x([2, 5, 1]).sort(0),
            1 => quarters::<B, 4>([3, 2, 4, 5], dtype, 1).prod_dim(0).reshape([2, 4, 5]),
            2 => quarters::<B, 4>([3, 3, 4, 3], dtype, 1).permute([2, 0, 3, 1]).sum_dim(1).reshape([4, 3, 3]),
            3 => max_pool2d(images(), [2, 1], [1, 2], [0, 0], [1, 1], false).reshape([3, 5, 10]),
            4 => max_pool2d(images(), [1, 9], [1, 3], [0, 0], [1, 1], false).reshape([3, 6, 4]),
            5 => avg_pool2d(images(), [1, 2], [1, 2], [0, 0], true, false).reshape([3, 6, 10]),
            _ => return None,
        };
        let [batch, count, inner] = rows.dims();
        let [columns, left] = [[batch, inner, 2], [batch, 2, count]].map(|shape| quarters::<B, 3>(shape, dtype, 3));
        Some(vec![matmul(rows.clone(), columns, sums), matmul(left, rows, sums)])
    }
    for dtype in FLOATS {
        for which in (0..).take_while(|&which| case::<burn_flex::Flex>(which, dtype, DType::F32).is_some()) {
            let found = |products: Option<Vec<TensorData>>| products.unwrap_or_default();
            compare_sums(
                &format!("products of {dtype:?}, operand {which}"),
                tolerance(dtype),
                || found(case::<burn_flex::Flex>(which, dtype, DType::F32)),
                || found(case::<burn_mpsgraph::MpsGraph>(which, dtype, dtype)),
            );
        }
    }
}

#[test]
fn rows_far_apart() {
    fn case<B: Backend>() -> Vec<TensorData> {
        let wide = Tensor::<B, 1, Int>::arange(0..3 * 40_000, &Default::default()).reshape([3, 40_000]);
        let wide = (wide % 7).float() * 2.0;
        let (cut, column) = (wide.clone().narrow(1, 50, 20), wide.clone().narrow(1, 39_000, 1));
        vec![
            cut.clone().matmul(wide.clone().narrow(1, 90, 20).transpose()).into_data(),
            cut.clone().transpose().matmul(cut).into_data(),
            wide.clone().narrow(1, 0, 3).matmul(column.clone()).into_data(),
            column.transpose().matmul(wide.narrow(1, 7, 9)).into_data(),
        ]
    }
    compare_sums(
        "products of slices of a wide tensor",
        tolerance(DType::F32),
        case::<burn_flex::Flex>,
        case::<burn_mpsgraph::MpsGraph>,
    );
}

#[test]
fn nan_and_infinity_reach_their_row_and_column_only() {
    fn case<B: Backend>(dtype: DType) -> Vec<TensorData> {
        let a = TensorData::from([[f32::NAN, 1.0], [f32::INFINITY, 1.0], [f32::NEG_INFINITY, 0.0], [2.0, 3.0]]);
        let b = TensorData::from([[1.0f32, 0.0, -2.0], [3.0, 4.0, f32::INFINITY]]);
        let [a, b] =
            [a, b].map(|data| Tensor::<B, 2>::from_data(data.convert_dtype(dtype), (&B::Device::default(), dtype)));
        vec![a.matmul(b).into_data()]
    }
    for dtype in FLOATS {
        let what = format!("NaN and infinities of {dtype:?}");
        compare(&what, Tolerance::Exact, || case::<burn_flex::Flex>(dtype), || case::<burn_mpsgraph::MpsGraph>(dtype));
    }
}

#[test]
fn sixteen_bit_products_are_summed_in_f32() {
    for (dtype, count) in [(DType::F16, 4097), (DType::BF16, 1025)] {
        let ones = |shape| Tensor::<burn_mpsgraph::MpsGraph, 2>::ones(shape, (&Default::default(), dtype));
        let found = ones([1, count]).matmul(ones([count, 1])).into_data().iter::<f32>().next();
        // Rounded once, from the exact sum; sums in 16 bits stop at 2048 and 256.
        assert_eq!(found, Some((count - 1) as f32), "{dtype:?}");
    }
}

/// macOS 26 loses the sum on M1 where the product has one row; the software runtime refuses it as that system.
#[test]
fn one_row_with_a_bias() {
    for width in [1, 3] {
        fn case<B: Backend>(width: usize) -> Vec<TensorData> {
            let [a, b] = [[1, 5], [5, width]].map(|shape| quarters::<B, 2>(shape, DType::F32, 1));
            let bias = quarters::<B, 2>([1, width], DType::F32, 2);
            let batch = quarters::<B, 3>([4, 1, 5], DType::F32, 3);
            let batched = batch.matmul(b.clone().unsqueeze()) + bias.clone().unsqueeze();
            vec![(a.matmul(b) + bias).into_data(), batched.into_data()]
        }
        compare(
            &format!("one row, {width} columns, with a bias"),
            Tolerance::Exact,
            || case::<burn_flex::Flex>(width),
            || case::<burn_mpsgraph::MpsGraph>(width),
        );
    }
}

/// Uniform numbers of burn-flex's generator.
fn random<const D: usize>(shape: [usize; D]) -> TensorData {
    Tensor::<burn_flex::Flex, D>::random(shape, Distribution::Uniform(-1.0, 1.0), &Default::default()).into_data()
}
