//! Running sums, products and extremes along the last and the first axis.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor};
use criterion::Criterion;

use super::{Group, each_backend, floats, ints, measure};

const CASES: [([usize; 2], usize); 6] =
    [([100, 100], 1), ([1, 1 << 20], 1), ([1024, 1024], 1), ([1024, 1024], 0), ([65_536, 16], 1), ([65_536, 16], 0)];

pub fn benches(criterion: &mut Criterion) {
    for name in ["cumsum", "cumprod", "cummin", "cummax"] {
        let mut group = criterion.benchmark_group(name);
        for (shape, dim) in CASES {
            each_backend!(of_floats(&mut group, name, shape, dim, DType::F32));
            each_backend!(of_ints(&mut group, name, shape, dim, DType::I32));
        }
        each_backend!(of_ints(&mut group, name, [1024, 1024], 1, DType::I64));
        each_backend!(without ndarray: of_floats(&mut group, name, [1024, 1024], 1, DType::F16));
        each_backend!(without ndarray: of_floats(&mut group, name, [1024, 1024], 0, DType::F16));
        group.finish();
    }
}

fn of_floats<B: Backend>(
    group: &mut Group<'_>,
    name: &str,
    shape: [usize; 2],
    dim: usize,
    dtype: DType,
    backend: &str,
) {
    let run = match name {
        "cumsum" => Tensor::<B, 2>::cumsum,
        "cumprod" => Tensor::cumprod,
        "cummin" => Tensor::cummin,
        _ => Tensor::cummax,
    };
    let case = case(dtype, shape, dim);
    measure::<B, _, _>(group, backend, &case, || floats::<B, 2>(shape, dtype), |x| run(x.clone(), dim));
}

fn of_ints<B: Backend>(group: &mut Group<'_>, name: &str, shape: [usize; 2], dim: usize, dtype: DType, backend: &str) {
    let run = match name {
        "cumsum" => Tensor::<B, 2, Int>::cumsum,
        "cumprod" => Tensor::cumprod,
        "cummin" => Tensor::cummin,
        _ => Tensor::cummax,
    };
    // Ones and minus ones: a product that overflows is not defined everywhere.
    let (case, x) = (case(dtype, shape, dim), || ints::<B, 2>(shape, dtype).sign());
    measure::<B, _, _>(group, backend, &case, x, |x| run(x.clone(), dim));
}

fn case(dtype: DType, [rows, columns]: [usize; 2], dim: usize) -> String {
    format!("{dtype:?} {rows}x{columns} dim {dim}")
}
