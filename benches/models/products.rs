//! What the matrix products of a step take, and nothing else of it. Whoever multiplies as fast takes as long at least,
//! so this says how much faster than a peer a model can be. Convolutions are no products here.

use std::time::Duration;

use criterion::BenchmarkId;
use mpsgraph_soft::compiler::time_steps;

use crate::Group;

/// What the software runtime's texts of products begin with.
const PRODUCT: &str = "matmul ";

/// Measures the products of the step that is made.
pub fn measure<S: FnMut()>(group: &mut Group<'_>, case: &str, make: impl FnOnce() -> S) {
    let (mut make, mut made) = (Some(make), None);
    group.bench_function(BenchmarkId::new("products", case), |bencher| {
        let step = made.get_or_insert_with(|| {
            let mut step = make.take().expect("it is made once")();
            // What it records first is compiled.
            (0..3).for_each(|_| step());
            step
        });
        bencher.iter_custom(|times| (0..times).map(|_| products_of(time_steps(&mut *step).1)).sum());
    });
}

fn products_of(steps: Vec<(String, Duration)>) -> Duration {
    steps.into_iter().filter(|(text, _)| text.starts_with(PRODUCT)).map(|(_, time)| time).sum()
}
