//! Comparisons, tests and choices.

use burn::tensor::DType;
use criterion::Criterion;

use super::{INTS, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("comparison");
    for shape @ [rows, columns] in shapes() {
        let of = |what: &str| name(what, DType::F32, shape);
        case!(group, of("equal"), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone().equal(b.clone()));
        case!(group, of("lower"), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone().lower(b.clone()));
        case!(group, of("greater than a number"), |B| floats::<B>(shape), |x| x.clone().greater_elem(0.5));
        case!(group, of("lower than a row"), |B| [floats::<B>(shape), floats::<B>([1, columns])], |[a, b]| {
            a.clone().lower(b.clone())
        });
        case!(group, of("lower than a column"), |B| [floats::<B>(shape), floats::<B>([rows, 1])], |[a, b]| {
            a.clone().lower(b.clone())
        });
        case!(group, of("is nan"), |B| floats::<B>(shape), |x| x.clone().is_nan());
        case!(group, of("mask where"), |B| (bools::<B>(shape), [0; 2].map(|_| floats::<B>(shape))), |(m, [a, b])| {
            a.clone().mask_where(m.clone(), b.clone())
        });
        case!(group, of("mask fill"), |B| (bools::<B>(shape), floats::<B>(shape)), |(m, x)| {
            x.clone().mask_fill(m.clone(), 1.5)
        });
        case!(group, of("larger of two"), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| {
            a.clone().max_pair(b.clone())
        });
        for dtype in INTS {
            let of = |what: &str| name(what, dtype, shape);
            case!(group, of("equal"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| {
                a.clone().equal(b.clone())
            });
            case!(group, of("lower"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| {
                a.clone().lower(b.clone())
            });
            case!(group, of("greater than a number"), |B| ints::<B>(shape, dtype), |x| x.clone().greater_elem(50));
            case!(group, of("lower than a row"), |B| [shape, [1, columns]].map(|s| ints::<B>(s, dtype)), |[a, b]| {
                a.clone().lower(b.clone())
            });
            case!(
                group,
                of("mask where"),
                |B| (bools::<B>(shape), [0; 2].map(|_| ints::<B>(shape, dtype))),
                |(m, [a, b])| { a.clone().mask_where(m.clone(), b.clone()) }
            );
            case!(group, of("mask fill"), |B| (bools::<B>(shape), ints::<B>(shape, dtype)), |(m, x)| {
                x.clone().mask_fill(m.clone(), 3)
            });
        }
    }
}
