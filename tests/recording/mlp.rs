//! A small classifier and its hand-written training step.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor};

use super::B;
use burn_mpsgraph::MpsGraphDevice;

pub const FEATURES: usize = 12;
pub const CLASSES: usize = 3;

#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Mlp<B> {
    pub fn new(device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(FEATURES, 16).init(device),
            output: LinearConfig::new(16, CLASSES).init(device),
            activation: Relu::new(),
        }
    }

    pub fn forward(&self, features: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(self.activation.forward(self.hidden.forward(features)))
    }

    pub fn loss(&self, features: Tensor<B, 2>, labels: Tensor<B, 1, Int>) -> Tensor<B, 1> {
        let scores = self.forward(features);
        CrossEntropyLossConfig::new().init(&scores.device()).forward(scores, labels)
    }
}

/// Made-up features of `count` items from number `start` on, and the class that their sum gives.
pub fn items(start: usize, count: usize) -> (Vec<f32>, Vec<i64>) {
    let feature = |i: usize| ((i * 7919 + 13) % 101) as f32 / 50.0 - 1.0;
    let features: Vec<f32> = (start * FEATURES..(start + count) * FEATURES).map(feature).collect();
    let class = |row: &[f32]| match row.iter().sum::<f32>() {
        sum if sum < -0.5 => 0,
        sum if sum < 0.5 => 1,
        _ => 2,
    };
    let labels = features.chunks(FEATURES).map(class).collect();
    (features, labels)
}

pub struct Trainer {
    model: Mlp<Autodiff<B>>,
    optimizer: OptimizerAdaptor<Adam, Mlp<Autodiff<B>>, Autodiff<B>>,
    step: usize,
}

impl Trainer {
    pub fn adam() -> Self {
        Self { model: Mlp::new(&MpsGraphDevice), optimizer: AdamConfig::new().init(), step: 0 }
    }

    /// One training step on a new batch of eight; the loss is not read.
    pub fn step(&mut self) -> Tensor<Autodiff<B>, 1> {
        self.step_of(8)
    }

    /// As [`Self::step`] on so many rows.
    pub fn step_of(&mut self, rows: usize) -> Tensor<Autodiff<B>, 1> {
        let (features, labels) = items(8 * (self.step % 10), rows);
        self.step += 1;
        let features = Tensor::<Autodiff<B>, 1>::from_data(features.as_slice(), &MpsGraphDevice);
        let features = features.reshape([rows, FEATURES]);
        let labels = Tensor::from_data(labels.as_slice(), &MpsGraphDevice);
        let loss = self.model.loss(features, labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        self.model = self.optimizer.step(0.01, self.model.clone(), gradients);
        loss
    }

    pub fn step_and_read(&mut self) -> f32 {
        self.step().into_scalar()
    }
}
