//! A decoder that writes one token after the other compiles for its first tokens only.

use burn::module::Module;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::nn::{RotaryEncoding, RotaryEncodingConfig};
use burn::tensor::activation::{gelu, softmax};
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};

use super::{B as Ours, Turn};
use burn_mpsgraph::MpsGraphDevice;

const WIDTH: usize = 32;
const HEADS: usize = 4;
const LENGTH: usize = 256;
const VOCABULARY: usize = 50;
const LAYERS: usize = 4;

#[derive(Module, Debug)]
struct Layer<B: Backend> {
    norm: LayerNorm<B>,
    qkv: Linear<B>,
    out: Linear<B>,
    up: Linear<B>,
    down: Linear<B>,
}

#[derive(Module, Debug)]
struct Decoder<B: Backend> {
    embedding: Embedding<B>,
    layers: Vec<Layer<B>>,
    rotary: RotaryEncoding<B>,
    head: Linear<B>,
}

/// Keys and values of all tokens so far, in tensors of fixed size.
struct Cache<B: Backend>([Tensor<B, 4>; 2]);

impl<B: Backend> Decoder<B> {
    fn new(device: &B::Device) -> Self {
        let linear = |inputs: usize, outputs: usize| {
            // The same numbers on every backend.
            let weights: Vec<f32> =
                (0..inputs * outputs).map(|at| ((at * 7919 % 1009) as f32 - 504.0) / 2500.0).collect();
            let mut linear = LinearConfig::new(inputs, outputs).with_bias(false).init::<B>(device);
            linear.weight = burn::module::Param::from_data(TensorData::new(weights, [inputs, outputs]), device);
            linear
        };
        let layer = |_| Layer {
            norm: LayerNormConfig::new(WIDTH).init(device),
            qkv: linear(WIDTH, 3 * WIDTH),
            out: linear(WIDTH, WIDTH),
            up: linear(WIDTH, 2 * WIDTH),
            down: linear(2 * WIDTH, WIDTH),
        };
        let mut embedding = EmbeddingConfig::new(VOCABULARY, WIDTH).init::<B>(device);
        let table: Vec<f32> = (0..VOCABULARY * WIDTH).map(|at| ((at * 613 % 241) as f32 - 120.0) / 100.0).collect();
        embedding.weight = burn::module::Param::from_data(TensorData::new(table, [VOCABULARY, WIDTH]), device);
        Self {
            embedding,
            layers: (0..LAYERS).map(layer).collect(),
            rotary: RotaryEncodingConfig::new(LENGTH, WIDTH / HEADS).init(device),
            head: linear(WIDTH, VOCABULARY),
        }
    }

    /// The token after `token`, the `at`-th.
    fn next(&self, token: i64, at: usize, caches: &mut [Cache<B>], device: &B::Device) -> i64 {
        let token = Tensor::<B, 2, Int>::from_data(TensorData::new(vec![token], [1, 1]), device);
        let mut x = self.embedding.forward(token);
        let future: Tensor<B, 4, Bool> =
            Tensor::<B, 1, Int>::arange(0..LENGTH as i64, device).greater_elem(at as i64).reshape([1, 1, 1, LENGTH]);
        for (layer, cache) in self.layers.iter().zip(caches) {
            let qkv = layer.qkv.forward(layer.norm.forward(x.clone())).reshape([1, 3, HEADS, WIDTH / HEADS]);
            let part = |which: usize| qkv.clone().slice([0..1, which..which + 1]).reshape([1, HEADS, 1, WIDTH / HEADS]);
            let rotated = [part(0), part(1)].map(|x| self.rotary.apply(x, at));
            let [q, k] = rotated;
            let here = [0..1, 0..HEADS, at..at + 1, 0..WIDTH / HEADS];
            cache.0[0] = cache.0[0].clone().slice_assign(here.clone(), k);
            cache.0[1] = cache.0[1].clone().slice_assign(here, part(2));
            let scores = q.matmul(cache.0[0].clone().transpose()) / ((WIDTH / HEADS) as f32).sqrt();
            let weights = softmax(scores.mask_fill(future.clone(), -1e9), 3);
            let attended = weights.matmul(cache.0[1].clone()).reshape([1, 1, WIDTH]);
            x = x + layer.out.forward(attended);
            x = x.clone() + layer.down.forward(gelu(layer.up.forward(x)));
        }
        let best = self.head.forward(x).argmax(2);
        best.into_data().convert::<i64>().to_vec::<i64>().expect("an integer")[0]
    }
}

fn text<B: Backend>(tokens: usize, device: &B::Device, mut after: impl FnMut(usize)) -> Vec<i64> {
    let decoder = Decoder::<B>::new(device);
    let empty = || Tensor::zeros([1, HEADS, LENGTH, WIDTH / HEADS], device);
    let mut caches: Vec<Cache<B>> = (0..LAYERS).map(|_| Cache([empty(), empty()])).collect();
    let mut token = 7;
    (0..tokens)
        .map(|at| {
            token = decoder.next(token, at, &mut caches, device);
            after(at);
            token
        })
        .collect()
}

#[test]
fn two_hundred_tokens_with_a_cache_of_fixed_size() {
    let mut turn = Turn::take();
    let mut compiled = Vec::new();
    let found = text::<Ours>(200, &MpsGraphDevice, |_| {
        compiled.push(turn.used().programs_compiled);
        turn.restart();
    });
    assert!(compiled[2..].iter().sum::<u64>() <= 4, "{compiled:?}");
    assert_eq!(found, text::<burn_flex::Flex>(200, &Default::default(), |_| {}));
}
