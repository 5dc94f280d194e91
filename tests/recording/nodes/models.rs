//! The models of the table. Each gives a step that reads what a user would read.

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, Module};
use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::transformer::{TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput};
use burn::nn::{BatchNorm, BatchNormConfig, Embedding, EmbeddingConfig, Linear, LinearConfig, Lstm, LstmConfig};
use burn::nn::{PaddingConfig2d, Relu};
use burn::optim::{AdamConfig, GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::Backend;
use burn::tensor::signal::rfft;
use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData};

use crate::B;
use crate::cnn::{self, Cnn};
use crate::mlp::{FEATURES, Mlp, items};
use burn_mpsgraph::MpsGraphDevice;

type A = Autodiff<B>;
type Step = Box<dyn FnMut()>;

const DEVICE: MpsGraphDevice = MpsGraphDevice;
const BATCH: usize = 8;

/// A step of training that reads the loss.
fn training<M: AutodiffModule<A> + 'static>(
    model: M,
    mut optimizer: impl Optimizer<M, A> + 'static,
    loss: impl Fn(&M) -> Tensor<A, 1> + 'static,
) -> Step {
    let mut model = Some(model);
    Box::new(move || {
        let trained = model.take().expect("put back below");
        let loss = loss(&trained);
        let gradients = GradientsParams::from_grads(loss.backward(), &trained);
        model = Some(optimizer.step(1e-3, trained, gradients));
        loss.into_data();
    })
}

/// A step that reads an output.
fn inference<const D: usize>(output: impl Fn() -> Tensor<B, D> + 'static) -> Step {
    Box::new(move || drop(output().into_data()))
}

fn cross_entropy(scores: Tensor<A, 2>, classes: Tensor<A, 1, Int>) -> Tensor<A, 1> {
    CrossEntropyLossConfig::new().init(&DEVICE).forward(scores, classes)
}

fn features<X: Backend>(device: &X::Device) -> (Tensor<X, 2>, Tensor<X, 1, Int>) {
    let (features, classes) = items(0, BATCH);
    let features = Tensor::from_data(TensorData::new(features, [BATCH, FEATURES]), device);
    (features, Tensor::from_data(classes.as_slice(), device))
}

pub fn mlp_inference() -> Step {
    let (model, x) = (Mlp::<B>::new(&DEVICE), features::<B>(&DEVICE).0);
    inference(move || model.forward(x.clone()))
}

pub fn mlp_sgd() -> Step {
    let (x, classes) = features::<A>(&DEVICE);
    training(Mlp::new(&DEVICE), SgdConfig::new().init(), move |model| model.loss(x.clone(), classes.clone()))
}

pub fn mlp_adam() -> Step {
    let (x, classes) = features::<A>(&DEVICE);
    training(Mlp::new(&DEVICE), AdamConfig::new().init(), move |model| model.loss(x.clone(), classes.clone()))
}

pub fn cnn_inference() -> Step {
    let (model, images) = (Cnn::<B>::new(0.5, &DEVICE), cnn::batch::<B>(&DEVICE).0);
    inference(move || model.forward(images.clone()))
}

pub fn cnn_adam() -> Step {
    let (images, classes) = cnn::batch::<A>(&DEVICE);
    let loss = move |model: &Cnn<A>| cross_entropy(model.forward(images.clone()), classes.clone());
    training(Cnn::new(0.5, &DEVICE), AdamConfig::new().init(), loss)
}

/// A block of residual networks: convolution, batch norm and relu, twice, around which the input skips.
#[derive(Module, Debug)]
struct Residual<B: Backend> {
    convolutions: [Conv2d<B>; 2],
    norms: [BatchNorm<B>; 2],
}

const CHANNELS: usize = 6;

impl<B: Backend> Residual<B> {
    fn new(device: &B::Device) -> Self {
        let convolution = Conv2dConfig::new([CHANNELS, CHANNELS], [3, 3]);
        let convolution = convolution.with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)).with_bias(false);
        Self {
            convolutions: [(); 2].map(|()| convolution.init(device)),
            norms: [(); 2].map(|()| BatchNormConfig::new(CHANNELS).init(device)),
        }
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let relu = Relu::new();
        let inner = relu.forward(self.norms[0].forward(self.convolutions[0].forward(x.clone())));
        relu.forward(self.norms[1].forward(self.convolutions[1].forward(inner)) + x)
    }
}

fn maps<X: Backend>(device: &X::Device) -> Tensor<X, 4> {
    let extents = [BATCH, CHANNELS, 8, 8];
    let value = |at: usize| ((at * 7919 + at / 64 * 31) % 97) as f32 / 48.0 - 1.0;
    Tensor::from_data(TensorData::new((0..extents.iter().product()).map(value).collect(), extents), device)
}

pub fn residual_inference() -> Step {
    let (model, x) = (Residual::<B>::new(&DEVICE), maps::<B>(&DEVICE));
    inference(move || model.forward(x.clone()))
}

pub fn residual_sgd() -> Step {
    let x = maps::<A>(&DEVICE);
    let loss = move |model: &Residual<A>| model.forward(x.clone()).powi_scalar(2).mean();
    training(Residual::new(&DEVICE), SgdConfig::new().init(), loss)
}

/// A recurrent layer over a sequence, and a linear one over its last output.
#[derive(Module, Debug)]
struct Recurrent<B: Backend> {
    layer: Lstm<B>,
    head: Linear<B>,
}

const TIMES: usize = 10;

impl<B: Backend> Recurrent<B> {
    fn new(device: &B::Device) -> Self {
        Self { layer: LstmConfig::new(FEATURES, 16, true).init(device), head: LinearConfig::new(16, 3).init(device) }
    }

    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 2> {
        let outputs = self.layer.forward(x, None).0;
        self.head.forward(outputs.slice([0..BATCH, TIMES - 1..TIMES]).reshape([BATCH, 16]))
    }
}

fn sequences<X: Backend>(device: &X::Device) -> (Tensor<X, 3>, Tensor<X, 1, Int>) {
    let values = TensorData::new(items(0, BATCH * TIMES).0, [BATCH, TIMES, FEATURES]);
    (Tensor::from_data(values, device), features::<X>(device).1)
}

pub fn lstm_inference() -> Step {
    let (model, x) = (Recurrent::<B>::new(&DEVICE), sequences::<B>(&DEVICE).0);
    inference(move || model.forward(x.clone()))
}

pub fn lstm_adam() -> Step {
    let (x, classes) = sequences::<A>(&DEVICE);
    let loss = move |model: &Recurrent<A>| cross_entropy(model.forward(x.clone()), classes.clone());
    training(Recurrent::new(&DEVICE), AdamConfig::new().init(), loss)
}

/// A decoder of two layers without dropout.
#[derive(Module, Debug)]
struct Gpt<B: Backend> {
    tokens: Embedding<B>,
    places: Embedding<B>,
    layers: TransformerEncoder<B>,
    head: Linear<B>,
}

const WIDTH: usize = 128;
const LENGTH: usize = 16;
const VOCABULARY: usize = 40;

impl<B: Backend> Gpt<B> {
    fn new(device: &B::Device) -> Self {
        let layers = TransformerEncoderConfig::new(WIDTH, 4 * WIDTH, 4, 2).with_dropout(0.0).with_norm_first(true);
        Self {
            tokens: EmbeddingConfig::new(VOCABULARY, WIDTH).init(device),
            places: EmbeddingConfig::new(LENGTH, WIDTH).init(device),
            layers: layers.init(device),
            head: LinearConfig::new(WIDTH, VOCABULARY).with_bias(false).init(device),
        }
    }

    fn forward(&self, tokens: Tensor<B, 2, Int>) -> Tensor<B, 2> {
        let (device, count) = (tokens.device(), tokens.dims()[0]);
        let places = Tensor::arange(0..LENGTH as i64, &device).reshape([1, LENGTH]);
        let x = self.tokens.forward(tokens) + self.places.forward(places);
        let mask = generate_autoregressive_mask(count, LENGTH, &device);
        let x = self.layers.forward(TransformerEncoderInput::new(x).mask_attn(mask));
        self.head.forward(x).reshape([count * LENGTH, VOCABULARY])
    }
}

/// Texts of made-up tokens, and what follows each token.
fn texts<X: Backend>(device: &X::Device) -> (Tensor<X, 2, Int>, Tensor<X, 1, Int>) {
    let tokens = |from: usize| (from..from + 2 * LENGTH).map(|at| (at * 31 % VOCABULARY) as i32).collect::<Vec<_>>();
    let x = Tensor::from_data(TensorData::new(tokens(0), [2, LENGTH]), device);
    (x, Tensor::from_data(tokens(1).as_slice(), device))
}

pub fn gpt_inference() -> Step {
    let (model, x) = (Gpt::<B>::new(&DEVICE), texts::<B>(&DEVICE).0);
    inference(move || model.forward(x.clone()))
}

pub fn gpt_adam() -> Step {
    let (x, next) = texts::<A>(&DEVICE);
    let loss = move |model: &Gpt<A>| cross_entropy(model.forward(x.clone()), next.clone());
    training(Gpt::new(&DEVICE), AdamConfig::new().init(), loss)
}

/// The energies of so many frames of 512 samples, each transformed by itself; with equal tables.
fn spectra(frames: usize) -> Step {
    let signal = Tensor::<B, 2>::ones([1, 256 * (frames + 1)], &DEVICE);
    Box::new(move || {
        let energies = (0..frames).map(|at| {
            let (re, im) = rfft(signal.clone().slice([0..1, 256 * at..256 * at + 512]), 1, None);
            re.square() + im.square()
        });
        Tensor::cat(energies.collect(), 0).into_data();
    })
}

pub fn one_spectrum() -> Step {
    spectra(1)
}

pub fn four_spectra() -> Step {
    spectra(4)
}

/// Integers of a dtype that the op makes of others, `[rows, 16]`, by positions in their rows.
fn integers(
    dtype: DType,
    rows: usize,
    op: impl Fn(Tensor<B, 2, Int>, Tensor<B, 2, Int>) -> Tensor<B, 2, Int> + 'static,
) -> Step {
    let all = Tensor::<B, 1, Int>::arange(0..16 * rows as i64, &DEVICE).reshape([rows, 16]);
    let (x, at) = ((all.clone() * 7 % 11).cast(dtype), all % 16);
    (x.clone().sum() + at.clone().sum().cast(dtype)).into_data();
    Box::new(move || drop(op(x.clone(), at.clone()).into_data()))
}

/// 64-bit integers are cut into parts that MPSGraph's kernels hold; the software runtime's compiler puts them together.
pub fn wide_reads() -> Step {
    integers(DType::I64, 8, |x, at| x.gather(1, at))
}

pub fn wide_sums() -> Step {
    integers(DType::I64, 8, |x, at| x.clone().scatter(1, at, x, IndexingUpdateOp::Add))
}

pub fn unsigned_sums() -> Step {
    integers(DType::U64, 8, |x, at| x.clone().scatter(1, at, x, IndexingUpdateOp::Add))
}

pub fn narrow_sums() -> Step {
    integers(DType::I8, 8, |x, at| x.clone().scatter(1, at, x, IndexingUpdateOp::Add))
}

pub fn narrow_total() -> Step {
    integers(DType::I8, 8, |x, _| x.sum_dim(1))
}

pub fn sums_of_one_row() -> Step {
    integers(DType::I32, 1, |x, at| x.clone().scatter(1, at, x, IndexingUpdateOp::Add))
}

pub fn wide_order() -> Step {
    integers(DType::I64, 8, |x, _| x.argsort(1))
}

pub fn order_of_one_row() -> Step {
    integers(DType::I32, 1, |x, _| x.argsort(1))
}

pub fn sorted_row() -> Step {
    integers(DType::I64, 1, |x, _| x.sort(1))
}

pub fn wide_powers() -> Step {
    integers(DType::I64, 8, |x, at| x.powi(at.cast(DType::I64)))
}
