//! What an op costs through the server, beside the same op called directly, and the way of a read.

use burn::tensor::Tensor;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{FloatDType, Shape, read_sync};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Ops before a read, as a small training step has.
const OPS: usize = 200;

fn programs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ops_and_a_read");
    group.throughput(Throughput::Elements(OPS as u64));
    let one = MpsGraph::float_ones(Shape::new([1]), &MpsGraphDevice, FloatDType::F32);
    group.bench_function("direct", |bencher| {
        bencher.iter(|| {
            let sum = (0..OPS).fold(one.clone(), |sum, _| MpsGraph::float_add(sum, one.clone()));
            read_sync(MpsGraph::float_into_data(sum)).expect("the device works")
        });
    });
    let device = burn_mpsgraph::device().expect("a server of this process");
    let one = Tensor::<1>::ones([1], &device);
    group.bench_function("remote", |bencher| {
        bencher.iter(|| (0..OPS).fold(one.clone(), |sum, _| sum + one.clone()).into_data());
    });
}

fn reads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    let one = MpsGraph::float_ones(Shape::new([1]), &MpsGraphDevice, FloatDType::F32);
    let read = || read_sync(MpsGraph::float_into_data(one.clone())).expect("the device works");
    group.bench_function("direct", |bencher| bencher.iter(read));
    let device = burn_mpsgraph::device().expect("a server of this process");
    let one = Tensor::<1>::ones([1], &device);
    group.bench_function("remote", |bencher| bencher.iter(|| one.to_data()));
}

criterion_group!(benches, programs, reads);
criterion_main!(benches);
