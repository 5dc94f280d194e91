//! Models on this backend, burn-ndarray and burn-flex in one run: a training step that reads its loss, and inference
//! that reads the scores. The entries of a case follow each other, so that other load on the machine meets all of them.
//! The steps in 16 bits are compared with the step in f32, since no peer has them all.
//!
//! ```sh
//! cargo bench --bench models -- 'training/.*mlp'
//! ```

mod gpt;
mod images;
mod lstm;
mod mlp;

use std::time::Duration;

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, Module};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Distribution, Int, Tensor, bf16, f16};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// What the bench needs of a model besides its parameters.
trait Model<B: Backend>: Module<B> {
    type Input: Clone;

    /// Made-up data of `batch` items, on the model's device.
    fn input(batch: usize, device: &B::Device) -> Self::Input;

    /// Scores `[rows, classes]`: what is learnt is a class for each row.
    fn scores(&self, input: Self::Input) -> Tensor<B, 2>;
}

fn normal<B: Backend, const D: usize>(shape: [usize; D], device: &B::Device) -> Tensor<B, D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

/// A step of training that reads its loss.
fn training_step<B: AutodiffBackend, M: Model<B> + AutodiffModule<B>>(
    group: &mut Group<'_>,
    id: BenchmarkId,
    model: M,
    mut optimizer: impl Optimizer<M, B>,
    input: M::Input,
) {
    let device = model.devices().remove(0);
    let mut model = Some(model);
    let mut step = || {
        let trained = model.take().expect("put back below");
        let scores = trained.scores(input.clone());
        let [rows, classes] = scores.dims();
        let labels = Tensor::<B, 1, Int>::arange(0..rows as i64, &device).remainder_scalar(classes as i64);
        let loss = CrossEntropyLossConfig::new().init(&device).forward(scores, labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &trained);
        model = Some(optimizer.step(1e-4, trained, gradients));
        loss.into_data()
    };
    // The second step is the first whose optimizer has its state.
    for _ in 0..3 {
        step();
    }
    group.bench_function(id, |bencher| bencher.iter(&mut step));
}

fn training<B: AutodiffBackend, M: Model<B> + AutodiffModule<B>>(
    group: &mut Group<'_>,
    id: BenchmarkId,
    model: M,
    optimizer: &str,
    input: M::Input,
) {
    match optimizer {
        "sgd" => training_step(group, id, model, SgdConfig::new().init(), input),
        "adam" => training_step(group, id, model, AdamConfig::new().init(), input),
        other => unreachable!("no case names {other}"),
    }
}

fn inference<B: Backend, M: Model<B>>(group: &mut Group<'_>, id: BenchmarkId, model: &M, input: &M::Input) {
    let output = || model.scores(input.clone()).into_data();
    output();
    group.bench_function(id, |bencher| bencher.iter(output));
}

/// A case on several backends: `each!(group, case, backends, |B, device| model, |group, id, model, device| measured)`.
macro_rules! each {
    (
        $group:expr, $case:expr, [$(($backend:ty, $name:literal)),+], |$B:ident, $device:ident| $model:expr, $run:expr
    ) => {{
        $({
            type $B = $backend;
            let $device = burn::tensor::Device::<$B>::default();
            $run(&mut *$group, BenchmarkId::new($name, $case), $model, &$device);
        })+
    }};
}

/// Training of one model with a batch size and an optimizer.
macro_rules! train {
    (
        $group:expr, $name:literal, $batch:literal, $optimizer:literal, $backends:tt,
        |$B:ident, $device:ident| $model:expr
    ) => {
        each!(
            $group,
            concat!($name, ", batch ", $batch, ", ", $optimizer),
            $backends,
            |$B, $device| $model,
            |group: &mut Group<'_>, id, model, device: &_| {
                let input = input_of(&model, $batch, device);
                training(group, id, model, $optimizer, input)
            }
        )
    };
}

/// All cases of training on some backends.
macro_rules! train_all {
    ($group:expr, $backends:tt) => {{
        train!($group, "mlp 128", 64, "sgd", $backends, |B, device| mlp::Mlp::<B>::new([784, 128, 10], &device));
        train!($group, "mlp 128", 64, "adam", $backends, |B, device| mlp::Mlp::<B>::new([784, 128, 10], &device));
        train!($group, "mlp 128", 256, "sgd", $backends, |B, device| mlp::Mlp::<B>::new([784, 128, 10], &device));
        train!($group, "mlp 128", 256, "adam", $backends, |B, device| mlp::Mlp::<B>::new([784, 128, 10], &device));
        train!($group, "mlp 512", 64, "sgd", $backends, |B, device| mlp::Mlp::<B>::new([784, 512, 10], &device));
        train!($group, "mlp 512", 64, "adam", $backends, |B, device| mlp::Mlp::<B>::new([784, 512, 10], &device));
        train!($group, "mlp 512", 256, "sgd", $backends, |B, device| mlp::Mlp::<B>::new([784, 512, 10], &device));
        train!($group, "mlp 512", 256, "adam", $backends, |B, device| mlp::Mlp::<B>::new([784, 512, 10], &device));
        train!($group, "mnist cnn", 64, "adam", $backends, |B, device| images::Cnn::<B>::new(&device));
        train!($group, "residual blocks", 16, "sgd", $backends, |B, device| images::Residual::<B>::new(&device));
        train!($group, "lstm", 16, "adam", $backends, |B, device| lstm::Sequence::<B>::new(&device));
        train!($group, "gpt 2x128", 4, "adam", $backends, |B, device| gpt::Gpt::<B, 2, 128>::new(&device));
        train!($group, "gpt 4x256", 4, "adam", $backends, |B, device| gpt::Gpt::<B, 4, 256>::new(&device));
    }};
}

/// Inference with one model at batch sizes of 1 and 64.
macro_rules! infer {
    ($group:expr, $name:literal, |$B:ident, $device:ident| $model:expr) => {
        for batch in [1, 64] {
            each!(
                $group,
                format!("{}, batch {batch}", $name),
                [(MpsGraph, "mpsgraph"), (NdArray, "ndarray"), (Flex, "flex")],
                |$B, $device| $model,
                |group: &mut Group<'_>, id, model, device: &_| {
                    let input = input_of(&model, batch, device);
                    inference(group, id, &model, &input)
                }
            )
        }
    };
}

fn input_of<B: Backend, M: Model<B>>(_model: &M, batch: usize, device: &B::Device) -> M::Input {
    M::input(batch, device)
}

fn group<'c>(criterion: &'c mut Criterion, title: &str) -> Group<'c> {
    let mut group = criterion.benchmark_group(title);
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group
}

fn trained(criterion: &mut Criterion) {
    let mut group = group(criterion, "training");
    let group = &mut group;
    train_all!(group, [(Autodiff<MpsGraph>, "mpsgraph"), (Autodiff<NdArray>, "ndarray"), (Autodiff<Flex>, "flex")]);
}

fn trained_in_16_bits(criterion: &mut Criterion) {
    let mut group = group(criterion, "training by dtype");
    let group = &mut group;
    train_all!(
        group,
        [(Autodiff<MpsGraph>, "f32"), (Autodiff<MpsGraph<f16>>, "f16"), (Autodiff<MpsGraph<bf16>>, "bf16")]
    );
}

fn inferred(criterion: &mut Criterion) {
    let mut group = group(criterion, "inference");
    let group = &mut group;
    infer!(group, "mlp 128", |B, device| mlp::Mlp::<B>::new([784, 128, 10], &device));
    infer!(group, "mlp 512", |B, device| mlp::Mlp::<B>::new([784, 512, 10], &device));
    infer!(group, "mnist cnn", |B, device| images::Cnn::<B>::new(&device));
    infer!(group, "residual blocks", |B, device| images::Residual::<B>::new(&device));
    infer!(group, "lstm", |B, device| lstm::Sequence::<B>::new(&device));
    infer!(group, "gpt 2x128", |B, device| gpt::Gpt::<B, 2, 128>::new(&device));
    infer!(group, "gpt 4x256", |B, device| gpt::Gpt::<B, 4, 256>::new(&device));
}

criterion_group!(benches, trained, trained_in_16_bits, inferred);
criterion_main!(benches);
