//! The cost of recording alone: one op, and the flush of a 200-op program that is compiled already. The program works
//! on single elements, so its execution hides nothing.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

type B = MpsGraph;

/// Ops of the program whose flush is measured.
const OPS: usize = 200;

fn chain(mut x: Tensor<B, 1>, ops: usize) -> Tensor<B, 1> {
    let step = x.clone();
    for _ in 0..ops {
        x = x + step.clone();
    }
    x
}

fn record(criterion: &mut Criterion) {
    let device = MpsGraphDevice;
    let x = Tensor::<B, 1>::ones([1], &device);
    B::sync(&device).expect("the device works");
    // The chain is dropped unread, so it never runs; the time to drop it is not measured.
    criterion.bench_function("record_200_ops", |bencher| {
        bencher.iter_batched(
            || B::sync(&device).expect("the device works"),
            |()| drop(chain(x.clone(), OPS)),
            BatchSize::PerIteration,
        );
    });
}

fn cached_flush(criterion: &mut Criterion) {
    let device = MpsGraphDevice;
    let x = Tensor::<B, 1>::ones([1], &device);
    chain(x.clone(), OPS).into_data();
    criterion.bench_function("flush_cached_200_op_program", |bencher| {
        bencher.iter_batched(|| chain(x.clone(), OPS), |y| B::sync(&device).map(|()| y), BatchSize::PerIteration);
    });
}

criterion_group!(benches, record, cached_flush);
criterion_main!(benches);
