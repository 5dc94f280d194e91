//! The cost of recording and flushing alone: one op; the flush of a 200-op program that is compiled already, with
//! slices in place and with slices that move; and programs of 5,000 to 40,000 ops, whose times per op should
//! grow only as the caches are left (`ARCHITECTURE.md`, "Costs are linear"). The programs work on single elements, so
//! their execution hides nothing.

use std::process::{Command, ExitCode};

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, s};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group};

type B = MpsGraph;

/// Ops of the program whose flush is measured.
const OPS: usize = 200;

/// Ops of the long programs.
const LONG: [usize; 4] = [5_000, 10_000, 20_000, 40_000];

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

/// The same with a slice in front, which starts elsewhere each time.
fn cached_flush_with_moving_slice(criterion: &mut Criterion) {
    let device = MpsGraphDevice;
    let data = Tensor::<B, 1>::ones([64], &device);
    let mut start = 0;
    let mut next = || {
        start = (start + 1) % 64;
        chain(data.clone().slice(s![start..start + 1]), OPS - 1)
    };
    (0..3).for_each(|_| drop(next().into_data()));
    criterion.bench_function("flush_cached_200_op_program_with_moving_slice", |bencher| {
        bencher.iter_batched(&mut next, |y| B::sync(&device).map(|()| y), BatchSize::PerIteration);
    });
}

/// Results that are all kept, so that a program has as many outputs as ops.
fn kept(x: &Tensor<B, 1>, ops: usize) -> Vec<Tensor<B, 1>> {
    let mut kept = vec![x.clone()];
    for at in 0..ops {
        kept.push(kept[at].clone() + x.clone());
    }
    kept
}

fn long_programs(criterion: &mut Criterion) {
    let device = MpsGraphDevice;
    let x = Tensor::<B, 1>::ones([1], &device);
    let mut group = criterion.benchmark_group("long_program");
    group.sample_size(10);
    for ops in LONG {
        group.throughput(Throughput::Elements(ops as u64));
        let flush = |y: Tensor<B, 1>| B::sync(&device).map(|()| y);
        group.bench_function(BenchmarkId::new("compile", ops), |bencher| {
            let new = || {
                device.clear_programs();
                chain(x.clone(), ops)
            };
            bencher.iter_batched(new, flush, BatchSize::PerIteration);
        });
        group.bench_function(BenchmarkId::new("flush_cached", ops), |bencher| {
            bencher.iter_batched(|| chain(x.clone(), ops), flush, BatchSize::PerIteration);
        });
        let flush_all = |y: Vec<Tensor<B, 1>>| B::sync(&device).map(|()| y);
        group.bench_function(BenchmarkId::new("compile_all_kept", ops), |bencher| {
            let new = || {
                device.clear_programs();
                kept(&x, ops)
            };
            bencher.iter_batched(new, flush_all, BatchSize::PerIteration);
        });
        let fed: Vec<Tensor<B, 1>> = kept(&x, ops);
        B::sync(&device).expect("the device works");
        group.bench_function(BenchmarkId::new("compile_all_fed", ops), |bencher| {
            let new = || {
                device.clear_programs();
                fed.iter().fold(x.clone(), |sum, value| sum + value.clone())
            };
            bencher.iter_batched(new, flush, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, record, cached_flush, cached_flush_with_moving_slice, long_programs);

/// The long programs need a bound that the environment sets, so the measuring process is another one.
fn main() -> ExitCode {
    const BOUND: &str = "BURN_MPSGRAPH_MAX_OPS";
    if std::env::var_os(BOUND).is_none() {
        let own = std::env::current_exe().expect("a benchmark has a file");
        let status = Command::new(own).args(std::env::args_os().skip(1)).env(BOUND, "100000").status();
        return if status.expect("it starts").success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
    ExitCode::SUCCESS
}
