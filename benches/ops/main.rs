//! Single operations of 10 thousand, 100 thousand and a million elements, each waited for by a sync, on this backend,
//! burn-ndarray and burn-flex in one run. The entries of a case follow each other, so that other load on the machine
//! meets all of them. `OPS_ELEMENTS=10000` keeps the sizes that it names, separated by commas.
//!
//! ```sh
//! cargo bench --bench ops -- 'reduction/.*i32'
//! ```

mod arithmetic;
mod cast;
mod comparison;
mod gather;
#[path = "../peers/measure.rs"]
mod measure;
mod movement;
mod product;
mod random;
mod reduction;
mod softmax;

use std::time::Duration;

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, DType, Distribution, Int, Tensor};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Group, measure};

/// Measures a case with this backend and those of burn-ndarray and burn-flex: `case!(group, name, |B| input, |x| run)`.
///
/// Peers answer an operation that only renames axes without touching an element, and a function of one operand keeps
/// its order. So what moves elements is measured together with a sum with a packed tensor, or with a negation (of
/// integers, of their bits) where the result has other elements than the operand.
macro_rules! case {
    ($group:expr, $name:expr, |$B:ident| $input:expr, |$x:pat_param| $run:expr) => {{
        let (group, name) = (&mut *$group, &$name);
        {
            type $B = burn_mpsgraph::MpsGraph;
            $crate::measure::<$B, _, _>(group, "mpsgraph", name, || $input, |$x| $run);
        }
        {
            type $B = burn_ndarray::NdArray;
            $crate::measure::<$B, _, _>(group, "ndarray", name, || $input, |$x| $run);
        }
        {
            type $B = burn_flex::Flex;
            $crate::measure::<$B, _, _>(group, "flex", name, || $input, |$x| $run);
        }
    }};
}
use case;

/// The shapes that are measured.
fn shapes() -> impl Iterator<Item = [usize; 2]> {
    let wanted = std::env::var("OPS_ELEMENTS").ok();
    [[100, 100], [250, 400], [1000, 1000]].into_iter().filter(move |[rows, columns]| {
        let elements = (rows * columns).to_string();
        wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|wanted| wanted == elements))
    })
}

/// The integers that are measured.
const INTS: [DType; 4] = [DType::I32, DType::I64, DType::I8, DType::U8];

/// What a case is called.
fn name(what: &str, dtype: DType, [rows, columns]: [usize; 2]) -> String {
    let dtype = format!("{dtype:?}").to_lowercase();
    format!("{what} {dtype} {}", rows * columns)
}

/// Floats from a normal distribution.
fn floats<B: Backend>(shape: [usize; 2]) -> Tensor<B, 2> {
    blocks(shape)
}

/// The same with more axes, or fewer.
fn blocks<B: Backend, const D: usize>(shape: [usize; D]) -> Tensor<B, D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), &B::Device::default())
}

/// Integers from 1 to 99.
fn ints<B: Backend>(shape: [usize; 2], dtype: DType) -> Tensor<B, 2, Int> {
    Tensor::<B, 2, Int>::random(shape, Distribution::Uniform(1.0, 100.0), &B::Device::default()).cast(dtype)
}

/// Bools, of which half are true.
fn bools<B: Backend>(shape: [usize; 2]) -> Tensor<B, 2, Bool> {
    floats::<B>(shape).greater_elem(0.0)
}

criterion_group! {
    name = benches;
    // There are many cases.
    config = Criterion::default()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(100));
    targets =
        arithmetic::benches,
        cast::benches,
        comparison::benches,
        gather::benches,
        movement::benches,
        product::benches,
        random::benches,
        reduction::benches,
        softmax::benches
}
criterion_main!(benches);
