//! Averages and their gradients.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{avg_pool1d, avg_pool2d};
use burn::tensor::{Tensor, TensorData};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout};

use super::{LAYOUTS, images, rows};
use crate::compare::{differentiate, gradient};

/// burn-flex sums f16 in 16 bits.
const SUMS: Tolerance = RelativeOf([1e-6, 1e-2, 1e-6]);
/// The gradients of bf16 too.
const GRADIENTS: Tolerance = RelativeOf([1e-6, 1e-2, 5e-2]);

/// Kernel, stride, padding, ceil mode.
type Options = ([usize; 2], [usize; 2], [usize; 2], bool);

const OPTIONS: [Options; 13] = [
    ([2, 2], [2, 2], [0, 0], false),
    ([3, 3], [2, 2], [1, 1], false),
    ([3, 2], [1, 2], [1, 0], true),
    ([2, 3], [3, 2], [1, 1], true),
    // Windows wholly in the padding.
    ([2, 2], [1, 1], [3, 2], false),
    // Windows that begin behind the image.
    ([2, 2], [4, 7], [0, 0], true),
    ([1, 1], [1, 1], [0, 0], false),
    ([1, 1], [2, 3], [0, 0], false),
    ([6, 5], [1, 1], [0, 0], false),
    ([3, 4], [3, 4], [0, 0], false),
    ([9, 10], [1, 2], [4, 5], false),
    ([5, 9], [2, 1], [2, 4], true),
    ([8, 3], [1, 1], [0, 1], true),
];

cases! {
    given(FLOATS, LAYOUTS, SUMS) {
        with_padding = |layout, dtype| every::<B>(images(layout, dtype), true);
        without_padding = |layout, dtype| every::<B>(images(layout, dtype), false);
        of_rows = |layout, dtype| every_row::<B>(rows(layout, dtype));
    }

    given_autodiff(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Empty], GRADIENTS) {
        // burn-flex divides by the whole kernel where ceil mode has windows reach beyond the padding, and so gives
        // another gradient than that of its averages: see the line by hand.
        gradients_with_padding = |layout, dtype| {
            let options = OPTIONS.into_iter().filter(|&(.., ceil)| !ceil);
            options.flat_map(|options| of_leaf::<B>(images(layout, dtype), options, true)).collect::<Vec<_>>()
        };
        gradients_without_padding = |layout, dtype| {
            let options = OPTIONS.into_iter();
            options.flat_map(|options| of_leaf::<B>(images(layout, dtype), options, false)).collect::<Vec<_>>()
        };
        gradients_of_rows = |layout, dtype| {
            let options = [(3, 2, 1), (2, 5, 0), (20, 1, 7), (25, 2, 12)].into_iter();
            options.flat_map(|options| of_row::<B>(rows(layout, dtype), options)).collect::<Vec<_>>()
        };
    }

    by_hand() {
        avg_pool1d = |x = [[[1.0, 5.0, 2.0, 4.0, 3.0]]]| avg_pool1d(x, 2, 2, 1, true, false) => [[[0.5, 3.5, 3.5]]];
        avg_pool2d = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0], [7.0, 9.0, 8.0]]]]|
            avg_pool2d(x, [2, 2], [1, 1], [0, 0], false, false) => [[[[3.5, 3.5], [6.75, 6.5]]]];
        // The last window has one element; what is beyond the padding does not count.
        avg_pool1d_beyond_the_padding = |x = [[[1.0, 5.0, 2.0, 4.0]]]| avg_pool1d(x, 3, 3, 0, true, true)
            => [[[2.6666667, 4.0]]];
        avg_pool1d_without_padding = |x = [[[1.0, 5.0, 2.0, 4.0, 3.0]]]| avg_pool1d(x, 2, 2, 1, false, false)
            => [[[1.0, 3.5, 3.5]]];
    }

    gradients_by_hand() {
        avg_pool1d_backward = |x = [[[1.0, 5.0, 2.0, 4.0]]]| avg_pool1d(x, 2, 1, 0, true, false)
            => [[[0.5, 1.0, 1.0, 0.5]]];
        avg_pool2d_backward = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]]]|
            avg_pool2d(x, [2, 2], [1, 1], [0, 0], true, false) => [[[[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]]];
        avg_pool1d_stride_beyond_the_axis = |x = [[[1.0, 5.0, 2.0, 4.0]]]| avg_pool1d(x, 2, 1 << 30, 0, true, false)
            => [[[0.5, 0.5, 0.0, 0.0]]];
        // The last window's average is its one element.
        avg_pool1d_beyond_the_padding = |x = [[[1.0, 5.0, 2.0, 4.0]]]| avg_pool1d(x, 3, 3, 0, true, true)
            => [[[0.33333334, 0.33333334, 0.33333334, 1.0]]];
    }
}

fn every<B: Backend>(x: Tensor<B, 4>, count_include_pad: bool) -> Vec<TensorData> {
    let of = |(kernel, stride, padding, ceil)| {
        avg_pool2d(x.clone(), kernel, stride, padding, count_include_pad, ceil).into_data()
    };
    OPTIONS.into_iter().map(of).collect()
}

fn every_row<B: Backend>(x: Tensor<B, 3>) -> Vec<TensorData> {
    let options = [(2, 2, 0, false), (3, 2, 1, true), (4, 3, 5, true), (30, 1, 0, false), (13, 2, 6, false)];
    let of = |(kernel, stride, padding, ceil)| avg_pool1d(x.clone(), kernel, stride, padding, true, ceil).into_data();
    options.into_iter().map(of).collect()
}

fn of_leaf<B: AutodiffBackend>(x: Tensor<B, 4>, options: Options, count_include_pad: bool) -> Vec<TensorData> {
    let (kernel, stride, padding, ceil) = options;
    let leaf = x.require_grad();
    let output = avg_pool2d(leaf.clone(), kernel, stride, padding, count_include_pad, ceil);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}

fn of_row<B: AutodiffBackend>(x: Tensor<B, 3>, (kernel, stride, padding): (usize, usize, usize)) -> Vec<TensorData> {
    let leaf = x.require_grad();
    let output = avg_pool1d(leaf.clone(), kernel, stride, padding, true, false);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}
