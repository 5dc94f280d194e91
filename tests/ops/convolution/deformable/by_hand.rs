//! One tap, or two, whose numbers a person can check.

use burn::tensor::module::deform_conv2d;
use burn::tensor::ops::DeformConvOptions;

cases! {
    by_hand() {
        // 1, 2 above 3, 4: the middle of all, half a pixel up from 2, two pixels to the left of 3, and 4 itself.
        deform_conv2d = |x = [[[[1.0, 2.0], [3.0, 4.0]]]],
            o = [[[[0.5, -0.5], [0.0, 0.0]], [[0.5, 0.0], [-2.0, 0.0]]]], w = [[[[2.0]]]], b = [10.0]|
            deform_conv2d(x, o, w, None, Some(b), plain()) => [[[[15.0, 12.0], [10.0, 18.0]]]];
        deform_conv2d_of_mask = |x = [[[[1.0, 2.0]]]], o = [[[[0.0, 0.0]], [[0.5, -0.25]]]], w = [[[[2.0]]]],
            m = [[[[3.0, -1.0]]]]|
            deform_conv2d(x, o, w, Some(m), None, plain()) => [[[[9.0, -3.5]]]];
        // Two taps side by side: the first one is moved a quarter to the right, the second one half down.
        deform_conv2d_of_taps = |x = [[[[1.0, 2.0, 3.0]]]],
            o = [[[[0.0, 0.0]], [[0.25, 0.25]], [[0.5, 0.5]], [[0.0, 0.0]]]], w = [[[[4.0, 10.0]]]]|
            deform_conv2d(x, o, w, None, None, plain()) => [[[[15.0, 24.0]]]];
        deform_conv2d_of_nan = |x = [[[[1.0, 2.0, 3.0]]]],
            o = [[[[0.0, f64::NAN, 0.0]], [[0.0, 0.0, f64::INFINITY]]]], w = [[[[2.0]]]]|
            deform_conv2d(x, o, w, None, None, plain()) => [[[[2.0, f64::NAN, 0.0]]]];
    }

    gradients_by_hand() {
        deform_conv2d_backward = |x = [[[[1.0, 2.0], [3.0, 4.0]]]],
            o = [[[[0.5, -0.5], [0.0, 0.0]], [[0.5, 0.0], [-2.0, 0.0]]]], w = [[[[2.0]]]]|
            deform_conv2d(x, o, w, None, None, plain()) => [[[[0.5, 1.5], [0.5, 2.5]]]];
        // Times 2. From the middle of all, down: 3 - 1 and 4 - 2; to the right: 2 - 1 and 4 - 3. Half a pixel up from
        // 2, down: 2; to the right: half of -2. Two pixels to the left is too far. From 4 all the rest is outside.
        deform_conv2d_offset_backward = |o = [[[[0.5, -0.5], [0.0, 0.0]], [[0.5, 0.0], [-2.0, 0.0]]]],
            x = [[[[1.0, 2.0], [3.0, 4.0]]]], w = [[[[2.0]]]]|
            deform_conv2d(x, o, w, None, None, plain())
            => [[[[4.0, 4.0], [0.0, -8.0]], [[2.0, -2.0], [0.0, -8.0]]]];
        deform_conv2d_weight_backward = |w = [[[[4.0, 10.0]]]], x = [[[[1.0, 2.0, 3.0]]]],
            o = [[[[0.0, 0.0]], [[0.25, 0.25]], [[0.5, 0.5]], [[0.0, 0.0]]]]|
            deform_conv2d(x, o, w, None, None, plain()) => [[[[3.5, 2.5]]]];
        deform_conv2d_mask_backward = |m = [[[[3.0, -1.0]]]], x = [[[[1.0, 2.0]]]],
            o = [[[[0.0, 0.0]], [[0.5, -0.25]]]], w = [[[[2.0]]]]|
            deform_conv2d(x, o, w, Some(m), None, plain()) => [[[[3.0, 3.5]]]];
        deform_conv2d_bias_backward = |b = [10.0], x = [[[[1.0, 2.0]]]], o = [[[[0.0, 0.0]], [[0.5, 9.0]]]],
            w = [[[[2.0]]]]|
            deform_conv2d(x, o, w, None, Some(b), plain()) => [2.0];
    }
}

fn plain() -> DeformConvOptions<2> {
    DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1)
}
