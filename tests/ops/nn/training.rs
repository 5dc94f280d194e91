//! Steps of an optimizer on batches whose sizes change, an evaluation after each, and in the end all parameters.

use burn::grad_clipping::GradientClippingConfig;
use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, Relu};
use burn::optim::{
    AdaGradConfig, AdamConfig, AdamWConfig, AdanConfig, GradientsParams, MuonConfig, Optimizer, RmsPropConfig,
    SgdConfig, momentum::MomentumConfig,
};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Layout;
use test_support::Tolerance::Relative;

use super::{Parts, classes};

cases! {
    // Eight steps carry the first one's rounding on, and Adam divides small gradients by their own size.
    sums_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-4)) {
        adam = |_layout, _dtype| trained::<B>(Classifier::new(), AdamConfig::new().init());
        momentum = |_layout, _dtype| {
            let config = SgdConfig::new().with_momentum(Some(MomentumConfig::new().with_momentum(0.9)));
            trained::<B>(Classifier::new(), config.init())
        };
        adam_w = |_layout, _dtype| {
            let config = AdamWConfig::new().with_cautious_weight_decay(true).with_amsgrad(true).with_weight_decay(0.1);
            trained::<B>(Classifier::without_bias(), config.init())
        };
        adan = |_layout, _dtype| trained::<B>(Classifier::without_bias(), AdanConfig::new().init());
        ada_grad = |_layout, _dtype| {
            let config = AdaGradConfig::new().with_lr_decay(0.1);
            trained::<B>(Classifier::new(), config.init())
        };
        rms_prop = |_layout, _dtype| {
            let clipping = GradientClippingConfig::Norm(0.1);
            let config = RmsPropConfig::new().with_centered(true).with_grad_clipping(Some(clipping));
            trained::<B>(Classifier::new(), config.init())
        };
        muon = |_layout, _dtype| trained_matrices::<B>();
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

    /// For optimizers that look at a gradient's sign alone: that of a bias before a normalization is what rounding
    /// leaves of 0.
    fn without_bias() -> Self {
        let first = Conv2dConfig::new([2, 4], [3, 3]).with_bias(false).init(&Default::default());
        Self { first, ..Self::new() }
    }

    pub fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = self.max.forward(Relu::new().forward(self.norm.forward(self.first.forward(x))));
        self.output.forward(self.average.forward(x).flatten(1, 3))
    }
}

fn trained<B: AutodiffBackend>(
    model: Classifier<B>,
    mut optimizer: impl Optimizer<Classifier<B>, B>,
) -> Vec<TensorData> {
    let mut parts = Parts::<B>::new(DType::F32);
    let mut model = parts.layer(model);
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

/// Muon takes matrices alone.
fn trained_matrices<B: AutodiffBackend>() -> Vec<TensorData> {
    let mut parts = Parts::<B>::new(DType::F32);
    let matrix = |inputs, outputs| LinearConfig::new(inputs, outputs).with_bias(false).init(&Default::default());
    let mut model: [Linear<B>; 2] = [parts.layer(matrix(9, 6)), parts.layer(matrix(6, 12))];
    let mut optimizer = MuonConfig::new().init();
    for size in [6, 6, 2, 7] {
        let [first, second] = &model;
        let loss = second.forward(first.forward(parts.input([size, 9])).tanh()).square().mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(1e-2, model, gradients);
    }
    let mut parameters = Parameters(Vec::new());
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
