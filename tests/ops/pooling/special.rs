//! NaN and infinities. In burn-flex the effect of NaN depends on its place in the window; here NaN wins, as in the
//! reductions, and its index is the first one.

use burn::tensor::module::{
    adaptive_avg_pool1d, avg_pool1d, avg_pool2d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices,
};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

cases! {
    by_hand() {
        nan_wins = |x = [[[1.0, NAN, 2.0, 4.0, INF, NAN, 0.0]]]| max_pool1d(x, 2, 1, 0, 1, false)
            => [[[NAN, NAN, 4.0, INF, NAN, NAN]]];
        nan_wins_in_images = |x = [[[[1.0, 2.0, 3.0], [4.0, NAN, 5.0], [6.0, 7.0, 8.0]]]]|
            max_pool2d(x, [2, 2], [2, 2], [1, 1], [1, 1], false) => [[[[1.0, 3.0], [6.0, NAN]]]];
        position_of_nan = |x = [[[INF, NAN, 9.0, NAN, 1.0, 2.0]]]|
            max_pool1d_with_indices(x, 3, 1, 0, 1, false).1 => [[[1, 1, 3, 3]]];
        position_of_nan_in_images = |x = [[[[1.0, 2.0, NAN], [NAN, 9.0, 5.0]]]]|
            max_pool2d_with_indices(x, [2, 2], [1, 1], [0, 0], [1, 1], false).1 => [[[[3, 2]]]];
        position_of_nan_in_many = |x = [[[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, NAN, 1.0, 0.0, NAN, 0.0, 1.0]]]|
            max_pool1d_with_indices(x, 9, 2, 1, 1, true).1 => [[[6, 6, 6, 6]]];
        // The position is that of minus infinity, not of the padding beside it.
        position_of_minus_infinity = |x = [[[[-INF, -INF], [-INF, -INF]]]]|
            max_pool2d_with_indices(x, [2, 2], [1, 1], [1, 1], [1, 1], false).1
            => [[[[0, 0, 1], [0, 0, 1], [2, 2, 3]]]];
        position_of_minus_infinity_beside_padding = |x = [[[[-INF, -INF], [-INF, -INF]]]]|
            max_pool2d_with_indices(x, [2, 2], [1, 1], [0, 1], [1, 1], false).1 => [[[[0, 0, 1]]]];
        // Windows without an element have the index -1.
        no_position = |x = [[[1.0, 2.0]]]| max_pool1d_with_indices(x, 1, 1, 2, 1, false).1
            => [[[-1, -1, 0, 1, -1, -1]]];
        no_maximum = |x = [[[1.0, 2.0]]]| max_pool1d(x, 1, 1, 2, 1, false) => [[[-INF, -INF, 1.0, 2.0, -INF, -INF]]];
        // The contents of one window do not affect another.
        averages_of_infinities = |x = [[[1.0, INF, 2.0, -INF, 3.0, 5.0, NAN, 1.0, 7.0]]]|
            avg_pool1d(x, 2, 2, 1, true, false) => [[[0.5, INF, -INF, NAN, 4.0]]];
        averages_of_many = |x = [[[INF, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, NAN]]]|
            avg_pool1d(x, 9, 1, 0, true, false) => [[[INF, 5.0, 6.0, NAN]]];
        averages_of_images = |x = [[[[NAN, 2.0, 3.0], [4.0, 5.0, 6.0]]]]|
            avg_pool2d(x, [1, 2], [1, 1], [0, 0], true, false) => [[[[NAN, 2.5], [4.5, 5.5]]]];
        averages_of_parts = |x = [[[INF, 1.0, 3.0, 5.0, NAN]]]| adaptive_avg_pool1d(x, 3) => [[[INF, 3.0, NAN]]];
        averages_of_many_parts = |x = [[[INF, 1.0, 3.0, 5.0, NAN]]]| adaptive_avg_pool1d(x, 4)
            => [[[INF, 2.0, 4.0, NAN]]];
    }

    gradients_by_hand() {
        gradient_of_nan = |x = [[[1.0, NAN, 2.0, 4.0]]]| max_pool1d(x, 2, 1, 0, 1, false) => [[[0.0, 2.0, 0.0, 1.0]]];
        no_gradient = |x = [[[1.0, 2.0]]]| max_pool1d(x, 1, 1, 2, 1, false) => [[[1.0, 1.0]]];
    }
}
