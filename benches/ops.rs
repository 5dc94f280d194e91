//! Single large operations, each read back by a sync, on this backend, burn-ndarray and burn-flex in one run: matrix
//! products of 64 to 1024 rows and columns, sums of 10 thousand to a million elements.

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantStore, QuantValue};
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

/// Spectra of rows, as in a spectrogram, and of one long signal. burn-ndarray has no transforms.
fn rfft(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion, name: &str) {
        let mut group = criterion.benchmark_group("rfft");
        for shape in [[1000, 256], [256, 1024], [64, 4096], [1, 65_536]] {
            let x = random::<B>(shape);
            group.bench_function(BenchmarkId::new(name, format!("{}x{}", shape[0], shape[1])), |bencher| {
                bencher.iter(|| {
                    let spectrum = burn::tensor::signal::rfft(x.clone(), 1, None);
                    wait(&spectrum.0);
                    spectrum
                });
            });
        }
        group.finish();
    }
    run::<MpsGraph>(criterion, "mpsgraph");
    run::<Flex>(criterion, "flex");
}

/// Products of a few or many rows with a quantized matrix of 1024 rows and columns, and quantizing it. burn-ndarray
/// has no values of 4 bits.
fn quantized(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion, name: &str) {
        let mut group = criterion.benchmark_group("quantized");
        let weights = random::<B>([1024, 1024]);
        for (value, level) in [
            (QuantValue::Q8S, QuantLevel::Tensor),
            (QuantValue::Q8S, QuantLevel::block([32])),
            (QuantValue::Q4S, QuantLevel::block([32])),
        ] {
            let scheme = QuantScheme::default().with_value(value).with_level(level).with_store(QuantStore::Native);
            let blocks = if level == QuantLevel::Tensor { "" } else { " in blocks" };
            group.bench_function(BenchmarkId::new(name, format!("{value:?}{blocks}")), |bencher| {
                bencher.iter(|| {
                    let quantized = weights.clone().quantize_dynamic(&scheme);
                    wait(&quantized);
                    quantized
                });
            });
            let quantized = weights.clone().quantize_dynamic(&scheme);
            for rows in [1, 64, 1024] {
                let x = random::<B>([rows, 1024]);
                group.bench_function(BenchmarkId::new(name, format!("{value:?}{blocks}, {rows} rows")), |bencher| {
                    bencher.iter(|| {
                        let product = x.clone().matmul(quantized.clone());
                        wait(&product);
                        product
                    });
                });
            }
        }
        group.finish();
    }
    run::<MpsGraph>(criterion, "mpsgraph");
    run::<Flex>(criterion, "flex");
}

criterion_group!(benches, matmul, add, rfft, quantized);
criterion_main!(benches);
