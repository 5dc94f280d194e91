//! Models on this backend, burn-ndarray and burn-flex in one run: a training step that reads its loss, inference that
//! reads the scores, and a decoder that reads each token. The entries of a case follow each other, so that other load
//! on the machine meets all of them; the last one is what the products of this backend's step take ([`products`]).
//!
//! ```sh
//! cargo bench --bench models -- 'training/.*mlp'
//! MODELS_DTYPE=f16 cargo bench --bench models -- 'training/f16'      # or bf16: on this backend, instead of f32
//! ```

mod decoder;
mod gpt;
mod images;
mod lstm;
mod mlp;
#[cfg(not(target_vendor = "apple"))]
mod products;

use std::cell::OnceCell;
use std::sync::LazyLock;
use std::time::Duration;

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, Module};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Distribution, FloatDType, Int, IntDType, Tensor, TensorData, set_default_dtypes};
use burn_flex::Flex;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use burn_ndarray::NdArray;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};

use decoder::Decoder;
use gpt::Gpt;
use images::{Cnn, Residual};
use lstm::Sequence;
use mlp::Mlp;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// What the bench needs of a model besides its parameters.
trait Model<B: Backend>: Module<B> {
    type Input: Clone;

    fn new(device: &B::Device) -> Self;

    /// Made-up data of `batch` items.
    fn input(batch: usize, device: &B::Device) -> Self::Input;

    /// Scores `[rows, classes]`: what is learnt is a class for each row.
    fn scores(&self, input: Self::Input) -> Tensor<B, 2>;
}

fn normal<B: Backend, const D: usize>(shape: [usize; D], device: &B::Device) -> Tensor<B, D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device)
}

struct Trainer<B: Backend, M: Model<B>> {
    /// Empty only inside a step.
    model: Option<M>,
    input: M::Input,
    device: B::Device,
}

impl<B: AutodiffBackend, M: Model<B> + AutodiffModule<B>> Trainer<B, M> {
    /// A trainer whose optimizer has its state.
    fn new(batch: usize, optimizer: &mut impl Optimizer<M, B>) -> Self {
        let device = B::Device::default();
        let mut trainer = Self { model: Some(M::new(&device)), input: M::input(batch, &device), device };
        for _ in 0..3 {
            trainer.step(optimizer);
        }
        trainer
    }

    /// A step that reads its loss.
    fn step(&mut self, optimizer: &mut impl Optimizer<M, B>) -> TensorData {
        let model = self.model.take().expect("a step puts it back");
        let scores = model.scores(self.input.clone());
        let [rows, classes] = scores.dims();
        let labels = Tensor::<B, 1, Int>::arange(0..rows as i64, &self.device).remainder_scalar(classes as i64);
        let loss = CrossEntropyLossConfig::new().init(&self.device).forward(scores, labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        self.model = Some(optimizer.step(1e-4, model, gradients));
        loss.into_data()
    }
}

fn training<B: AutodiffBackend, M: Model<B> + AutodiffModule<B>>(
    group: &mut Group<'_>,
    id: BenchmarkId,
    batch: usize,
    mut optimizer: impl Optimizer<M, B>,
) {
    let mut trainer = None;
    group.bench_function(id, |bencher| {
        let trainer = trainer.get_or_insert_with(|| Trainer::<B, M>::new(batch, &mut optimizer));
        bencher.iter(|| trainer.step(&mut optimizer));
    });
}

fn inference<B: Backend, M: Model<B>>(group: &mut Group<'_>, id: BenchmarkId, batch: usize) {
    let (device, made) = (B::Device::default(), OnceCell::new());
    group.bench_function(id, |bencher| {
        let (model, input) = made.get_or_init(|| (M::new(&device), M::input(batch, &device)));
        bencher.iter(|| model.scores(input.clone()).into_data());
    });
}

/// One token after the other, from the first place again when the cache is full.
fn decoding<B: Backend>(group: &mut Group<'_>, id: BenchmarkId, [layers, width]: [usize; 2]) {
    let (device, mut made) = (B::Device::default(), None);
    group.bench_function(id, |bencher| {
        let (decoder, caches, token, at) = made.get_or_insert_with(|| {
            let decoder = Decoder::<B>::new(layers, width, &device);
            let caches = decoder.empty(&device);
            (decoder, caches, 7, 0)
        });
        bencher.iter(|| {
            *token = decoder.next(*token, *at, caches, &device);
            *at = (*at + 1) % decoder::ROOM;
        });
    });
}

macro_rules! optimizer {
    ("sgd") => {
        SgdConfig::new().init()
    };
    ("adam") => {
        AdamConfig::new().init()
    };
}

/// What this backend's cases are called. In a process a device has one default dtype of floats: `MODELS_DTYPE`, or f32.
static OURS: LazyLock<&str> = LazyLock::new(|| {
    let (name, dtype) = match std::env::var("MODELS_DTYPE").as_deref() {
        Err(_) => return "mpsgraph",
        Ok("f16") => ("f16", FloatDType::F16),
        Ok("bf16") => ("bf16", FloatDType::BF16),
        Ok(other) => panic!("MODELS_DTYPE is f16 or bf16, not {other}"),
    };
    set_default_dtypes::<MpsGraph>(&MpsGraphDevice, dtype, IntDType::I32).expect("nothing has used the device");
    name
});

/// Measures on each backend: `each!(B, name, { what is measured })`.
macro_rules! each {
    ($B:ident, $name:ident, $run:block) => {
        each!($B, $name, $run, [(MpsGraph, *OURS), (NdArray, "ndarray"), (Flex, "flex")])
    };
    ($B:ident, $name:ident, $run:block, [$(($backend:ty, $of:expr)),+]) => {{$({
        type $B = $backend;
        let $name = $of;
        $run
    })+}};
}

/// Training of a model with a batch size and an optimizer.
macro_rules! train {
    ($group:expr, $case:literal, |$B:ident| $model:ty, $batch:literal, $optimizer:tt) => {
        each!(Inner, name, {
            type $B = Autodiff<Inner>;
            let id = BenchmarkId::new(name, concat!($case, ", batch ", $batch, ", ", $optimizer));
            training::<$B, $model>($group, id, $batch, optimizer!($optimizer));
        });
        #[cfg(not(target_vendor = "apple"))]
        {
            type $B = Autodiff<MpsGraph>;
            let (case, mut optimizer) = (concat!($case, ", batch ", $batch, ", ", $optimizer), optimizer!($optimizer));
            products::measure($group, case, || {
                let mut trainer = Trainer::<$B, $model>::new($batch, &mut optimizer);
                move || _ = trainer.step(&mut optimizer)
            });
        }
    };
}

/// Inference with a model at batch sizes of 1 and 64.
macro_rules! infer {
    ($group:expr, $case:literal, |$B:ident| $model:ty) => {
        for batch in [1, 64] {
            each!($B, name, {
                let id = BenchmarkId::new(name, format!("{}, batch {batch}", $case));
                inference::<$B, $model>($group, id, batch);
            });
            #[cfg(not(target_vendor = "apple"))]
            {
                type $B = MpsGraph;
                products::measure($group, &format!("{}, batch {batch}", $case), || {
                    let model = <$model as Model<$B>>::new(&MpsGraphDevice);
                    let input = <$model as Model<$B>>::input(batch, &MpsGraphDevice);
                    move || _ = model.scores(input.clone()).into_data()
                });
            }
        }
    };
}

fn group<'c>(criterion: &'c mut Criterion, title: &str) -> Group<'c> {
    let mut group = criterion.benchmark_group(title);
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group
}

fn trained(criterion: &mut Criterion) {
    let group = &mut group(criterion, "training");
    train!(group, "mlp 128", |B| Mlp<B, 128>, 64, "sgd");
    train!(group, "mlp 128", |B| Mlp<B, 128>, 64, "adam");
    train!(group, "mlp 128", |B| Mlp<B, 128>, 256, "sgd");
    train!(group, "mlp 128", |B| Mlp<B, 128>, 256, "adam");
    train!(group, "mlp 512", |B| Mlp<B, 512>, 64, "sgd");
    train!(group, "mlp 512", |B| Mlp<B, 512>, 64, "adam");
    train!(group, "mlp 512", |B| Mlp<B, 512>, 256, "sgd");
    train!(group, "mlp 512", |B| Mlp<B, 512>, 256, "adam");
    train!(group, "mnist cnn", |B| Cnn<B>, 64, "adam");
    train!(group, "residual blocks", |B| Residual<B>, 16, "sgd");
    train!(group, "lstm", |B| Sequence<B>, 16, "adam");
    train!(group, "gpt 2x128", |B| Gpt<B, 2, 128>, 4, "adam");
    train!(group, "gpt 4x256", |B| Gpt<B, 4, 256>, 4, "adam");
}

fn inferred(criterion: &mut Criterion) {
    let group = &mut group(criterion, "inference");
    infer!(group, "mlp 128", |B| Mlp<B, 128>);
    infer!(group, "mlp 512", |B| Mlp<B, 512>);
    infer!(group, "mnist cnn", |B| Cnn<B>);
    infer!(group, "residual blocks", |B| Residual<B>);
    infer!(group, "lstm", |B| Sequence<B>);
    infer!(group, "gpt 2x128", |B| Gpt<B, 2, 128>);
    infer!(group, "gpt 4x256", |B| Gpt<B, 4, 256>);
}

fn decoded(criterion: &mut Criterion) {
    let group = &mut group(criterion, "decoding");
    for sizes @ [layers, width] in [[4, 128], [4, 512]] {
        each!(B, name, {
            decoding::<B>(group, BenchmarkId::new(name, format!("decoder {layers}x{width}")), sizes);
        })
    }
}

criterion_group!(benches, trained, inferred, decoded);
criterion_main!(benches);
