//! Attention with masks, and with the caches of inference, in which a step sees one more token than the last.

use burn::nn::attention::{
    CrossAttention, CrossAttentionCache, CrossAttentionConfig, GeneratePaddingMask, MhaCache, MhaInput,
    MultiHeadAttention, MultiHeadAttentionConfig, generate_autoregressive_mask, generate_padding_mask,
};
use burn::tensor::DType::F32;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use test_support::FLOATS;

use super::{CHAIN, hidden};

cases! {
    trained(FLOATS, CHAIN) {
        self_attention = |layer = (of_8(2)), x = [2, 5, 8]| {
            let result = layer.forward(MhaInput::self_attn(x));
            (result.context, result.weights)
        };
        cross_attention = |layer = (crossed(4)), x = [2, 5, 8], context = [2, 3, 6]| layer.forward(x, context, None);
    }

    trained([F32], CHAIN) {
        of_three = |layer = (of_8(4)), query = [2, 3, 8], key = [2, 5, 8], value = [2, 5, 8]| {
            let result = layer.forward(MhaInput::new(query, key, value));
            (result.context, result.weights)
        };
        padding_mask = |layer = (of_8(2)), x = [2, 5, 8]| {
            layer.forward(MhaInput::self_attn(x).mask_pad(padding().mask)).context
        };
        attention_mask = |layer = (of_8(2)), x = [2, 5, 8]| {
            layer.forward(MhaInput::self_attn(x).mask_attn(hidden([2, 5, 5]))).context
        };
        both_masks_quiet = |layer = (of_8(2).with_quiet_softmax(true)), x = [2, 5, 8]| {
            let mask = generate_autoregressive_mask(2, 5, &x.device());
            layer.forward(MhaInput::self_attn(x).mask_pad(padding().mask).mask_attn(mask)).context
        };
        cached = |layer = (of_8(2)), x = [2, 4, 8]| tokens(&layer, x, MhaCache::autoregressive());
        cached_with_memory = |layer = (of_8(2)), x = [2, 4, 8], memory = [2, 3, 8]| {
            let mut cache = MhaCache::autoregressive_cross_attention();
            let seen = |seen: usize| {
                let input = MhaInput::new(x.clone().narrow(1, 0, seen), memory.clone(), memory.clone());
                layer.forward_cache(input, &mut cache).context
            };
            (1..5).map(seen).collect::<Vec<_>>()
        };
        cross_attention_with_mask = |layer = (crossed(4)), x = [2, 5, 8], context = [2, 3, 6]|
            layer.forward(x, context, Some(hidden([2, 3])));
        cross_attention_of_shared_keys = |layer = (crossed(2).with_quiet_softmax(true)), x = [2, 5, 8],
            context = [2, 3, 6]| layer.forward(x, context, Some(hidden([2, 3])));
        cross_attention_cached = |layer = (crossed(2)), x = [2, 4, 8], context = [2, 3, 6]|
            steps(&layer, x, context);
    }
}

fn of_8(heads: usize) -> MultiHeadAttentionConfig {
    MultiHeadAttentionConfig::new(8, heads).with_dropout(0.0)
}

/// 4 heads of 3 numbers.
fn crossed(heads_kv: usize) -> CrossAttentionConfig {
    CrossAttentionConfig::new(8, 6, 4, heads_kv, 3).with_dropout(0.0)
}

fn padding<B: Backend>() -> GeneratePaddingMask<B> {
    generate_padding_mask(0, vec![vec![3, 1, 2], vec![4, 2, 1, 5, 2]], None, &B::Device::default())
}

fn tokens<B: Backend>(layer: &MultiHeadAttention<B>, x: Tensor<B, 3>, mut cache: MhaCache<B>) -> Vec<Tensor<B, 3>> {
    let mut seen = |seen| {
        let x = x.clone().narrow(1, 0, seen);
        let mask = generate_autoregressive_mask(2, seen, &x.device());
        layer.forward_cache(MhaInput::self_attn(x).mask_attn(mask), &mut cache).context
    };
    let first = seen(1);
    let mut all = vec![first];
    // From the second step on the new token's query meets all keys.
    all.extend((2..5).map(seen));
    all
}

fn steps<B: Backend>(layer: &CrossAttention<B>, x: Tensor<B, 3>, context: Tensor<B, 3>) -> Vec<Tensor<B, 3>> {
    let mut cache = CrossAttentionCache::new();
    let step = |at| layer.forward_cache(x.clone().narrow(1, at, 1), context.clone(), Some(hidden([2, 3])), &mut cache);
    (0..4).map(step).collect()
}
