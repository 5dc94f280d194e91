//! Transformers: encoder, decoder and their feed-forward part, with masks and in steps of inference.

use burn::nn::activation::ActivationConfig;
use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::transformer::{
    PositionWiseFeedForwardConfig, TransformerDecoder, TransformerDecoderConfig, TransformerDecoderInput,
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::tensor::DType::F32;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use test_support::FLOATS;

use super::{CHAIN, hidden};

cases! {
    trained(FLOATS, CHAIN) {
        feed_forward = |layer = (PositionWiseFeedForwardConfig::new(6, 10).with_dropout(0.0)), x = [2, 3, 6]|
            layer.forward(x);
        encoder = |layer = (encoders(2)), x = [2, 5, 8]| layer.forward(TransformerEncoderInput::new(x));
    }

    trained([F32], CHAIN) {
        feed_forward_of_relu = |layer = (PositionWiseFeedForwardConfig::new(6, 10).with_dropout(0.0)
            .with_activation(ActivationConfig::Relu)), x = [2, 3, 6]| layer.forward(x);
        encoder_with_masks = |layer = (encoders(1).with_norm_first(true).with_quiet_softmax(true)), x = [2, 5, 8]|
            layer.forward(TransformerEncoderInput::new(x).mask_pad(hidden([2, 5])).mask_attn(hidden([2, 5, 5])));
        encoder_in_steps = |layer = (encoders(2)), x = [2, 4, 8]| encoded(&layer, x);
        encoder_in_steps_norm_first = |layer = (encoders(1).with_norm_first(true)), x = [2, 4, 8]| encoded(&layer, x);
        decoder = |layer = (decoders(2)), x = [2, 5, 8], memory = [2, 3, 8]|
            layer.forward(TransformerDecoderInput::new(x, memory));
        decoder_with_masks = |layer = (decoders(1).with_norm_first(true)), x = [2, 5, 8], memory = [2, 3, 8]|
            layer.forward(TransformerDecoderInput::new(x, memory).target_mask_pad(hidden([2, 5]))
                .target_mask_attn(hidden([2, 5, 5])).memory_mask_pad(hidden([2, 3]))
                .memory_mask_attn(hidden([2, 5, 3])));
        decoder_in_steps = |layer = (decoders(2)), x = [2, 4, 8], memory = [2, 3, 8]| decoded(&layer, x, memory);
        decoder_in_steps_norm_first = |layer = (decoders(1).with_norm_first(true)), x = [2, 4, 8],
            memory = [2, 3, 8]| decoded(&layer, x, memory);
    }
}

fn encoders(layers: usize) -> TransformerEncoderConfig {
    TransformerEncoderConfig::new(8, 12, 2, layers).with_dropout(0.0)
}

fn decoders(layers: usize) -> TransformerDecoderConfig {
    TransformerDecoderConfig::new(8, 12, 2, layers).with_dropout(0.0)
}

/// The results of each step, which sees one more token.
fn encoded<B: Backend>(layer: &TransformerEncoder<B>, x: Tensor<B, 3>) -> Vec<Tensor<B, 3>> {
    let mut cache = layer.new_autoregressive_cache();
    let step = |seen| {
        let mask = generate_autoregressive_mask(2, seen, &x.device());
        let input = TransformerEncoderInput::new(x.clone().narrow(1, 0, seen)).mask_attn(mask);
        layer.forward_autoregressive_inference(input, &mut cache)
    };
    (1..5).map(step).collect()
}

/// The same with a memory that stays.
fn decoded<B: Backend>(layer: &TransformerDecoder<B>, x: Tensor<B, 3>, memory: Tensor<B, 3>) -> Vec<Tensor<B, 3>> {
    let mut cache = layer.new_autoregressive_cache();
    let step = |seen| {
        let mask = generate_autoregressive_mask(2, seen, &x.device());
        let input = TransformerDecoderInput::new(x.clone().narrow(1, 0, seen), memory.clone()).target_mask_attn(mask);
        layer.forward_autoregressive_inference(input, &mut cache)
    };
    (1..5).map(step).collect()
}
