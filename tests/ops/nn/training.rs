//! Steps of an optimizer on batches whose sizes change, an evaluation after each, and in the end all parameters.

use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, Relu};
use burn::optim::{AdamConfig, GradientsParams, Optimizer, SgdConfig, momentum::MomentumConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Layout;
use test_support::Tolerance::Relative;

use super::{Parts, classes};

cases! {
    // Eight steps carry the first one's rounding on, and Adam divides small gradients by their own size.
    sums_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-4)) {
        adam = |_layout, _dtype| trained::<B, _>(AdamConfig::new().init::<B, Classifier<B>>());
        momentum = |_layout, _dtype| {
            let config = SgdConfig::new().with_momentum(Some(MomentumConfig::new().with_momentum(0.9)));
            trained::<B, _>(config.init::<B, Classifier<B>>())
        };
    }
}

#[derive(Module, Debug)]
pub struct Classifier<B: Backend> {
    first: Conv2d<B>,
    norm: BatchNorm<B>,
    max: MaxPool2d,
    average: AdaptiveAvgPool2d,
    output: Linear<B>,
}

impl<B: Backend> Classifier<B> {
    pub fn new() -> Self {
        let device = Default::default();
        Self {
            first: Conv2dConfig::new([2, 4], [3, 3]).init(&device),
            norm: BatchNormConfig::new(4).init(&device),
            max: MaxPool2dConfig::new([2, 2]).init(),
            average: AdaptiveAvgPool2dConfig::new([2, 1]).init(),
            output: LinearConfig::new(8, 3).init(&device),
        }
    }

    pub fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = self.max.forward(Relu::new().forward(self.norm.forward(self.first.forward(x))));
        self.output.forward(self.average.forward(x).flatten(1, 3))
    }
}

fn trained<B: AutodiffBackend, O: Optimizer<Classifier<B>, B>>(mut optimizer: O) -> Vec<TensorData> {
    let mut parts = Parts::<B>::new(DType::F32);
    let mut model = parts.layer(Classifier::new());
    let seen = parts.input([3, 2, 8, 7]).inner();
    let mut all = Vec::new();
    for size in [6, 6, 2, 5, 1, 7, 6, 2] {
        let loss = CrossEntropyLossConfig::new().init(&Default::default());
        let loss = loss.forward(model.forward(parts.input([size, 2, 8, 7])), classes([size], 3));
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(1e-2, model, gradients);
        all.extend([loss.into_data(), model.valid().forward(seen.clone()).into_data()]);
    }
    let mut parameters = Parameters(all);
    model.valid().visit(&mut parameters);
    parameters.0
}

/// The values of all parameters, and batch norm's statistics.
struct Parameters(Vec<TensorData>);

impl<B: Backend> ModuleVisitor<B> for Parameters {
    fn visit_float<const D: usize>(&mut self, weight: &Param<Tensor<B, D>>) {
        self.0.push(weight.val().into_data());
    }
}
