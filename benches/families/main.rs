//! Ops of the families that order, scan, resize, transform, quantize and align, and products of a few rows, on this
//! backend, burn-ndarray and burn-flex in one run. The entries of a case follow each other, so that other load on the
//! machine meets all of them.
//!
//! ```sh
//! cargo bench --bench families -- 'sort/.*1048576'
//! ```

mod cumulative;
mod fourier;
mod loss;
#[path = "../peers/measure.rs"]
mod measure;
mod order;
mod quantized;
mod resize;
mod rows;

use std::time::Duration;

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Tensor};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Group, measure};

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
        rows::benches,
        loss::benches
}
criterion_main!(benches);
