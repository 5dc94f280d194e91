//! Sorting and the largest elements, along the last and the first axis, of one long row and many short ones.

use burn::tensor::DType;
use burn::tensor::backend::Backend;
use criterion::Criterion;

use super::{Group, each_backend, floats, ints, measure};

/// Shapes and the axis that is sorted.
const CASES: [([usize; 2], usize); 6] =
    [([100, 100], 1), ([1, 1 << 20], 1), ([1024, 1024], 1), ([1024, 1024], 0), ([65_536, 16], 1), ([16, 65_536], 0)];

pub fn benches(criterion: &mut Criterion) {
    let mut sort = criterion.benchmark_group("sort");
    for (shape, dim) in CASES {
        each_backend!(sort_floats(&mut sort, shape, dim, DType::F32));
        each_backend!(sort_ints(&mut sort, shape, dim, DType::I32));
        each_backend!(sort_ints(&mut sort, shape, dim, DType::I64));
    }
    for (shape, dim) in [([1, 1 << 20], 1), ([1024, 1024], 1)] {
        each_backend!(without ndarray: sort_floats(&mut sort, shape, dim, DType::F16));
    }
    sort.finish();
    let mut argsort = criterion.benchmark_group("argsort");
    for (shape, dim) in CASES {
        each_backend!(argsort_floats(&mut argsort, shape, dim, DType::F32));
        each_backend!(argsort_ints(&mut argsort, shape, dim, DType::I32));
        each_backend!(argsort_ints(&mut argsort, shape, dim, DType::I64));
    }
    argsort.finish();
    let mut both = criterion.benchmark_group("sort_descending_with_indices");
    for (shape, dim) in CASES {
        each_backend!(sort_with_indices(&mut both, shape, dim));
    }
    both.finish();
    let mut topk = criterion.benchmark_group("topk");
    for (shape, dim, k) in [([1, 1 << 20], 1, 10), ([64, 32_768], 1, 50), ([1024, 1024], 1, 5), ([1024, 1024], 0, 5)] {
        each_backend!(largest(&mut topk, shape, dim, k));
    }
    topk.finish();
}

fn sort_floats<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, dtype: DType, backend: &str) {
    let case = case(dtype, shape, dim);
    measure::<B, _, _>(group, backend, &case, || floats::<B, 2>(shape, dtype), |x| x.clone().sort(dim));
}

fn sort_ints<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, dtype: DType, backend: &str) {
    let case = case(dtype, shape, dim);
    measure::<B, _, _>(group, backend, &case, || ints::<B, 2>(shape, dtype), |x| x.clone().sort(dim));
}

fn argsort_floats<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, dtype: DType, backend: &str) {
    let case = case(dtype, shape, dim);
    measure::<B, _, _>(group, backend, &case, || floats::<B, 2>(shape, dtype), |x| x.clone().argsort(dim));
}

fn argsort_ints<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, dtype: DType, backend: &str) {
    let case = case(dtype, shape, dim);
    measure::<B, _, _>(group, backend, &case, || ints::<B, 2>(shape, dtype), |x| x.clone().argsort(dim));
}

fn sort_with_indices<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, backend: &str) {
    let (case, x) = (case(DType::F32, shape, dim), || floats::<B, 2>(shape, DType::F32));
    measure::<B, _, _>(group, backend, &case, x, |x| x.clone().sort_descending_with_indices(dim));
}

fn largest<B: Backend>(group: &mut Group<'_>, shape: [usize; 2], dim: usize, k: usize, backend: &str) {
    let (case, x) = (case(DType::F32, shape, dim), || floats::<B, 2>(shape, DType::F32));
    measure::<B, _, _>(group, backend, &format!("{k} of {case}"), x, |x| x.clone().topk(k, dim));
    let case = format!("{k} of {case}, with positions");
    measure::<B, _, _>(group, backend, &case, x, |x| x.clone().topk_with_indices(k, dim));
}

fn case(dtype: DType, [rows, columns]: [usize; 2], dim: usize) -> String {
    format!("{dtype:?} {rows}x{columns} dim {dim}")
}
