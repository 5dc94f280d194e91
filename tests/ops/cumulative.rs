//! Running sums and products. burn-flex takes one element after the other; here blocks are joined, so floats are not bit
//! for bit.

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

    sweep(ints, INTEGERS, Layout::ALL, Exact) {
        int_cumsum = |x| x.cumsum(1);
    }

    every_axis(Relative(1e-6)) {
        cumprod_of_every_rank = |x, axis| x.cumprod(axis);
        cumsum_of_every_rank = |x, axis| x.cumsum(axis);
    }

    gradients(FLOATS, Layout::PLAIN, RelativeOf([1e-6, 2e-3, 2e-2])) {
        cumsum_gradient = |x| x.cumsum(1);
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
        int_cumsum = |x = [[1, 2], [16777216, 3], [1, -4]]| x.cumsum(0) => [[1, 2], [16777217, 5], [16777218, 1]];
    }
}

#[test]
fn a_nan_stays() {
    let x = Tensor::<burn_mpsgraph::MpsGraph, 1>::from_data([1.0, f32::NAN, 1.0], &Default::default());
    let sums: Vec<f32> = x.cumsum(0).into_data().to_vec().unwrap();
    assert!(sums[0] == 1.0 && sums[1].is_nan() && sums[2].is_nan(), "{sums:?}");
}

#[test]
fn an_axis_that_is_not_there_is_refused() {
    use burn::tensor::ops::FloatTensorOps;
    type B = burn_mpsgraph::MpsGraph;
    let x = Tensor::<B, 2>::zeros([2, 3], &Default::default()).into_primitive().tensor();
    assert_refused(&["cumsum", "dim 2", "[2, 3]"], || B::float_cumsum(x, 2));
}
