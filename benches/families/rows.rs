//! A few rows times a matrix of 2048 rows and columns, as decoding multiplies them, and times its transposed.
//! burn-ndarray has no 16-bit floats.

use burn::tensor::DType;
use burn::tensor::backend::Backend;
use criterion::Criterion;

use super::{Group, each_backend, floats, measure};

/// Rows and columns of the matrix.
const SIDE: usize = 2048;

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rows");
    for rows in [1, 4, 16] {
        each_backend!(product(&mut group, rows, DType::F32));
        for dtype in [DType::F16, DType::BF16] {
            each_backend!(without ndarray: product(&mut group, rows, dtype));
        }
    }
    group.finish();
}

fn product<B: Backend>(group: &mut Group<'_>, rows: usize, dtype: DType, backend: &str) {
    let input = || (floats::<B, 2>([rows, SIDE], dtype), floats::<B, 2>([SIDE; 2], dtype));
    let name = format!("{dtype:?}, {rows} rows").to_lowercase();
    measure::<B, _, _>(group, backend, &name, input, |(x, weights)| x.clone().matmul(weights.clone()));
    let name = format!("{name}, transposed");
    measure::<B, _, _>(group, backend, &name, input, |(x, weights)| x.clone().matmul(weights.clone().transpose()));
}
