//! Maxima, their positions, and their gradients.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices};
use burn::tensor::{IntDType, Tensor, TensorData, s};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, RelativeOf, Ulps};
use test_support::{FLOATS, Layout};

use super::{LAYOUTS, images, rows};
use crate::compare::{differentiate, gradient};

/// Kernel, stride, padding, dilation, ceil mode.
type Options = ([usize; 2], [usize; 2], [usize; 2], [usize; 2], bool);

const OPTIONS: [Options; 14] = [
    ([2, 2], [2, 2], [0, 0], [1, 1], false),
    ([3, 3], [2, 2], [1, 1], [1, 1], false),
    ([3, 2], [1, 2], [1, 0], [1, 1], true),
    ([2, 3], [3, 2], [1, 1], [2, 1], true),
    // Windows wholly in the padding, before the image and behind it.
    ([2, 2], [1, 1], [3, 2], [1, 2], false),
    // Windows that begin behind the image.
    ([2, 2], [4, 7], [0, 0], [1, 1], true),
    // Windows whose elements are on both sides of the image.
    ([2, 2], [1, 1], [4, 4], [8, 7], false),
    ([1, 1], [1, 1], [0, 0], [1, 1], false),
    ([1, 1], [2, 3], [0, 0], [1, 1], false),
    ([6, 5], [1, 1], [0, 0], [1, 1], false),
    ([3, 4], [3, 4], [0, 0], [1, 1], false),
    ([9, 10], [1, 2], [4, 5], [1, 1], false),
    ([5, 9], [2, 1], [4, 9], [2, 2], true),
    // One window, larger than the padded image.
    ([8, 3], [1, 1], [0, 1], [1, 1], true),
];

cases! {
    // Which of two zeros is the maximum is not defined, though the first one's position is.
    given(FLOATS, LAYOUTS, Ulps(0)) {
        of_images = |layout, dtype| every::<B>(images(layout, dtype));
        of_rows = |layout, dtype| every_row::<B>(rows(layout, dtype));
    }

    given(FLOATS, [Layout::Single], Exact) {
        of_one_element = |layout, dtype| {
            let x = images::<B>(layout, dtype);
            let (maximum, index) = max_pool2d_with_indices(x, [3, 3], [1, 1], [1, 1], [1, 1], false);
            vec![maximum.into_data(), index.cast(IntDType::I64).into_data()]
        };
    }

    // Where windows overlap, burn-flex sums 16-bit gradients in 16 bits.
    given_autodiff(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Empty], RelativeOf([1e-6, 5e-3, 4e-2])) {
        gradients_of_images = |layout, dtype| OPTIONS.into_iter().flat_map(|options| {
            of_leaf::<B>(images(layout, dtype), options)
        }).collect::<Vec<_>>();
        gradients_of_rows = |layout, dtype| {
            let leaf = rows::<B>(layout, dtype).require_grad();
            let output = max_pool1d(leaf.clone(), 4, 3, 2, 2, true);
            differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
        };
    }

    by_hand() {
        max_pool1d = |x = [[[1.0, 5.0, 2.0, 4.0, 3.0]]]| max_pool1d(x, 2, 2, 0, 1, false) => [[[5.0, 4.0]]];
        max_pool2d = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0], [7.0, 9.0, 8.0]]]]|
            max_pool2d(x, [2, 2], [1, 1], [0, 0], [1, 1], false) => [[[[6.0, 5.0], [9.0, 9.0]]]];
        max_pool1d_with_indices = |x = [[[1.0, 5.0, 5.0, 4.0, 3.0]]]|
            max_pool1d_with_indices(x, 3, 1, 0, 1, false).1 => [[[1, 1, 2]]];
        // Of the equal ones that of the first row, though another is in an earlier column.
        max_pool2d_with_indices = |x = [[[[1.0, 7.0], [7.0, 1.0]]]]|
            max_pool2d_with_indices(x, [2, 2], [1, 1], [0, 0], [1, 1], false).1 => [[[[1]]]];
    }

    gradients_by_hand() {
        max_pool1d_with_indices_backward = |x = [[[1.0, 5.0, 2.0, 4.0]]]| max_pool1d(x, 2, 1, 0, 1, false)
            => [[[0.0, 2.0, 0.0, 1.0]]];
        max_pool2d_with_indices_backward = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0], [7.0, 9.0, 8.0]]]]|
            max_pool2d(x, [2, 2], [1, 1], [0, 0], [1, 1], false)
            => [[[[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]]]];
    }
}

/// Maxima, and maxima with their positions.
fn every<B: Backend>(x: Tensor<B, 4>) -> Vec<TensorData> {
    let of = |(kernel, stride, padding, dilation, ceil): Options| {
        let (maxima, indices) = max_pool2d_with_indices(x.clone(), kernel, stride, padding, dilation, ceil);
        let alone = max_pool2d(x.clone(), kernel, stride, padding, dilation, ceil);
        [alone.into_data(), maxima.into_data(), indices.cast(IntDType::I64).into_data()]
    };
    OPTIONS.into_iter().flat_map(of).collect()
}

fn every_row<B: Backend>(x: Tensor<B, 3>) -> Vec<TensorData> {
    let options =
        [(2, 2, 0, 1, false), (3, 2, 1, 1, true), (4, 3, 5, 3, true), (30, 1, 0, 1, false), (13, 2, 6, 2, false)];
    let of = |(kernel, stride, padding, dilation, ceil)| {
        let (maxima, indices) = max_pool1d_with_indices(x.clone(), kernel, stride, padding, dilation, ceil);
        let alone = max_pool1d(x.clone(), kernel, stride, padding, dilation, ceil);
        [alone.into_data(), maxima.into_data(), indices.cast(IntDType::I64).into_data()]
    };
    options.into_iter().flat_map(of).collect()
}

fn of_leaf<B: AutodiffBackend>(x: Tensor<B, 4>, options: Options) -> Vec<TensorData> {
    let (kernel, stride, padding, dilation, ceil) = options;
    let leaf = x.require_grad();
    let output = max_pool2d(leaf.clone(), kernel, stride, padding, dilation, ceil);
    // Where there is no element the maximum is -inf, and a gradient that is weighted with it would be NaN.
    let output = output.clone().mask_fill(output.is_inf(), 0.0);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}

/// An f32 counts to 2^24 only.
#[test]
fn indices_beyond_what_an_f32_counts() {
    const WIDTH: usize = 4096;
    let image = Tensor::<MpsGraph, 4>::zeros([1, 1, 4200, WIDTH], &Default::default());
    let image = image.slice_fill(s![.., .., 0, 4095], 1.0).slice_fill(s![.., .., 4199, 4095], 2.0);

    let (maxima, indices) = max_pool2d_with_indices(image, [2, 2], [4198, 4094], [0, 0], [1, 1], false);

    maxima.into_data().assert_eq(&TensorData::from([[[[0.0f32, 1.0], [0.0, 2.0]]]]), true);
    let expected = [[[[0, 4095], [4198 * WIDTH as i32, 4199 * WIDTH as i32 + 4095]]]];
    indices.into_data().assert_eq(&TensorData::from(expected), false);
}
