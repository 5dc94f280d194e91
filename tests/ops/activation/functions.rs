//! Activation functions of one tensor.

use burn::tensor::{Tensor, activation as act};
use test_support::Tolerance::{Exact, Relative, Ulps};
use test_support::{FLOATS, Layout};

cases! {
    // Functions that choose, clamp or multiply once.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(1)) {
        hard_sigmoid = |x| act::hard_sigmoid(x, 0.2, 0.5);
        leaky_relu = |x| act::leaky_relu(x, 0.01);
        leaky_relu_slope_above_1 = |x| act::leaky_relu(x, 3.0);
        prelu_one_slope = |x| {
            let slope = Tensor::from_data([0.25f32], (&x.device(), x.dtype()));
            act::prelu(x, slope)
        };
        prelu_by_channel = |x| {
            let [_, channels, _] = x.dims();
            let slopes: Vec<f32> = (0..channels).map(|i| i as f32 / 4.0 - 0.5).collect();
            let slopes = Tensor::from_data(slopes.as_slice(), (&x.device(), x.dtype()));
            act::prelu(x, slopes)
        };
    }

    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        hard_shrink = |x| act::hard_shrink(x, 0.5);
        relu = |x| act::relu(x);
        soft_shrink = |x| act::soft_shrink(x, 0.5);
        thresholded_relu = |x| act::thresholded_relu(x, 1.0);
    }

    // Extents of 0.
    sweep(floats, FLOATS, [Layout::Empty], Exact) {
        empty_gelu = |x| act::gelu(x);
        empty_leaky_relu = |x| act::leaky_relu(x, 0.1);
        empty_log_sigmoid = |x| act::log_sigmoid(x);
        empty_relu = |x| act::relu(x);
        empty_sigmoid = |x| act::sigmoid(x);
    }

    // Approximations of exp, erf and log on both sides; the tail of gelu is a difference of near equals, so relative
    // to 1.
    sweep(floats, FLOATS, Layout::PLAIN, Relative(3e-7)) {
        gelu = |x| act::gelu(x);
        log_sigmoid = |x| act::log_sigmoid(x);
        sigmoid = |x| act::sigmoid(x);
        tanh = |x| act::tanh(x);
    }

    // Burn composes these of the ops above, rounding at each step.
    sweep(floats, FLOATS, Layout::PLAIN, Relative(3e-7)) {
        celu = |x| act::celu(x, 1.5);
        elu = |x| act::elu(x, 0.75);
        gelu_approximate = |x| act::gelu_approximate(x);
        hard_swish = |x| act::hard_swish(x);
        mish = |x| act::mish(x);
        selu = |x| act::selu(x);
        silu = |x| act::silu(x);
        softplus = |x| act::softplus(x, 1.25);
        softsign = |x| act::softsign(x);
    }

    sweep(floats, FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced], Relative(3e-7)) {
        glu = |x| act::glu(x, 0);
    }

    by_hand() {
        relu = |x = [-1.0, 0.0, 2.0]| act::relu(x) => [0.0, 0.0, 2.0];
        leaky_relu = |x = [-2.0, 0.0, 2.0]| act::leaky_relu(x, 0.25) => [-0.5, 0.0, 2.0];
        prelu = |x = [-2.0, 0.0, 2.0], slope = [0.5]| act::prelu(x, slope) => [-1.0, 0.0, 2.0];
        hard_sigmoid = |x = [-4.0, 0.0, 1.0, 4.0]| act::hard_sigmoid(x, 0.25, 0.5) => [0.0, 0.5, 0.75, 1.0];
        sigmoid = |x = [-1.0, 0.0, 1.0]| act::sigmoid(x) => [0.268941, 0.5, 0.731059];
        log_sigmoid = |x = [-1.0, 0.0]| act::log_sigmoid(x) => [-1.313262, -0.693147];
        gelu = |x = [-1.0, 0.0, 1.0]| act::gelu(x) => [-0.158655, 0.0, 0.841345];
    }
}
