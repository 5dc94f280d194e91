//! Ops of the families that order, scan, resize, transform, quantize and align, on this backend, burn-ndarray and
//! burn-flex in one run. The entries of a case follow each other, so that other load on the machine meets all of them.
//!
//! ```sh
//! cargo bench --bench families -- 'sort/.*1048576'
//! ```

mod cumulative;
mod fourier;
mod loss;
mod order;
mod quantized;
mod resize;

use std::cell::OnceCell;
use std::time::Duration;

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Tensor};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main, measurement::WallTime};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Runs a generic function with this backend and those of burn-ndarray and burn-flex, or without burn-ndarray.
macro_rules! each_backend {
    ($function:ident($($argument:expr),*)) => {
        $function::<burn_mpsgraph::MpsGraph>($($argument,)* "mpsgraph");
        $function::<burn_ndarray::NdArray>($($argument,)* "ndarray");
        $function::<burn_flex::Flex>($($argument,)* "flex");
    };
    (without ndarray: $function:ident($($argument:expr),*)) => {
        $function::<burn_mpsgraph::MpsGraph>($($argument,)* "mpsgraph");
        $function::<burn_flex::Flex>($($argument,)* "flex");
    };
}
use each_backend;

/// Measures `run` until its result is computed, also if the backend is lazy. Its input is made when the case is asked
/// for.
fn measure<B: Backend, I, T>(
    group: &mut Group<'_>,
    backend: &str,
    case: &str,
    input: impl Fn() -> I,
    run: impl Fn(&I) -> T,
) {
    let (device, made) = (B::Device::default(), OnceCell::new());
    let wait = || B::sync(&device).expect("the device works");
    group.bench_function(BenchmarkId::new(backend, case), |bencher| {
        let input = made.get_or_init(|| {
            let input = input();
            wait();
            input
        });
        bencher.iter(|| {
            let result = run(input);
            wait();
            result
        });
    });
}

/// Floats from a normal distribution.
fn floats<B: Backend, const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<B, D> {
    Tensor::<B, D>::random(shape, Distribution::Normal(0.0, 1.0), &B::Device::default()).cast(dtype)
}

/// Integers between minus a million and a million.
fn ints<B: Backend, const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<B, D, Int> {
    Tensor::<B, D, Int>::random(shape, Distribution::Uniform(-1e6, 1e6), &B::Device::default()).cast(dtype)
}

criterion_group! {
    name = benches;
    // There are many cases.
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
    targets =
        order::benches,
        cumulative::benches,
        resize::benches,
        fourier::benches,
        quantized::benches,
        loss::benches
}
criterion_main!(benches);
