//! Slices, joins and other orders of axes.

use std::cell::Cell;

use burn::tensor::{DType, Tensor, s};
use criterion::Criterion;

use super::{Group, INTS, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("movement");
    for shape @ [rows, columns] in shapes() {
        let of = |what: &str| name(what, DType::F32, shape);
        let (top, left) = (s![0..rows / 2, ..], s![.., 0..columns / 2]);
        case!(group, of("slice rows, neg"), |B| floats::<B>(shape), |x| -x.clone().slice(top));
        case!(group, of("slice columns, neg"), |B| floats::<B>(shape), |x| -x.clone().slice(left));
        case!(group, of("slice with steps, neg"), |B| floats::<B>(shape), |x| -x.clone().slice(s![..;2, ..;2]));
        case!(group, of("slice fill"), |B| floats::<B>(shape), |x| x.clone().slice_fill(left, 1.5));
        case!(group, of("slice assign"), |B| [floats::<B>(shape), floats::<B>([rows, columns / 2])], |[x, y]| {
            x.clone().slice_assign(left, y.clone())
        });
        let at = Cell::new(0);
        let moved = || at.replace((at.get() + 7) % (columns / 2));
        case!(group, of("slice assign that moves"), |B| [shape, [rows, columns / 2]].map(floats::<B>), |[x, y]| {
            let first = moved();
            x.clone().slice_assign(s![.., first..first + columns / 2], y.clone())
        });
        case!(group, of("transpose, add"), |B| [floats::<B>(shape), floats::<B>([columns, rows])], |[x, y]| {
            x.clone().transpose() + y.clone()
        });
        case!(group, of("flip, add"), |B| [0; 2].map(|_| floats::<B>(shape)), |[x, y]| x.clone().flip([1]) + y.clone());
        case!(group, of("expand a row, neg"), |B| floats::<B>([1, columns]), |x| -x.clone().expand(shape));
        case!(group, of("repeat"), |B| floats::<B>([rows, columns / 2]), |x| x.clone().repeat_dim(1, 2));
        case!(group, of("permute, add"), |B| [0; 2].map(|_| floats::<B>(shape)), |[x, y]| {
            let turned = x.clone().reshape([rows / 10, 10, columns]).permute([1, 0, 2]);
            turned + y.clone().reshape([10, rows / 10, columns])
        });
        cat(group, shape);
        for dtype in INTS {
            let of = |what: &str| name(what, dtype, shape);
            case!(group, of("slice columns, not"), |B| ints::<B>(shape, dtype), |x| x
                .clone()
                .slice(left)
                .bitwise_not());
            case!(group, of("slice fill"), |B| ints::<B>(shape, dtype), |x| x.clone().slice_fill(left, 3));
            case!(
                group,
                of("slice assign"),
                |B| [shape, [rows, columns / 2]].map(|s| ints::<B>(s, dtype)),
                |[x, y]| { x.clone().slice_assign(left, y.clone()) }
            );
            case!(group, of("transpose, add"), |B| [shape, [columns, rows]].map(|s| ints::<B>(s, dtype)), |[x, y]| {
                x.clone().transpose() + y.clone()
            });
            case!(group, of("flip, add"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[x, y]| {
                x.clone().flip([1]) + y.clone()
            });
        }
        let of = |what: &str| format!("{what} bool {}", rows * columns);
        case!(group, of("transpose, and"), |B| [bools::<B>(shape), bools::<B>([columns, rows])], |[x, y]| {
            x.clone().transpose().bool_and(y.clone())
        });
        case!(group, of("slice fill"), |B| bools::<B>(shape), |x| x.clone().slice_fill(left, true));
    }
}

fn cat(group: &mut Group<'_>, shape: [usize; 2]) {
    for dim in [0, 1] {
        let of = |dtype| name(&format!("cat dim {dim}"), dtype, shape);
        let mut part = shape;
        part[dim] /= 2;
        case!(group, of(DType::F32), |B| [0; 2].map(|_| floats::<B>(part)), |[a, b]| {
            Tensor::cat(vec![a.clone(), b.clone()], dim)
        });
        for dtype in INTS {
            case!(group, of(dtype), |B| [0; 2].map(|_| ints::<B>(part, dtype)), |[a, b]| {
                Tensor::cat(vec![a.clone(), b.clone()], dim)
            });
        }
    }
}
