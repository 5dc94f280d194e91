//! The softmax family on every axis.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData, activation as act};
use test_support::Tolerance::{Exact, Relative, Ulps};
use test_support::{FLOATS, Layout};

use crate::compare::assert_gives;

cases! {
    // Sums of exponentials in any order; the results are at most 1.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(4)) {
        quiet_softmax_0 = |x| act::quiet_softmax(x, 0);
        quiet_softmax_1 = |x| act::quiet_softmax(x, 1);
        quiet_softmax_2 = |x| act::quiet_softmax(x, 2);
        softmax_0 = |x| act::softmax(x, 0);
        softmax_1 = |x| act::softmax(x, 1);
        softmax_2 = |x| act::softmax(x, 2);
        softmin_0 = |x| act::softmin(x, 0);
        softmin_1 = |x| act::softmin(x, 1);
        softmin_2 = |x| act::softmin(x, 2);
    }

    // A difference, which cancels where the probability is near 1.
    sweep(floats, FLOATS, Layout::PLAIN, Relative(3e-7)) {
        log_softmax_0 = |x| act::log_softmax(x, 0);
        log_softmax_1 = |x| act::log_softmax(x, 1);
        log_softmax_2 = |x| act::log_softmax(x, 2);
    }

    sweep(floats, FLOATS, [Layout::Empty], Exact) {
        empty_log_softmax = |x| act::log_softmax(x, 2);
        empty_softmax = |x| act::softmax(x, 2);
        empty_softmin = |x| act::softmin(x, 2);
    }

    by_hand() {
        softmax = |x = [[0.0, 0.0], [0.0, 100.0]]| act::softmax(x, 1) => [[0.5, 0.5], [0.0, 1.0]];
        softmin = |x = [[0.0, 0.0], [-100.0, 0.0]]| act::softmin(x, 1) => [[0.5, 0.5], [1.0, 0.0]];
        log_softmax = |x = [[0.0, 0.0], [100.0, 0.0]]| act::log_softmax(x, 1)
            => [[-0.693147, -0.693147], [0.0, -100.0]];
    }
}

#[test]
fn every_axis_of_rank_six() {
    fn case<B: Backend>(axis: usize) -> TensorData {
        let numbers: Vec<f32> = (0..2 * 3 * 4 * 2 * 3).map(|i| ((i * 37 + 5) % 67) as f32 / 8.0 - 4.0).collect();
        let x = Tensor::<B, 6>::from_data(TensorData::new(numbers, [2, 3, 1, 4, 2, 3]), &B::Device::default());
        Tensor::cat(vec![act::softmax(x.clone(), axis), act::log_softmax(x, axis)], 0).into_data()
    }
    for axis in 0..6 {
        let flex = case::<burn_flex::Flex>(axis);
        let ours = || case::<burn_mpsgraph::MpsGraph>(axis);
        assert_gives(&format!("axis {axis}"), &flex, ours, Relative(1e-6));
    }
}

#[test]
fn odd_extents_sum_to_one() {
    // Around the widths of vectors, along the last and the first axis.
    for extent in (1..20).chain([31, 33, 63, 65, 127, 129, 1000]) {
        let x = || {
            let numbers: Vec<f32> = (0..3 * extent).map(|i| ((i * 37 + 5) % 67) as f32 / 8.0 - 4.0).collect();
            let x = Tensor::<burn_mpsgraph::MpsGraph, 1>::from_floats(numbers.as_slice(), &Default::default());
            x.reshape([3, extent])
        };
        let ones = TensorData::from([1.0f32; 3]);
        let what = format!("extent {extent}");
        let last = || act::softmax(x(), 1).sum_dim(1).flatten::<1>(0, 1).into_data();
        assert_gives(&what, &ones, last, Relative(1e-6));
        let first = || act::softmax(x().transpose(), 0).sum_dim(0).flatten::<1>(0, 1).into_data();
        assert_gives(&what, &ones, first, Relative(1e-6));
    }
}
