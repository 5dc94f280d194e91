//! Reductions to one element, along either axis, and along an axis between others; of slices, of what is permuted, and
//! of what is computed for them alone.

use burn::tensor::DType;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};

use super::{INTS, blocks, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("reduction");
    for shape in shapes() {
        of_floats(group, shape);
        INTS.into_iter().for_each(|dtype| of_integers(group, shape, dtype));
        of_bools(group, shape);
    }
    between_axes(group);
    of_rows(group);
    of_views(group);
    of_what_is_computed(group);
}

fn of_floats(group: &mut BenchmarkGroup<'_, WallTime>, shape: [usize; 2]) {
    let of = |what: &str| name(what, DType::F32, shape);
    case!(group, of("sum"), |B| floats::<B>(shape), |x| x.clone().sum());
    case!(group, of("mean"), |B| floats::<B>(shape), |x| x.clone().mean());
    case!(group, of("max"), |B| floats::<B>(shape), |x| x.clone().max());
    case!(group, of("min"), |B| floats::<B>(shape), |x| x.clone().min());
    case!(group, of("prod"), |B| floats::<B>(shape), |x| x.clone().prod());
    for dim in [0, 1] {
        let of = |what: &str| of(&format!("{what} dim {dim}"));
        case!(group, of("sum"), |B| floats::<B>(shape), |x| x.clone().sum_dim(dim));
        case!(group, of("mean"), |B| floats::<B>(shape), |x| x.clone().mean_dim(dim));
        case!(group, of("max"), |B| floats::<B>(shape), |x| x.clone().max_dim(dim));
        case!(group, of("prod"), |B| floats::<B>(shape), |x| x.clone().prod_dim(dim));
        case!(group, of("argmax"), |B| floats::<B>(shape), |x| x.clone().argmax(dim));
        case!(group, of("variance"), |B| floats::<B>(shape), |x| x.clone().var(dim));
    }
}

fn of_integers(group: &mut BenchmarkGroup<'_, WallTime>, shape: [usize; 2], dtype: DType) {
    let of = |what: &str| name(what, dtype, shape);
    case!(group, of("sum"), |B| ints::<B>(shape, dtype), |x| x.clone().sum());
    // burn-ndarray panics where the number of elements does not fit.
    if dtype.size() > 1 {
        case!(group, of("mean"), |B| ints::<B>(shape, dtype), |x| x.clone().mean());
    }
    case!(group, of("max"), |B| ints::<B>(shape, dtype), |x| x.clone().max());
    case!(group, of("prod"), |B| ints::<B>(shape, dtype), |x| x.clone().prod());
    for dim in [0, 1] {
        let of = |what: &str| of(&format!("{what} dim {dim}"));
        case!(group, of("sum"), |B| ints::<B>(shape, dtype), |x| x.clone().sum_dim(dim));
        case!(group, of("max"), |B| ints::<B>(shape, dtype), |x| x.clone().max_dim(dim));
        case!(group, of("prod"), |B| ints::<B>(shape, dtype), |x| x.clone().prod_dim(dim));
        // Positions up to 999 do not fit 8 bits.
        if dtype.size() > 1 {
            case!(group, of("argmax"), |B| ints::<B>(shape, dtype), |x| x.clone().argmax(dim));
        }
    }
}

fn of_bools(group: &mut BenchmarkGroup<'_, WallTime>, shape: [usize; 2]) {
    let of = |what: &str| format!("{what} bool {}", shape[0] * shape[1]);
    // Nothing is found before the end.
    case!(group, of("any"), |B| floats::<B>(shape).greater_elem(100.0), |x| x.clone().any());
    case!(group, of("all"), |B| floats::<B>(shape).lower_elem(100.0), |x| x.clone().all());
    case!(group, of("any dim 0"), |B| bools::<B>(shape), |x| x.clone().any_dim(0));
    case!(group, of("any dim 1"), |B| bools::<B>(shape), |x| x.clone().any_dim(1));
}

fn between_axes(group: &mut BenchmarkGroup<'_, WallTime>) {
    for shape @ [outer, middle, inner] in [[10_000, 2, 2], [10_000, 3, 4], [10_000, 10, 10], [2000, 8, 64]] {
        let of = |what: &str| format!("{what} dim 1 of {outer}x{middle}x{inner}");
        case!(group, of("sum"), |B| blocks::<B, 3>(shape), |x| x.clone().sum_dim(1));
        case!(group, of("max"), |B| blocks::<B, 3>(shape), |x| x.clone().max_dim(1));
        case!(group, of("argmax"), |B| blocks::<B, 3>(shape), |x| x.clone().argmax(1));
    }
}

/// One long row, and many short ones.
fn of_rows(group: &mut BenchmarkGroup<'_, WallTime>) {
    for shape @ [rows, columns] in [[1, 50_000], [1, 1_000_000], [20_000, 50], [50_000, 20]] {
        let of = |what: &str| format!("{what} of {rows} rows of {columns}");
        case!(group, of("sum"), |B| floats::<B>(shape), |x| x.clone().sum_dim(1));
        case!(group, of("max"), |B| floats::<B>(shape), |x| x.clone().max_dim(1));
        case!(group, of("argmax"), |B| floats::<B>(shape), |x| x.clone().argmax(1));
    }
}

fn of_views(group: &mut BenchmarkGroup<'_, WallTime>) {
    for shape @ [rows, columns] in [[1000, 1000], [128, 512]] {
        let whole = [rows + 4, columns + 4];
        for dim in [0, 1] {
            let of = |what: &str| format!("{what} dim {dim} of {rows}x{columns} cut out");
            case!(group, of("sum"), |B| floats::<B>(whole), |x| x
                .clone()
                .slice([2..rows + 2, 2..columns + 2])
                .sum_dim(dim));
            case!(group, of("max"), |B| floats::<B>(whole), |x| x
                .clone()
                .slice([2..rows + 2, 2..columns + 2])
                .max_dim(dim));
        }
        let of = |what: &str| format!("{what} of {rows}x{columns} permuted");
        case!(group, of("sum"), |B| floats::<B>(shape), |x| x.clone().transpose().sum());
        case!(group, of("sum dim 0"), |B| floats::<B>(shape), |x| x.clone().transpose().sum_dim(0));
    }
}

fn of_what_is_computed(group: &mut BenchmarkGroup<'_, WallTime>) {
    for shape @ [rows, columns] in [[250, 400], [1000, 1000], [2048, 2048]] {
        let of = |what: &str| format!("{what} of {rows}x{columns}");
        case!(group, of("sum of squares"), |B| floats::<B>(shape), |x| (x.clone() * x.clone()).sum());
        case!(group, of("mean squared error"), |B| [shape; 2].map(floats::<B>), |[x, y]| {
            (x.clone() - y.clone()).powi_scalar(2).mean()
        });
        case!(group, of("sum dim 0 of products"), |B| [shape; 2].map(floats::<B>), |[x, y]| {
            (x.clone() * y.clone()).sum_dim(0)
        });
    }
}
