//! Interpolation.

use burn::nn::interpolate::{Interpolate1dConfig, Interpolate2dConfig, InterpolateMode};
use burn::tensor::DType::F32;
use test_support::FLOATS;

use super::LAYER;

cases! {
    trained(FLOATS, LAYER) {
        nearest_1d = |x = [2, 3, 5]| Interpolate1dConfig::new().with_output_size(Some(8)).init().forward(x);
        linear_2d = |x = [2, 3, 4, 5]| of_mode(InterpolateMode::Linear).init().forward(x);
    }

    trained([F32], LAYER) {
        linear_1d = |x = [2, 3, 5]| Interpolate1dConfig::new().with_scale_factor(Some(1.7))
            .with_mode(InterpolateMode::Linear).init().forward(x);
        cubic_1d = |x = [2, 3, 5]| Interpolate1dConfig::new().with_output_size(Some(7))
            .with_mode(InterpolateMode::Cubic).with_align_corners(false).init().forward(x);
        nearest_2d = |x = [2, 3, 4, 5]| of_mode(InterpolateMode::Nearest).init().forward(x);
        linear_2d_by_edges = |x = [2, 3, 4, 5]|
            of_mode(InterpolateMode::Linear).with_align_corners(false).init().forward(x);
        cubic_2d = |x = [2, 3, 4, 5]| of_mode(InterpolateMode::Cubic).init().forward(x);
        scaled_2d = |x = [2, 3, 4, 5]| Interpolate2dConfig::new().with_scale_factor(Some([0.5, 2.0]))
            .with_mode(InterpolateMode::Linear).init().forward(x);
    }
}

fn of_mode(mode: InterpolateMode) -> Interpolate2dConfig {
    Interpolate2dConfig::new().with_output_size(Some([7, 3])).with_mode(mode)
}
