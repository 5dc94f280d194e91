//! Running sums, products and extremes. burn-flex takes one element after the other; here blocks are joined, so floats
//! do not agree bit for bit.

use burn::tensor::{DType, Tensor};
use test_support::Tolerance::{Exact, Relative, RelativeOf};
use test_support::{FLOATS, INTEGERS, Layout, assert_refused, ints};

cases! {
    sweep(floats, FLOATS, Layout::ALL, RelativeOf([1e-6, 1e-3, 1e-2])) {
        cumsum = |x| x.cumsum(1);
        cumsum_of_the_last_axis = |x| x.cumsum(2);
        cumprod = |x| x.cumprod(1);
        cumprod_of_the_last_axis = |x| x.cumprod(2);
    }

    sweep(floats, FLOATS, Layout::ALL, Exact) {
        cummax = |x| x.cummax(1);
        cummax_of_the_last_axis = |x| x.cummax(2);
        cummin = |x| x.cummin(1);
        cummin_of_the_last_axis = |x| x.cummin(2);
    }

    sweep(ints, INTEGERS, Layout::ALL, Exact) {
        int_cummax = |x| x.cummax(1);
        int_cummin = |x| x.cummin(2);
        int_cumprod = |x| x.cumprod(1);
        int_cumsum = |x| x.cumsum(1);
    }

    every_axis(Relative(1e-6)) {
        cummax_of_every_rank = |x, axis| x.cummax(axis);
        cummin_of_every_rank = |x, axis| x.cummin(axis);
        cumprod_of_every_rank = |x, axis| x.cumprod(axis);
        cumsum_of_every_rank = |x, axis| x.cumsum(axis);
    }

    gradients(FLOATS, Layout::PLAIN, RelativeOf([1e-6, 2e-3, 2e-2])) {
        cumsum_gradient = |x| x.cumsum(1);
        cummax_gradient = |x| x.cummax(1);
    }

    // Rows of many blocks and blocks that are not whole, exact in f32 and i64.
    given([DType::I64], [Layout::Contiguous], Exact) {
        cumsum_of_long_rows = |layout, dtype| {
            let x = ints::<B>(layout, dtype, 0).reshape([30]).repeat(&[3001]);
            let [rows, columns] = [x.clone().reshape([3, 30010]).cumsum(1), x.clone().reshape([30010, 3]).cumsum(0)];
            vec![x.cumsum(0), rows.reshape([-1]), columns.reshape([-1])]
        };
    }

    by_hand() {
        cumsum = |x = [[1.0, 2.0, 4.0], [8.0, -8.0, 0.5]]| x.cumsum(1) => [[1.0, 3.0, 7.0], [8.0, 0.0, 0.5]];
        cumprod = |x = [[1.0, 2.0, 4.0], [8.0, -0.5, 0.0]]| x.cumprod(1) => [[1.0, 2.0, 8.0], [8.0, -4.0, 0.0]];
        cummin = |x = [3.0, -1.0, 2.0, -2.0]| x.cummin(0) => [3.0, -1.0, -1.0, -2.0];
        cummax = |x = [-3.0, 1.0, -2.0, 2.0]| x.cummax(0) => [-3.0, 1.0, 1.0, 2.0];
        int_cumprod = |x = [[1, 2, 4], [8, -3, 0]]| x.cumprod(1) => [[1, 2, 8], [8, -24, 0]];
        int_cummin = |x = [16777217, 16777216, 16777218]| x.cummin(0) => [16777217, 16777216, 16777216];
        int_cummax = |x = [16777216, 16777217, 5]| x.cummax(0) => [16777216, 16777217, 16777217];
        int_cumsum = |x = [[1, 2], [16777216, 3], [1, -4]]| x.cumsum(0) => [[1, 2], [16777217, 5], [16777218, 1]];
    }
}

#[test]
fn a_nan_stays() {
    let x = Tensor::<burn_mpsgraph::MpsGraph, 1>::from_data([1.0, f32::NAN, 1.0], &Default::default());
    for found in [x.clone().cumsum(0), x.clone().cumprod(0), x.clone().cummin(0), x.cummax(0)] {
        let found: Vec<f32> = found.into_data().to_vec().unwrap();
        assert!(found[0] == 1.0 && found[1].is_nan() && found[2].is_nan(), "{found:?}");
    }
}

/// 16-bit floats are accumulated in f32, and each result is rounded once.
#[test]
fn results_of_16_bits_are_rounded_once() {
    use burn::tensor::{TensorData, backend::Backend};

    fn results<B: Backend>(computed: DType) -> Vec<TensorData> {
        let numbers: Vec<f32> = (0..600).map(|i| ((i * 37 + 5) % 67) as f32 / 64.0 + 0.5).collect();
        let data = TensorData::new(numbers, [3, 200]).convert_dtype(computed);
        let x = Tensor::<B, 2>::from_data(data, (&B::Device::default(), computed));
        let columns = x.clone().swap_dims(0, 1);
        [x.clone().cumsum(1), x.clone().cumprod(1).slice([0..3, 0..20]), columns.cumsum(0)]
            .map(Tensor::into_data)
            .into()
    }
    for dtype in [DType::F16, DType::BF16] {
        let rounded = || {
            let exact = results::<burn_flex::Flex>(DType::F32).into_iter();
            exact.map(|data| data.convert_dtype(dtype)).collect()
        };
        let found = || results::<burn_mpsgraph::MpsGraph>(dtype);
        crate::compare::compare(&format!("{dtype:?}"), test_support::Tolerance::Ulps(1), rounded, found);
    }
}

#[test]
fn gradients_are_difference_quotients() {
    use crate::differences::{check, weighted};

    let numbers: Vec<f32> = (0..12).map(|i| (i * 5 % 12) as f32 / 4.0 - 1.375).collect();
    let x = burn::tensor::TensorData::new(numbers, [3, 4]);
    for dim in [0, 1] {
        check::<2>("cumsum", &x, 0.5, |x| weighted(x.cumsum(dim)));
        check::<2>("cumprod", &x, 0.5, |x| weighted(x.cumprod(dim)));
        // No element passes another one.
        check::<2>("cummax", &x, 1.0 / 16.0, |x| weighted(x.cummax(dim)));
        check::<2>("cummin", &x, 1.0 / 16.0, |x| weighted(x.cummin(dim)));
    }
}

#[test]
fn an_axis_that_is_not_there_is_refused() {
    use burn::tensor::ops::FloatTensorOps;
    type B = burn_mpsgraph::MpsGraph;
    let x = Tensor::<B, 2>::zeros([2, 3], &Default::default()).into_primitive().tensor();
    assert_refused(&["cumsum", "dim 2", "[2, 3]"], || B::float_cumsum(x, 2));
}
