//! Small convolutions whose numbers a person can check.

use burn::tensor::module::{conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};

cases! {
    by_hand() {
        conv1d = |x = [[[1.0, 2.0, 3.0, 4.0]]], w = [[[1.0, 2.0]]], b = [10.0]|
            conv1d(x, w, Some(b), plain()) => [[[15.0, 18.0, 21.0]]];
        conv2d = |x = [[[[1.0, 2.0], [3.0, 4.0]]]], w = [[[[1.0, 2.0], [3.0, 4.0]]]]|
            conv2d(x, w, None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1))
            => [[[[4.0, 11.0, 6.0], [14.0, 30.0, 14.0], [6.0, 11.0, 4.0]]]];
        conv2d_of_nan = |x = [[[[f64::NAN, 2.0, 3.0]]]], w = [[[[1.0, 2.0]]]]|
            conv2d(x, w, None, plain()) => [[[[f64::NAN, 8.0]]]];
        conv3d = |x = [[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]], w = [[[[[1.0]], [[2.0]]]]]|
            conv3d(x, w, None, plain()) => [[[[[11.0, 14.0], [17.0, 20.0]]]]];
        conv_transpose1d = |x = [[[1.0, 2.0]]], w = [[[1.0, 2.0, 3.0]]], b = [10.0]|
            conv_transpose1d(x, w, Some(b), strided([2])) => [[[11.0, 12.0, 15.0, 14.0, 16.0]]];
        conv_transpose2d = |x = [[[[1.0, 2.0]]]], w = [[[[1.0], [3.0]]]]|
            conv_transpose2d(x, w, None, strided([1, 1])) => [[[[1.0, 2.0], [3.0, 6.0]]]];
        conv_transpose3d = |x = [[[[[1.0]], [[2.0]]]]], w = [[[[[1.0, 3.0]]]]]|
            conv_transpose3d(x, w, None, strided([2, 1, 1])) => [[[[[1.0, 3.0]], [[0.0, 0.0]], [[2.0, 6.0]]]]];
    }

    gradients_by_hand() {
        conv1d_x_backward = |x = [[[1.0, 2.0, 3.0, 4.0]]], w = [[[1.0, 2.0]]]| conv1d(x, w, None, plain())
            => [[[1.0, 3.0, 3.0, 2.0]]];
        conv1d_weight_backward = |w = [[[1.0, 2.0]]], x = [[[1.0, 2.0, 3.0, 4.0]]]| conv1d(x, w, None, plain())
            => [[[6.0, 9.0]]];
        conv1d_bias_backward = |b = [0.5], w = [[[1.0, 2.0]]], x = [[[1.0, 2.0, 3.0, 4.0]]]|
            conv1d(x, w, Some(b), plain()) => [3.0];
        conv2d_x_backward = |x = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], w = [[[[1.0, 2.0], [3.0, 4.0]]]]|
            conv2d(x, w, None, plain()) => [[[[1.0, 3.0, 2.0], [3.0, 7.0, 4.0]]]];
        conv2d_weight_backward = |w = [[[[1.0, 2.0], [3.0, 4.0]]]], x = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]|
            conv2d(x, w, None, plain()) => [[[[3.0, 5.0], [9.0, 11.0]]]];
        conv2d_bias_backward = |b = [0.5, 1.5], w = [[[[1.0]]], [[[2.0]]]], x = [[[[1.0, 2.0, 3.0]]]]|
            conv2d(x, w, Some(b), plain()) => [3.0, 3.0];
        conv3d_x_backward = |x = [[[[[1.0, 2.0]], [[3.0, 4.0]]]]], w = [[[[[1.0]], [[2.0]]]]]|
            conv3d(x, w, None, plain()) => [[[[[1.0, 1.0]], [[2.0, 2.0]]]]];
        conv3d_weight_backward = |w = [[[[[1.0]], [[2.0]]]]], x = [[[[[1.0, 2.0]], [[3.0, 4.0]]]]]|
            conv3d(x, w, None, plain()) => [[[[[3.0]], [[7.0]]]]];
        conv3d_bias_backward = |b = [0.5], w = [[[[[1.0]], [[2.0]]]]], x = [[[[[1.0, 2.0]], [[3.0, 4.0]]]]]|
            conv3d(x, w, Some(b), plain()) => [2.0];
        conv_transpose1d_x_backward = |x = [[[1.0, 2.0]]], w = [[[1.0, 2.0, 3.0]]]|
            conv_transpose1d(x, w, None, strided([2])) => [[[6.0, 6.0]]];
        conv_transpose1d_weight_backward = |w = [[[1.0, 2.0, 3.0]]], x = [[[1.0, 2.0]]]|
            conv_transpose1d(x, w, None, strided([2])) => [[[3.0, 3.0, 3.0]]];
        conv_transpose1d_bias_backward = |b = [0.5], w = [[[1.0, 2.0, 3.0]]], x = [[[1.0, 2.0]]]|
            conv_transpose1d(x, w, Some(b), strided([2])) => [5.0];
        conv_transpose2d_x_backward = |x = [[[[1.0, 2.0]]]], w = [[[[1.0], [3.0]]]]|
            conv_transpose2d(x, w, None, strided([1, 1])) => [[[[4.0, 4.0]]]];
        conv_transpose2d_weight_backward = |w = [[[[1.0], [3.0]]]], x = [[[[1.0, 2.0]]]]|
            conv_transpose2d(x, w, None, strided([1, 1])) => [[[[3.0], [3.0]]]];
        conv_transpose2d_bias_backward = |b = [0.5], w = [[[[1.0], [3.0]]]], x = [[[[1.0, 2.0]]]]|
            conv_transpose2d(x, w, Some(b), strided([1, 1])) => [4.0];
        conv_transpose3d_x_backward = |x = [[[[[1.0]], [[2.0]]]]], w = [[[[[1.0, 3.0]]]]]|
            conv_transpose3d(x, w, None, strided([2, 1, 1])) => [[[[[4.0]], [[4.0]]]]];
        conv_transpose3d_weight_backward = |w = [[[[[1.0, 3.0]]]]], x = [[[[[1.0]], [[2.0]]]]]|
            conv_transpose3d(x, w, None, strided([2, 1, 1])) => [[[[[3.0, 3.0]]]]];
        conv_transpose3d_bias_backward = |b = [0.5], w = [[[[[1.0, 3.0]]]]], x = [[[[[1.0]], [[2.0]]]]]|
            conv_transpose3d(x, w, Some(b), strided([2, 1, 1])) => [6.0];
    }
}

fn plain<const N: usize>() -> ConvOptions<N> {
    ConvOptions::new([1; N], [0; N], [1; N], 1)
}

fn strided<const N: usize>(stride: [usize; N]) -> ConvTransposeOptions<N> {
    ConvTransposeOptions::new(stride, [0; N], [0; N], [1; N], 1)
}
