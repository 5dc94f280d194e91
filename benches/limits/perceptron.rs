//! A training step of a 784-512-10 perceptron: batch 64, Adam, the loss read each step.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Distribution, ElementConversion, Int, Tensor};

const BATCH: usize = 64;

#[derive(Module, Debug)]
struct Mlp<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

pub struct Trainer<B: AutodiffBackend> {
    model: Mlp<B>,
    optimizer: OptimizerAdaptor<Adam, Mlp<B>, B>,
    images: Tensor<B, 2>,
    labels: Tensor<B, 1, Int>,
}

impl<B: AutodiffBackend> Trainer<B> {
    pub fn new() -> Self {
        let device = B::Device::default();
        let model = Mlp {
            hidden: LinearConfig::new(784, 512).init(&device),
            output: LinearConfig::new(512, 10).init(&device),
            activation: Relu::new(),
        };
        Self {
            model,
            optimizer: AdamConfig::new().init(),
            images: Tensor::random([BATCH, 784], Distribution::Default, &device),
            labels: Tensor::arange(0..BATCH as i64, &device).remainder_scalar(10),
        }
    }

    /// One step; the loss.
    pub fn step(&mut self) -> f32 {
        let model = self.model.clone();
        let hidden = model.activation.forward(model.hidden.forward(self.images.clone()));
        let scores = model.output.forward(hidden);
        let loss = CrossEntropyLossConfig::new().init(&scores.device()).forward(scores, self.labels.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        self.model = self.optimizer.step(1e-3, model, gradients);
        loss.into_scalar().elem()
    }
}
