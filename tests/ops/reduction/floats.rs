//! Reductions of floats.

use burn::tensor::DType;
use test_support::Tolerance::{Exact, Relative, Ulps};
use test_support::{FLOATS, Layout};

cases! {
    // Multiples of 1/8, whose sums are exact in f32, so that rounding to the dtype is all there is.
    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        sum = |x| x.sum();
        sum_dim_0 = |x| x.sum_dim(0);
        sum_dim_1 = |x| x.sum_dim(1);
        sum_dim_2 = |x| x.sum_dim(2);
        sum_dims = |x| x.sum_dims(&[0, 2]);
        sum_dims_squeeze = |x| x.sum_dims_squeeze::<1, _>(&[0, 1]);
    }

    // The order of multiplication is free.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(4)) {
        prod = |x| x.prod();
        prod_dim_0 = |x| x.prod_dim(0);
        prod_dim_1 = |x| x.prod_dim(1);
        prod_dim_2 = |x| x.prod_dim(2);
        prod_dims = |x| x.prod_dims(&[1, 2]);
    }

    // A sum times 1/n or over n.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(1)) {
        mean = |x| x.mean();
        mean_dim_0 = |x| x.mean_dim(0);
        mean_dim_1 = |x| x.mean_dim(1);
        mean_dim_2 = |x| x.mean_dim(2);
        mean_dims = |x| x.mean_dims(&[0, 1]);
    }

    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        max = |x| x.max();
        max_abs = |x| x.max_abs();
        max_abs_dim_1 = |x| x.max_abs_dim(1);
        max_abs_dims = |x| x.max_abs_dims(&[0, 2]);
        min = |x| x.min();
    }

    // Empty in the axis that stays, NaN and infinities in all.
    sweep(floats, FLOATS, Layout::ALL, Exact) {
        argmax_0 = |x| x.argmax(0);
        argmax_2 = |x| x.argmax(2);
        argmin_0 = |x| x.argmin(0);
        argmin_2 = |x| x.argmin(2);
        max_dim_0 = |x| x.max_dim(0);
        max_dim_2 = |x| x.max_dim(2);
        max_dim_with_indices_0 = |x| x.max_dim_with_indices(0).0;
        max_dim_with_indices_1 = |x| x.max_dim_with_indices(2).1;
        max_dims = |x| x.max_dims(&[0, 2]);
        min_dim_0 = |x| x.min_dim(0);
        min_dim_2 = |x| x.min_dim(2);
        min_dim_with_indices_0 = |x| x.min_dim_with_indices(0).0;
        min_dim_with_indices_1 = |x| x.min_dim_with_indices(2).1;
        min_dims = |x| x.min_dims(&[0, 2]);
    }

    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        argmax_1 = |x| x.argmax(1);
        argmin_1 = |x| x.argmin(1);
        max_dim_1 = |x| x.max_dim(1);
        min_dim_1 = |x| x.min_dim(1);
    }

    sweep(floats, FLOATS, Layout::ALL, Exact) {
        all = |x| x.all();
        all_dim = |x| x.all_dim(1);
        any = |x| x.any();
        any_dim = |x| x.any_dim(1);
        any_of_zeros = |x| (x * 0.0).any();
        contains_nan = |x| x.contains_nan();
    }

    // Extents of 0 along the axis: the neutral element.
    sweep(floats, FLOATS, [Layout::Empty], Exact) {
        empty_mean_of_other_axis = |x| x.mean_dim(0);
        empty_prod = |x| x.prod();
        empty_prod_dim = |x| x.prod_dim(1);
        empty_sum = |x| x.sum();
        empty_sum_dim = |x| x.sum_dim(1);
        empty_sum_of_other_axis = |x| x.sum_dim(2);
    }

    // Burn composes these; burn-flex rounds 16-bit intermediates one by one, which the difference of squares enlarges.
    sweep(floats, [DType::F32], [Layout::Contiguous, Layout::Transposed, Layout::Sliced], Relative(3e-7)) {
        cov = |x| x.cov(1, 1);
        var = |x| x.var(1);
        var_bias = |x| x.var_bias(2);
        var_mean_mean = |x| x.var_mean(0).1;
    }

    by_hand() {
        all = |x = [1.0, 0.0, 2.0]| x.all() => [false];
        all_dim = |x = [[1.0, 0.0], [2.0, 3.0]]| x.all_dim(1) => [[false], [true]];
        any = |x = [0.0, 0.0, 2.0]| x.any() => [true];
        any_dim = |x = [[0.0, 0.0], [0.0, 3.0]]| x.any_dim(1) => [[false], [true]];
        argmax = |x = [[1.0, 5.0, 3.0], [6.0, 5.0, 6.0]]| x.argmax(1) => [[1], [0]];
        argmin = |x = [[1.0, 5.0, 3.0], [6.0, 5.0, 6.0]]| x.argmin(1) => [[0], [1]];
        max = |x = [1.0, -5.0, 3.0]| x.max() => [3.0];
        max_abs = |x = [1.0, -5.0, 3.0]| x.max_abs() => [5.0];
        max_abs_dim = |x = [[1.0, -5.0], [3.0, 2.0]]| x.max_abs_dim(1) => [[5.0], [3.0]];
        max_dim = |x = [[1.0, -5.0], [3.0, 2.0]]| x.max_dim(0) => [[3.0, 2.0]];
        max_dim_with_indices = |x = [[1.0, -5.0], [3.0, 2.0]]| x.max_dim_with_indices(1).1 => [[0], [0]];
        mean = |x = [1.0, 2.0, 6.0]| x.mean() => [3.0];
        mean_dim = |x = [[1.0, 2.0], [3.0, 6.0]]| x.mean_dim(1) => [[1.5], [4.5]];
        min = |x = [1.0, -5.0, 3.0]| x.min() => [-5.0];
        min_dim = |x = [[1.0, -5.0], [3.0, 2.0]]| x.min_dim(0) => [[1.0, -5.0]];
        min_dim_with_indices = |x = [[1.0, -5.0], [3.0, 2.0]]| x.min_dim_with_indices(1).1 => [[1], [1]];
        prod = |x = [1.0, -2.0, 3.0]| x.prod() => [-6.0];
        prod_dim = |x = [[1.0, 2.0], [3.0, 6.0]]| x.prod_dim(1) => [[2.0], [18.0]];
        sum = |x = [1.0, -2.0, 3.5]| x.sum() => [2.5];
        sum_dim = |x = [[1.0, 2.0], [3.0, 6.0]]| x.sum_dim(0) => [[4.0, 8.0]];
    }
}
