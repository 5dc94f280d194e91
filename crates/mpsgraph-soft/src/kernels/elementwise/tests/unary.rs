//! Functions of one argument.

use super::*;

/// The exact value; `None` for what floats do not have.
fn float_reference(op: UnaryOp, x: f64) -> Option<f64> {
    let truth = |b: bool| b as u8 as f64;
    Some(match op {
        UnaryOp::Identity => x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Neg => -x,
        UnaryOp::Exp => x.exp(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Square => flushed_exact(x * x),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Recip => flushed_exact(1.0 / x),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Asinh => x.asinh(),
        UnaryOp::Acosh => x.acosh(),
        UnaryOp::Atanh => x.atanh(),
        UnaryOp::Erf => erf(x),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Rint => x.round_ties_even(),
        UnaryOp::Round => x.round(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::Sign => truth(x > 0.0) - truth(x < 0.0),
        UnaryOp::Signbit => truth(x.is_sign_negative()),
        UnaryOp::Relu if x.is_nan() => x,
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        UnaryOp::Not => truth(x == 0.0),
        UnaryOp::BitNot => return None,
        UnaryOp::IsNan => truth(x.is_nan()),
        UnaryOp::IsInf => truth(x.is_infinite()),
        UnaryOp::IsFinite => truth(x.is_finite()),
    })
}

/// By the series for small arguments and the continued fraction of erfc for large ones.
fn erf(x: f64) -> f64 {
    let t = x.abs();
    let value = if t.is_nan() || t > 6.0 {
        if t.is_nan() { t } else { 1.0 }
    } else if t < 2.5 {
        let (mut term, mut sum) = (t, t);
        for n in 1..100 {
            term *= -t * t / n as f64;
            sum += term / (2 * n + 1) as f64;
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..200).rev().fold(t, |below, n| t + n as f64 / 2.0 / below);
        1.0 - (-t * t).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

/// The exact value; `None` for what is computed in f32.
fn int_reference(op: UnaryOp, x: i128) -> Option<i128> {
    Some(match op {
        UnaryOp::Identity | UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::Rint | UnaryOp::Round | UnaryOp::Trunc => x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Neg => -x,
        UnaryOp::Square => x.wrapping_mul(x),
        UnaryOp::Sign => x.signum(),
        UnaryOp::Signbit => (x < 0) as i128,
        UnaryOp::Relu => x.max(0),
        UnaryOp::Not => (x == 0) as i128,
        UnaryOp::BitNot => !x,
        UnaryOp::IsNan | UnaryOp::IsInf => 0,
        UnaryOp::IsFinite => 1,
        UnaryOp::Exp
        | UnaryOp::Log
        | UnaryOp::Sqrt
        | UnaryOp::Recip
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Asin
        | UnaryOp::Acos
        | UnaryOp::Atan
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Tanh
        | UnaryOp::Asinh
        | UnaryOp::Acosh
        | UnaryOp::Atanh
        | UnaryOp::Erf
        | UnaryOp::Sigmoid => return None,
    })
}

#[test]
fn floats() {
    for dtype in FLOATS {
        let values = float_values(dtype);
        let x = Data::floats(dtype, &values);
        for &op in UnaryOp::ALL {
            if float_reference(op, 0.0).is_none() {
                continue;
            }
            let result = if op.is_test() { DType::Bool } else { dtype };
            let got = run(&[&x], result, |b, r| b.unary(op, dtype, r[0]));
            for (i, &value) in values.iter().enumerate() {
                let want = float_reference(op, value as f64).expect("every value has a reference");
                let what = format!("{op:?}({value:e}) {dtype:?}");
                if op.is_test() {
                    assert_eq!(got.int(i) as f64, want, "{what}");
                } else {
                    assert_close(dtype, got.float(i), want, &what);
                }
            }
        }
    }
}

/// Dense arguments for the functions that are computed here and not by the system.
#[test]
fn accuracy_in_units_in_the_last_place() {
    let ops = [
        (UnaryOp::Exp, -104.0, 89.0),
        (UnaryOp::Log, 1e-3, 50.0),
        (UnaryOp::Log, 1e-44, 1e-37),
        (UnaryOp::Sin, -100.0, 100.0),
        (UnaryOp::Cos, 1.0e6, 3.0e6),
        (UnaryOp::Tan, -20.0, 20.0),
        (UnaryOp::Sinh, -10.0, 10.0),
        (UnaryOp::Cosh, -10.0, 10.0),
        (UnaryOp::Tanh, -10.0, 10.0),
        (UnaryOp::Tanh, -1e-3, 1e-3),
        (UnaryOp::Sigmoid, -104.0, 30.0),
        (UnaryOp::Erf, -4.5, 4.5),
        (UnaryOp::Erf, -1e-3, 1e-3),
        (UnaryOp::Asin, -1.0, 1.0),
        (UnaryOp::Asin, -1e-3, 1e-3),
        (UnaryOp::Acos, -1.0, 1.0),
        (UnaryOp::Acos, 0.999, 1.0),
        (UnaryOp::Atan, -10.0, 10.0),
        (UnaryOp::Atan, -1e-3, 1e-3),
        (UnaryOp::Atan, 1e3, 1e9),
        (UnaryOp::Asinh, -20.0, 20.0),
        (UnaryOp::Asinh, -1e-3, 1e-3),
        (UnaryOp::Asinh, 1e10, 3e38),
        (UnaryOp::Acosh, 1.0, 20.0),
        (UnaryOp::Acosh, 1.0, 1.001),
        (UnaryOp::Acosh, 1e10, 3e38),
        (UnaryOp::Atanh, -1.0, 1.0),
        (UnaryOp::Atanh, -1e-3, 1e-3),
    ];
    for (op, from, to) in ops {
        let n = 20_000;
        let values: Vec<f32> = (0..n).map(|i| from + (to - from) * i as f32 / n as f32).collect();
        let got = run(&[&Data::floats(DType::F32, &values)], DType::F32, |b, r| b.unary(op, DType::F32, r[0]));
        for (i, &x) in values.iter().enumerate() {
            let exact = float_reference(op, x as f64).expect("every value has a reference");
            let unit = (exact as f32).abs().next_up() as f64 - (exact as f32).abs() as f64;
            let off = (got.float(i) as f64 - exact).abs() / unit;
            assert!(off <= 1.0 || got.float(i) == exact as f32, "{op:?}({x:e}): {off} units off");
        }
    }
}

#[test]
fn signs_of_zero_and_values_that_stay() {
    let x = Data::floats(DType::F32, &[-0.0]);
    for op in [
        UnaryOp::Sin,
        UnaryOp::Tan,
        UnaryOp::Asin,
        UnaryOp::Sinh,
        UnaryOp::Asinh,
        UnaryOp::Atanh,
        UnaryOp::Erf,
        UnaryOp::Sqrt,
        UnaryOp::Rint,
    ] {
        let y = run(&[&x], DType::F32, |b, r| b.unary(op, DType::F32, r[0])).float(0);
        assert!(y == 0.0 && y.is_sign_negative(), "{op:?}");
    }
    for op in [UnaryOp::Tanh, UnaryOp::Atan] {
        let y = run(&[&x], DType::F32, |b, r| b.unary(op, DType::F32, r[0])).float(0);
        assert!(y == 0.0 && y.is_sign_positive(), "{op:?}");
    }
}

#[test]
fn neighbours_of_huge_angles() {
    let mut values: Vec<f32> = (0..200).map(|i| i as f32).collect();
    values[70] = 1e30;
    values[71] = f32::INFINITY;
    let got = run(&[&Data::floats(DType::F32, &values)], DType::F32, |b, r| b.unary(UnaryOp::Sin, DType::F32, r[0]));
    let alone = |x: f32| {
        let x = Data::floats(DType::F32, &[x]);
        run(&[&x], DType::F32, |b, r| b.unary(UnaryOp::Sin, DType::F32, r[0])).float(0)
    };
    for (i, &x) in values.iter().enumerate() {
        assert_same(got.float(i), alone(x), &format!("sin {x}"));
        assert_close(DType::F32, got.float(i), (x as f64).sin(), &format!("sin {x}"));
    }
}

#[test]
fn integers() {
    for dtype in INTS {
        let values = int_values(dtype);
        let x = Data::ints(dtype, &values);
        for &op in UnaryOp::ALL {
            let result = if op.is_test() { DType::Bool } else { dtype };
            let got = run(&[&x], result, |b, r| b.unary(op, dtype, r[0]));
            for (i, &value) in values.iter().enumerate() {
                let what = format!("{op:?}({value}) {dtype:?}");
                match int_reference(op, value) {
                    Some(want) => assert_eq!(got.int(i), wrap(result, want), "{what}"),
                    None => {
                        let (min, max) = range(dtype);
                        let exact = float_reference(op, value as f32 as f64).expect("a float function") as f32;
                        // A result just below an integer may be computed as that integer.
                        let want = [exact.next_down(), exact, exact.next_up()].map(|y| (y as i128).clamp(min, max));
                        assert!(want.contains(&got.int(i)), "{what}: {} instead of {want:?}", got.int(i));
                    }
                }
            }
        }
    }
}

#[test]
fn bool_stays_zero_or_one() {
    let x = Data::ints(DType::Bool, &[0, 1, 1, 0]);
    for (op, want) in [
        (UnaryOp::Identity, [0, 1]),
        (UnaryOp::Not, [1, 0]),
        (UnaryOp::BitNot, [1, 0]),
        (UnaryOp::Neg, [0, 1]),
        (UnaryOp::Exp, [1, 1]),
        (UnaryOp::Abs, [0, 1]),
    ] {
        let got = run(&[&x], DType::Bool, |b, r| b.unary(op, DType::Bool, r[0]));
        assert_eq!((got.int(0), got.int(1)), (want[0], want[1]), "{op:?}");
    }
}
