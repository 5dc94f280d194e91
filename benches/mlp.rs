//! A training step of a 784-512-10 perceptron (batch 64, Adam, loss read each step) on this backend, burn-ndarray and
//! burn-flex in one run.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Distribution, ElementConversion, Int, Tensor};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};

const BATCH: usize = 64;

#[derive(Module, Debug)]
struct Mlp<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

struct Trainer<B: AutodiffBackend> {
    model: Mlp<B>,
    optimizer: OptimizerAdaptor<Adam, Mlp<B>, B>,
    images: Tensor<B, 2>,
    labels: Tensor<B, 1, Int>,
}

impl<B: AutodiffBackend> Trainer<B> {
    fn new() -> Self {
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

    fn step(&mut self) -> f32 {
        let model = self.model.clone();
        let hidden = model.activation.forward(model.hidden.forward(self.images.clone()));
        let scores = model.output.forward(hidden);
        let loss = CrossEntropyLossConfig::new().init(&scores.device()).forward(scores, self.labels.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        self.model = self.optimizer.step(1e-3, model, gradients);
        loss.into_scalar().elem()
    }
}

fn bench<B: AutodiffBackend>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str) {
    let mut trainer = Trainer::<B>::new();
    for _ in 0..3 {
        trainer.step();
    }
    group.bench_function(name, |bencher| bencher.iter(|| trainer.step()));
}

fn training_step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mlp_training_step");
    bench::<Autodiff<MpsGraph>>(&mut group, "mpsgraph");
    bench::<Autodiff<NdArray>>(&mut group, "ndarray");
    bench::<Autodiff<Flex>>(&mut group, "flex");
    group.finish();
}

criterion_group!(benches, training_step);
criterion_main!(benches);
