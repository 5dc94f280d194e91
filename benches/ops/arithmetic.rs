//! Functions of one and of two operands.

use burn::tensor::{DType, activation};
use criterion::Criterion;

use super::{INTS, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    floats_of_two(criterion);
    floats_of_one(criterion);
    integers(criterion);
    bits(criterion);
}

fn floats_of_two(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("binary");
    let of = |what: &str, shape| name(what, DType::F32, shape);
    for shape @ [rows, columns] in shapes() {
        case!(group, of("add", shape), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone() + b.clone());
        case!(group, of("sub", shape), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone() - b.clone());
        case!(group, of("mul", shape), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone() * b.clone());
        case!(group, of("div", shape), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a.clone() / b.clone());
        case!(group, of("powf", shape), |B| [0; 2].map(|_| floats::<B>(shape).abs()), |[a, b]| a
            .clone()
            .powf(b.clone()));
        case!(group, of("remainder", shape), |B| [0; 2].map(|_| floats::<B>(shape)), |[a, b]| a
            .clone()
            .remainder(b.clone()));
        case!(group, of("add a row", shape), |B| [floats::<B>(shape), floats::<B>([1, columns])], |[a, b]| a.clone()
            + b.clone());
        case!(group, of("mul by a column", shape), |B| [floats::<B>(shape), floats::<B>([rows, 1])], |[a, b]| a
            .clone()
            * b.clone());
        case!(group, of("add a number", shape), |B| floats::<B>(shape), |x| x.clone() + 1.5);
        case!(group, of("mul by a number", shape), |B| floats::<B>(shape), |x| x.clone() * 1.5);
        case!(group, of("cube", shape), |B| floats::<B>(shape), |x| x.clone().powi_scalar(3));
    }
}

fn floats_of_one(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("unary");
    let of = |what: &str, shape| name(what, DType::F32, shape);
    for shape in shapes() {
        case!(group, of("neg", shape), |B| floats::<B>(shape), |x| -x.clone());
        case!(group, of("abs", shape), |B| floats::<B>(shape), |x| x.clone().abs());
        case!(group, of("exp", shape), |B| floats::<B>(shape), |x| x.clone().exp());
        case!(group, of("log", shape), |B| floats::<B>(shape).abs(), |x| x.clone().log());
        case!(group, of("sqrt", shape), |B| floats::<B>(shape).abs(), |x| x.clone().sqrt());
        case!(group, of("recip", shape), |B| floats::<B>(shape), |x| x.clone().recip());
        case!(group, of("sin", shape), |B| floats::<B>(shape), |x| x.clone().sin());
        case!(group, of("cos", shape), |B| floats::<B>(shape), |x| x.clone().cos());
        case!(group, of("tanh", shape), |B| floats::<B>(shape), |x| x.clone().tanh());
        case!(group, of("atan", shape), |B| floats::<B>(shape), |x| x.clone().atan());
        case!(group, of("erf", shape), |B| floats::<B>(shape), |x| x.clone().erf());
        case!(group, of("floor", shape), |B| floats::<B>(shape), |x| x.clone().floor());
        case!(group, of("round", shape), |B| floats::<B>(shape), |x| x.clone().round());
        case!(group, of("sign", shape), |B| floats::<B>(shape), |x| x.clone().sign());
        case!(group, of("clamp", shape), |B| floats::<B>(shape), |x| x.clone().clamp(-0.5, 0.5));
        case!(group, of("relu", shape), |B| floats::<B>(shape), |x| activation::relu(x.clone()));
        case!(group, of("sigmoid", shape), |B| floats::<B>(shape), |x| activation::sigmoid(x.clone()));
        case!(group, of("gelu", shape), |B| floats::<B>(shape), |x| activation::gelu(x.clone()));
    }
}

fn integers(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("integer");
    for (shape, dtype) in shapes().flat_map(|shape| INTS.map(|dtype| (shape, dtype))) {
        let of = |what: &str| name(what, dtype, shape);
        case!(group, of("add"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a.clone() + b.clone());
        case!(group, of("mul"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a.clone() * b.clone());
        case!(group, of("div"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a.clone() / b.clone());
        case!(group, of("remainder"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a
            .clone()
            .remainder(b.clone()));
        case!(group, of("add a number"), |B| ints::<B>(shape, dtype), |x| x.clone() + 3);
        // burn-ndarray multiplies by -1, which u8 does not hold, and panics.
        if dtype != DType::U8 {
            case!(group, of("neg"), |B| ints::<B>(shape, dtype), |x| -x.clone());
        }
        case!(group, of("abs"), |B| ints::<B>(shape, dtype), |x| x.clone().abs());
        case!(group, of("clamp"), |B| ints::<B>(shape, dtype), |x| x.clone().clamp(20, 60));
        // Powers that i8 holds: burn-ndarray panics at others.
        case!(group, of("power"), |B| [0; 2].map(|_| ints::<B>(shape, dtype) / 25), |[a, b]| a.clone().powi(b.clone()));
        case!(group, of("cube"), |B| ints::<B>(shape, dtype) / 25, |x| x.clone().powi_scalar(3));
    }
}

fn bits(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("bits");
    for (shape, dtype) in shapes().flat_map(|shape| INTS.map(|dtype| (shape, dtype))) {
        let of = |what: &str| name(what, dtype, shape);
        case!(group, of("and"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a.clone().bitwise_and(b.clone()));
        case!(group, of("xor"), |B| [0; 2].map(|_| ints::<B>(shape, dtype)), |[a, b]| a.clone().bitwise_xor(b.clone()));
        case!(group, of("not"), |B| ints::<B>(shape, dtype), |x| x.clone().bitwise_not());
        // Results that i8 holds: burn-ndarray panics at others.
        case!(group, of("shift left"), |B| ints::<B>(shape, dtype) / 4, |x| x.clone().bitwise_left_shift_scalar(2));
        case!(group, of("shift right"), |B| ints::<B>(shape, dtype), |x| x.clone().bitwise_right_shift_scalar(2));
    }
    for shape in shapes() {
        let of = |what: &str| format!("{what} bool {}", shape[0] * shape[1]);
        case!(group, of("and"), |B| [0; 2].map(|_| bools::<B>(shape)), |[a, b]| a.clone().bool_and(b.clone()));
        case!(group, of("not"), |B| bools::<B>(shape), |x| x.clone().bool_not());
    }
}
