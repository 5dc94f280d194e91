//! How an operation is measured on one of several backends, for the benches that compare them case by case.

use std::cell::OnceCell;

use burn::tensor::backend::Backend;
use criterion::{BenchmarkGroup, BenchmarkId, measurement::WallTime};

pub type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Measures `run` until its result is computed, also if the backend is lazy. Its input is made when the case is asked
/// for.
pub fn measure<B: Backend, I, T>(
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
