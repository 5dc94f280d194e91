//! A decoder that writes one token after the other: keys and values of the tokens so far stand in tensors of fixed
//! size, and the next token is read before the one after it is begun.

use burn::module::Module;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::nn::{RotaryEncoding, RotaryEncodingConfig};
use burn::tensor::activation::{gelu, softmax};
use burn::tensor::backend::Backend;
use burn::tensor::{ElementConversion, Int, Tensor};

const HEADS: usize = 4;
/// Tokens that the cache has room for.
pub const ROOM: usize = 256;
const VOCABULARY: usize = 96;

#[derive(Module, Debug)]
struct Layer<B: Backend> {
    norms: [LayerNorm<B>; 2],
    qkv: Linear<B>,
    out: Linear<B>,
    up: Linear<B>,
    down: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Decoder<B: Backend> {
    embedding: Embedding<B>,
    layers: Vec<Layer<B>>,
    rotary: RotaryEncoding<B>,
    head: Linear<B>,
}

/// Keys and values of all tokens so far: `[batch, heads, room, width of a head]`.
#[derive(Clone)]
pub struct Cache<B: Backend>([Tensor<B, 4>; 2]);

impl<B: Backend> Decoder<B> {
    pub fn new(layers: usize, width: usize, device: &B::Device) -> Self {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).with_bias(false).init(device);
        let layer = |_| Layer {
            norms: [(); 2].map(|()| LayerNormConfig::new(width).init(device)),
            qkv: linear(width, 3 * width),
            out: linear(width, width),
            up: linear(width, 4 * width),
            down: linear(4 * width, width),
        };
        Self {
            embedding: EmbeddingConfig::new(VOCABULARY, width).init(device),
            layers: (0..layers).map(layer).collect(),
            rotary: RotaryEncodingConfig::new(ROOM, width / HEADS).init(device),
            head: linear(width, VOCABULARY),
        }
    }

    pub fn empty(&self, device: &B::Device) -> Vec<Cache<B>> {
        let width = self.embedding.weight.dims()[1];
        let empty = || Tensor::zeros([1, HEADS, ROOM, width / HEADS], device);
        self.layers.iter().map(|_| Cache([empty(), empty()])).collect()
    }

    /// The token after `token`, the `at`-th.
    pub fn next(&self, token: i64, at: usize, caches: &mut [Cache<B>], device: &B::Device) -> i64 {
        let mut x = self.embedding.forward(Tensor::<B, 2, Int>::from_data([[token]], device));
        let width = x.dims()[2];
        let head = width / HEADS;
        let places = Tensor::<B, 1, Int>::arange(0..ROOM as i64, device);
        let future = places.greater_elem(at as i64).reshape([1, 1, 1, ROOM]);
        for (layer, Cache([keys, values])) in self.layers.iter().zip(caches) {
            let qkv = layer.qkv.forward(layer.norms[0].forward(x.clone())).reshape([1, 3, HEADS, head]);
            let part = |which: usize| qkv.clone().slice([0..1, which..which + 1]).reshape([1, HEADS, 1, head]);
            let [q, k] = [part(0), part(1)].map(|x| self.rotary.apply(x, at));
            let here = [0..1, 0..HEADS, at..at + 1, 0..head];
            // The cache is given away, so that a backend may write into it.
            let put = |cache: &mut Tensor<B, 4>, new| {
                let old = std::mem::replace(cache, Tensor::empty([0; 4], device));
                *cache = old.slice_assign(here.clone(), new);
            };
            put(keys, k);
            put(values, part(2));
            let scores = q.matmul(keys.clone().transpose()) / (head as f32).sqrt();
            let weights = softmax(scores.mask_fill(future.clone(), -1e9), 3);
            x = x + layer.out.forward(weights.matmul(values.clone()).reshape([1, 1, width]));
            x = x.clone() + layer.down.forward(gelu(layer.up.forward(layer.norms[1].forward(x))));
        }
        self.head.forward(x).argmax(2).into_scalar().elem()
    }
}
