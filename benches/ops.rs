//! Single large operations, each read back by a sync, on this backend, burn-ndarray and burn-flex in one run: matrix
//! products of 64 to 1024 rows and columns, sums of 10 thousand to a million elements.

use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn random<B: Backend>(shape: [usize; 2]) -> Tensor<B, 2> {
    let tensor = Tensor::random(shape, Distribution::Default, &B::Device::default());
    wait(&tensor);
    tensor
}

/// Waits until `tensor` is computed, also if the backend is lazy.
fn wait<B: Backend>(tensor: &Tensor<B, 2>) {
    B::sync(&tensor.device()).expect("the device works");
}

fn matmul(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion, name: &str) {
        let mut group = criterion.benchmark_group("matmul");
        for n in [64, 128, 256, 512, 1024] {
            let (a, b) = (random::<B>([n, n]), random::<B>([n, n]));
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter(|| {
                    let product = a.clone().matmul(b.clone());
                    wait(&product);
                    product
                });
            });
        }
        group.finish();
    }
    run::<MpsGraph>(criterion, "mpsgraph");
    run::<NdArray>(criterion, "ndarray");
    run::<Flex>(criterion, "flex");
}

fn add(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion, name: &str) {
        let mut group = criterion.benchmark_group("add");
        for n in [10_000, 100_000, 1_000_000] {
            let (a, b) = (random::<B>([1, n]), random::<B>([1, n]));
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter(|| {
                    let sum = a.clone() + b.clone();
                    wait(&sum);
                    sum
                });
            });
        }
        group.finish();
    }
    run::<MpsGraph>(criterion, "mpsgraph");
    run::<NdArray>(criterion, "ndarray");
    run::<Flex>(criterion, "flex");
}

criterion_group!(benches, matmul, add);
criterion_main!(benches);
