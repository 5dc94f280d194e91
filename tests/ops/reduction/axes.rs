//! Every axis of ranks one to six: beyond four, axes are collapsed.

use test_support::Tolerance::{Exact, Ulps};

cases! {
    every_axis(Exact) {
        all_dim = |x, axis| x.greater_elem(-3.0).all_dim(axis);
        any_dim = |x, axis| x.greater_elem(3.0).any_dim(axis);
        argmax = |x, axis| x.argmax(axis);
        argmin = |x, axis| x.argmin(axis);
        int_sum_dim = |x, axis| x.int().sum_dim(axis);
        max_dim = |x, axis| x.max_dim(axis);
        min_dim = |x, axis| x.min_dim(axis);
        sum_dim = |x, axis| x.sum_dim(axis);
    }

    every_axis(Ulps(1)) {
        mean_dim = |x, axis| x.mean_dim(axis);
    }

    every_axis(Ulps(4)) {
        prod_dim = |x, axis| x.prod_dim(axis);
    }
}
