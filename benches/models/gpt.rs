//! A decoder of transformer layers over 64 tokens, without dropout.

use burn::module::Module;
use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::transformer::{TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput};
use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor};

use crate::Model;

const TOKENS: usize = 64;
const VOCABULARY: usize = 96;
const HEADS: usize = 4;

#[derive(Module, Debug)]
pub struct Gpt<B: Backend, const LAYERS: usize, const WIDTH: usize> {
    tokens: Embedding<B>,
    places: Embedding<B>,
    layers: TransformerEncoder<B>,
    head: Linear<B>,
}

impl<B: Backend, const LAYERS: usize, const WIDTH: usize> Model<B> for Gpt<B, LAYERS, WIDTH> {
    type Input = Tensor<B, 2, Int>;

    fn new(device: &B::Device) -> Self {
        let layers = TransformerEncoderConfig::new(WIDTH, 4 * WIDTH, HEADS, LAYERS);
        Self {
            tokens: EmbeddingConfig::new(VOCABULARY, WIDTH).init(device),
            places: EmbeddingConfig::new(TOKENS, WIDTH).init(device),
            layers: layers.with_dropout(0.0).with_norm_first(true).init(device),
            head: LinearConfig::new(WIDTH, VOCABULARY).with_bias(false).init(device),
        }
    }

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        let token = Tensor::arange(0..(batch * TOKENS) as i64, device).mul_scalar(31);
        token.remainder_scalar(VOCABULARY as i64).reshape([batch, TOKENS])
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        let (device, batch) = (input.device(), input.dims()[0]);
        let places = Tensor::arange(0..TOKENS as i64, &device).reshape([1, TOKENS]);
        let x = self.tokens.forward(input) + self.places.forward(places);
        let mask = generate_autoregressive_mask(batch, TOKENS, &device);
        let x = self.layers.forward(TransformerEncoderInput::new(x).mask_attn(mask));
        self.head.forward(x).reshape([batch * TOKENS, VOCABULARY])
    }
}
