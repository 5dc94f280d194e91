//! Matrix products of square matrices.

use criterion::Criterion;

use super::{INTS, case, floats, ints, name};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("matmul");
    for n in [64, 128, 256, 512, 1024] {
        case!(group, format!("f32 {n}"), |B| [0; 2].map(|_| floats::<B>([n, n])), |[a, b]| {
            a.clone().matmul(b.clone())
        });
    }
    for (n, dtype) in [16, 64, 128, 256].into_iter().flat_map(|n| INTS.map(|dtype| (n, dtype))) {
        case!(group, name("", dtype, [n, 1]), |B| [0; 2].map(|_| ints::<B>([n, n], dtype)), |[a, b]| {
            a.clone().matmul(b.clone())
        });
    }
}
