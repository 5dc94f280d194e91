//! Matrix products: of square matrices, one or a batch, of points with a small matrix, of pairs of rows, and of a
//! matrix with itself.

use burn::tensor::DType;
use criterion::Criterion;

use super::{blocks, case, floats, ints};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("matmul");
    for n in [64, 128, 256, 512, 1024] {
        case!(group, format!("f32 {n}"), |B| [0; 2].map(|_| floats::<B>([n, n])), |[a, b]| {
            a.clone().matmul(b.clone())
        });
    }
    // burn-flex multiplies no matrices of other integers.
    let ints_of_both = [DType::I32, DType::I64];
    for (n, dtype) in [16, 64, 128, 256].into_iter().flat_map(|n| ints_of_both.map(|dtype| (n, dtype))) {
        case!(
            group,
            format!("{dtype:?} {n}").to_lowercase(),
            |B| [0; 2].map(|_| ints::<B>([n, n], dtype)),
            |[a, b]| { a.clone().matmul(b.clone()) }
        );
    }
    // Rotations, and heads of a small transformer.
    for [batch, n] in [[10_000, 3], [10_000, 4], [1000, 16], [64, 64]] {
        case!(group, format!("f32 {batch} of {n}"), |B| [0; 2].map(|_| blocks::<B, 3>([batch, n, n])), |[a, b]| {
            a.clone().matmul(b.clone())
        });
    }
    // Points that are turned, as rows and as columns, and sums over pairs of points.
    for points in [1000, 20_000] {
        let operands = |rows: usize, columns: usize| [[rows, 3], [columns, 3]];
        case!(group, format!("f32 {points} points as rows"), |B| operands(points, 3).map(floats::<B>), |[a, b]| {
            a.clone().matmul(b.clone())
        });
        case!(group, format!("f32 {points} points as columns"), |B| operands(3, points).map(floats::<B>), |[a, b]| {
            a.clone().matmul(b.clone().transpose())
        });
        case!(
            group,
            format!("f32 {points} pairs of points"),
            |B| operands(points, points).map(floats::<B>),
            |[a, b]| { a.clone().transpose().matmul(b.clone()) }
        );
    }
    // Scores of pairs: a row times a column each.
    for [pairs, width] in [[1000, 64], [20_000, 128]] {
        case!(
            group,
            format!("f32 {pairs} pairs of {width}"),
            |B| [[pairs, 1, width], [pairs, width, 1]].map(blocks::<B, 3>),
            |[a, b]| { a.clone().matmul(b.clone()) }
        );
    }
    // Gram matrices of images, and covariances.
    for [features, samples] in [[64, 16_384], [64, 65_536], [10, 100_000], [3, 100_000], [1, 1_000_000]] {
        let of = |what: &str| format!("f32 {what} of {features} of {samples}");
        case!(group, of("gram matrix"), |B| floats::<B>([features, samples]), |x| {
            x.clone().matmul(x.clone().transpose())
        });
        case!(group, of("covariance"), |B| floats::<B>([samples, features]), |x| {
            x.clone().transpose().matmul(x.clone())
        });
    }
}
