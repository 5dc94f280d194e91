//! A step of recurrent layers by the length of the sequence, forward and backward, on this backend, burn-ndarray and
//! burn-flex: the time grows with the length, not with its square.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::{Gru, GruConfig, Lstm, LstmConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor};
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};

const BATCH: usize = 16;
const INPUT: usize = 32;
const HIDDEN: usize = 64;

trait Layer<B: Backend> {
    fn outputs(&self, x: Tensor<B, 3>) -> Tensor<B, 3>;
}

impl<B: Backend> Layer<B> for Lstm<B> {
    fn outputs(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.forward(x, None).0
    }
}

impl<B: Backend> Layer<B> for Gru<B> {
    fn outputs(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.forward(x, None)
    }
}

fn forward<B: Backend>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, steps: usize, layer: &impl Layer<B>) {
    let x = Tensor::<B, 3>::random([BATCH, steps, INPUT], Distribution::Default, &B::Device::default());
    group.bench_function(BenchmarkId::new(name, steps), |bencher| {
        bencher.iter(|| layer.outputs(x.clone()).sum().into_data());
    });
}

fn training<B: Backend, L: Layer<Autodiff<B>> + Module<Autodiff<B>>>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    steps: usize,
    layer: &L,
) {
    let x = Tensor::<Autodiff<B>, 3>::random([BATCH, steps, INPUT], Distribution::Default, &B::Device::default());
    let x = x.require_grad();
    group.bench_function(BenchmarkId::new(name, steps), |bencher| {
        bencher.iter(|| {
            let gradients = layer.outputs(x.clone()).powf_scalar(2.0).sum().backward();
            x.grad(&gradients).expect("x is tracked").sum().into_data()
        });
    });
}

fn group<'c>(criterion: &'c mut Criterion, title: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(title);
    group.sample_size(10);
    group
}

fn backend<B: Backend>(criterion: &mut Criterion, name: &str, steps: usize) {
    let device = B::Device::default();
    let (lstm, gru) = (LstmConfig::new(INPUT, HIDDEN, true), GruConfig::new(INPUT, HIDDEN, true));
    forward(&mut group(criterion, "lstm"), name, steps, &lstm.init::<B>(&device));
    training::<B, _>(&mut group(criterion, "lstm_training"), name, steps, &lstm.init::<Autodiff<B>>(&device));
    forward(&mut group(criterion, "gru"), name, steps, &gru.init::<B>(&device));
    training::<B, _>(&mut group(criterion, "gru_training"), name, steps, &gru.init::<Autodiff<B>>(&device));
}

fn lengths(criterion: &mut Criterion) {
    for steps in [128, 256, 512, 1024] {
        backend::<MpsGraph>(criterion, "mpsgraph", steps);
        backend::<NdArray>(criterion, "ndarray", steps);
        backend::<burn_flex::Flex>(criterion, "flex", steps);
    }
}

criterion_group!(benches, lengths);
criterion_main!(benches);
