//! A training step of a 784-512-10 perceptron (batch 64, Adam, loss read each step) on this backend, burn-ndarray and
//! burn-flex in one run.

#[path = "mlp/perceptron.rs"]
mod perceptron;

use burn::backend::Autodiff;
use burn::tensor::backend::AutodiffBackend;
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use perceptron::Trainer;

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
