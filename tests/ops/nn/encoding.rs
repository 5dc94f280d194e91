//! Encodings of positions. Their sines are of both backends' own making.

use burn::nn::{PositionalEncodingConfig, RotaryEncodingConfig, generate_sinusoids};
use burn::tensor::DType::F32;

use super::LAYER;

cases! {
    trained([F32], LAYER) {
        positional = |layer = (PositionalEncodingConfig::new(6).with_max_sequence_size(20)), x = [2, 7, 6]|
            (layer.forward(x.clone()), x * generate_sinusoids::<B>(7, 6, 100, &Default::default()).unsqueeze());
        rotary = |layer = (RotaryEncodingConfig::new(20, 6)), x = [2, 3, 7, 6]|
            (layer.forward(x.clone()), layer.apply(x, 5));
        rotary_scaled_and_shifted = |x = [2, 7, 6]| {
            let mut layer = RotaryEncodingConfig::new(12, 6).with_theta(500.0)
                .init_with_frequency_scaling::<B>(|frequencies| frequencies * 0.5, &Default::default());
            layer.shift(5);
            let kept = layer.apply(x.clone(), 3);
            layer.shift(30);
            (kept, layer.apply(x, 2))
        };
    }
}
