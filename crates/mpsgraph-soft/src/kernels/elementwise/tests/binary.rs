//! Functions of two and three arguments, on all pairs of the special values.

use super::*;

fn compare(op: BinaryOp, a: f64, b: f64) -> Option<bool> {
    Some(match op {
        BinaryOp::Equal => a == b,
        BinaryOp::NotEqual => a != b,
        BinaryOp::Less => a < b,
        BinaryOp::LessEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterEqual => a >= b,
        BinaryOp::And => a != 0.0 && b != 0.0,
        BinaryOp::Or => a != 0.0 || b != 0.0,
        BinaryOp::Xor => (a != 0.0) != (b != 0.0),
        BinaryOp::Xnor => (a != 0.0) == (b != 0.0),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::FloorMod
        | BinaryOp::Pow
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::MinNan
        | BinaryOp::MaxNan
        | BinaryOp::Atan2
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::ReluGrad => return None,
    })
}

/// The exact value; `None` for what floats do not have.
fn float_reference(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    if let Some(truth) = compare(op, a, b) {
        return Some(truth as u8 as f64);
    }
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => flushed_exact(a * b),
        BinaryOp::Div => flushed_exact(a / b),
        BinaryOp::Mod => a % b,
        BinaryOp::FloorMod if a % b != 0.0 && (a % b < 0.0) != (b < 0.0) => a % b + b,
        BinaryOp::FloorMod => a % b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::MinNan | BinaryOp::MaxNan if a.is_nan() || b.is_nan() => f64::NAN,
        BinaryOp::MinNan => a.min(b),
        BinaryOp::MaxNan => a.max(b),
        BinaryOp::Atan2 => a.atan2(b),
        BinaryOp::ReluGrad => {
            if b > 0.0 {
                a
            } else {
                0.0
            }
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => return None,
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Xnor => unreachable!("{op:?} is compared above"),
    })
}

fn int_reference(op: BinaryOp, dtype: DType, a: i128, b: i128) -> Option<i128> {
    let width = 8 * dtype.size() as i128;
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => a.checked_div(b).unwrap_or(0),
        BinaryOp::Mod => a.checked_rem(b).unwrap_or(0),
        BinaryOp::FloorMod if b == 0 => 0,
        BinaryOp::FloorMod => ((a % b) + b) % b,
        BinaryOp::Pow => power(dtype, a, b),
        BinaryOp::Min | BinaryOp::MinNan => a.min(b),
        BinaryOp::Max | BinaryOp::MaxNan => a.max(b),
        BinaryOp::Less => (a < b) as i128,
        BinaryOp::LessEqual => (a <= b) as i128,
        BinaryOp::Greater => (a > b) as i128,
        BinaryOp::GreaterEqual => (a >= b) as i128,
        BinaryOp::Equal => (a == b) as i128,
        BinaryOp::NotEqual => (a != b) as i128,
        BinaryOp::And => (a != 0 && b != 0) as i128,
        BinaryOp::Or => (a != 0 || b != 0) as i128,
        BinaryOp::Xor => ((a != 0) != (b != 0)) as i128,
        BinaryOp::Xnor => ((a != 0) == (b != 0)) as i128,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl => a << b.rem_euclid(width),
        BinaryOp::Shr => a >> b.rem_euclid(width),
        BinaryOp::ReluGrad => {
            if b > 0 {
                a
            } else {
                0
            }
        }
        BinaryOp::Atan2 => return None,
    })
}

/// By repeated multiplication, except where the exponent makes that endless.
fn power(dtype: DType, base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => {
                if exponent % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            _ => 0,
        };
    }
    let (mut value, mut square, mut left) = (1, base, exponent);
    while left > 0 {
        value = if left & 1 == 1 { wrap(dtype, i128::wrapping_mul(value, square)) } else { value };
        square = wrap(dtype, square.wrapping_mul(square));
        left >>= 1;
    }
    value
}

fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).unzip()
}

#[test]
fn floats() {
    for dtype in FLOATS {
        let (left, right) = pairs(&float_values(dtype));
        let (a, b) = (Data::floats(dtype, &left), Data::floats(dtype, &right));
        for &op in BinaryOp::ALL {
            if float_reference(op, 0.0, 0.0).is_none() {
                continue;
            }
            let result = if op.is_comparison() { DType::Bool } else { dtype };
            let got = run(&[&a, &b], result, |builder, r| builder.binary(op, dtype, r[0], r[1]));
            for (i, (&x, &y)) in left.iter().zip(&right).enumerate() {
                let want = float_reference(op, x as f64, y as f64).expect("every pair has a reference");
                let what = format!("{op:?}({x:e}, {y:e}) {dtype:?}");
                if op.is_comparison() {
                    assert_eq!(got.int(i) as f64, want, "{what}");
                } else if op == BinaryOp::Mod || op == BinaryOp::FloorMod {
                    // f64 is not exact enough here for quotients beyond its own precision; f32 is by definition.
                    let r = x % y;
                    let shift = op == BinaryOp::FloorMod && r != 0.0 && (r < 0.0) != (y < 0.0);
                    assert_close(dtype, got.float(i), (if shift { r + y } else { r }) as f64, &what);
                } else {
                    assert_close(dtype, got.float(i), want, &what);
                }
            }
        }
    }
}

#[test]
fn remainders_of_ordinary_numbers() {
    // Blocks without a number that needs the slow way; some quotients are within rounding of an integer.
    let count = 3000;
    let number = |at: usize| ((at * 2_654_435_761) % 1_000_003) as f32 / 977.0 - 500.0;
    let b: Vec<f32> = (0..count).map(|at| if at % 3 == 0 { 0.1 } else { number(at + 7) + 0.01 }).collect();
    let a: Vec<f32> = (0..count).map(|at| if at % 3 == 2 { b[at] * (at as f32) } else { number(at) }).collect();
    let [x, y] = [&a, &b].map(|values| Data::floats(DType::F32, values));
    for op in [BinaryOp::Mod, BinaryOp::FloorMod] {
        let got = run(&[&x, &y], DType::F32, |builder, r| builder.binary(op, DType::F32, r[0], r[1]));
        for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
            let r = a % b;
            let floored = if r == 0.0 {
                r.copysign(b)
            } else if (r < 0.0) != (b < 0.0) {
                r + b
            } else {
                r
            };
            let want = if op == BinaryOp::Mod { r } else { floored };
            assert_eq!(got.float(i).to_bits(), want.to_bits(), "{op:?}({a:e}, {b:e})");
        }
    }
}

#[test]
fn quotients_of_wide_integers() {
    // Quotients next to integers, which floats round most.
    for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32] {
        let (least, largest) = range(dtype);
        let divisors = [1, 2, 3, 7, 10, 100, largest / 3, largest / 2 + 1, largest - 1, largest];
        let signed: Vec<i128> = divisors.into_iter().chain(divisors.map(|b| -b)).filter(|&b| b >= least).collect();
        let near = |b: i128| [0, 1, 2, 3, largest / b, largest / b - 1].map(|q| [q * b - 1, q * b, q * b + 1]);
        let all = signed.iter().flat_map(|&b| near(b).into_iter().flatten().map(move |a| (a, b)));
        let (a, b): (Vec<i128>, Vec<i128>) = all.filter(|(a, _)| (least..=largest).contains(a)).unzip();
        let [x, y] = [&a, &b].map(|values| Data::ints(dtype, values));
        for op in [BinaryOp::Div, BinaryOp::Mod, BinaryOp::FloorMod] {
            let got = run(&[&x, &y], dtype, |builder, r| builder.binary(op, dtype, r[0], r[1]));
            for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
                let want = int_reference(op, dtype, a, b).expect("integers have it");
                assert_eq!(got.int(i), wrap(dtype, want), "{op:?}({a}, {b}) {dtype:?}");
            }
        }
    }
}

#[test]
fn integers() {
    for dtype in INTS {
        let (left, right) = pairs(&int_values(dtype));
        let (a, b) = (Data::ints(dtype, &left), Data::ints(dtype, &right));
        for &op in BinaryOp::ALL {
            let result = if op.is_comparison() { DType::Bool } else { dtype };
            let got = run(&[&a, &b], result, |builder, r| builder.binary(op, dtype, r[0], r[1]));
            for (i, (&x, &y)) in left.iter().zip(&right).enumerate() {
                let what = format!("{op:?}({x}, {y}) {dtype:?}");
                if let Some(want) = int_reference(op, dtype, x, y) {
                    assert_eq!(got.int(i), wrap(result, want), "{what}");
                } else {
                    let exact = float_reference(op, x as f32 as f64, y as f32 as f64).expect("a float function") as f32;
                    let (min, max) = range(dtype);
                    let want = [exact.next_down(), exact, exact.next_up()].map(|y| (y as i128).clamp(min, max));
                    assert!(want.contains(&got.int(i)), "{what}: {}", got.int(i));
                }
            }
        }
    }
}

#[test]
fn bool_arithmetic_stays_zero_or_one() {
    let (a, b) = (Data::ints(DType::Bool, &[0, 0, 1, 1]), Data::ints(DType::Bool, &[0, 1, 0, 1]));
    for (op, want) in [
        (BinaryOp::Add, [0, 1, 1, 1]),
        (BinaryOp::Mul, [0, 0, 0, 1]),
        (BinaryOp::Xor, [0, 1, 1, 0]),
        (BinaryOp::Equal, [1, 0, 0, 1]),
        (BinaryOp::Less, [0, 1, 0, 0]),
        (BinaryOp::Max, [0, 1, 1, 1]),
    ] {
        let got = run(&[&a, &b], DType::Bool, |builder, r| builder.binary(op, DType::Bool, r[0], r[1]));
        assert_eq!((0..4).map(|i| got.int(i)).collect::<Vec<_>>(), want, "{op:?}");
    }
}

#[test]
fn select_moves_bits() {
    for dtype in INTS.into_iter().chain([DType::Bool]) {
        let p = Data::ints(DType::Bool, &[1, 0, 1]);
        let (a, b) = (Data::ints(dtype, &[1, 1, 0]), Data::ints(dtype, &[0, 0, 1]));
        let got = run(&[&p, &a, &b], dtype, |builder, r| builder.select(dtype, r[0], r[1], r[2]));
        assert_eq!((0..3).map(|i| got.int(i)).collect::<Vec<_>>(), [1, 0, 0], "{dtype:?}");
    }
    for dtype in FLOATS {
        let p = Data::ints(DType::Bool, &[1, 0]);
        let (a, b) = (Data::floats(dtype, &[f32::NAN, 1.0]), Data::floats(dtype, &[2.0, -0.0]));
        let got = run(&[&p, &a, &b], dtype, |builder, r| builder.select(dtype, r[0], r[1], r[2]));
        assert!(got.float(0).is_nan() && got.float(1).is_sign_negative() && got.float(1) == 0.0);
    }
}

#[test]
fn clamp_ignores_nan_as_fmin_and_fmax_do() {
    let x = Data::floats(DType::F32, &[-5.0, 0.5, 5.0, f32::NAN, 7.0]);
    let low = Data::floats(DType::F32, &[-1.0, -1.0, -1.0, -1.0, f32::NAN]);
    let high = Data::floats(DType::F32, &[1.0, 1.0, 1.0, 1.0, f32::NAN]);
    let got = run(&[&x, &low, &high], DType::F32, |b, r| b.clamp(DType::F32, r[0], r[1], r[2]));
    assert_eq!((0..5).map(|i| got.float(i)).collect::<Vec<_>>(), [-1.0, 0.5, 1.0, -1.0, 7.0]);
}

#[test]
fn quotients_of_integers_of_64_bits_that_f64_holds() {
    for dtype in [DType::I64, DType::U64] {
        let signed = dtype == DType::I64;
        let pairs = (0..40_000u64).map(|at| {
            let scale = |bits: u64| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as i128;
            let (a, b) = (scale(1 + at % 50), scale(1 + at / 50 % 50) >> 3);
            // Products and their neighbours are where a rounded quotient would be wrong.
            let a = if at % 3 == 0 || b == 0 { a } else { a / b * b + (at % 3) as i128 - 2 };
            if signed { (if at % 5 == 0 { -a } else { a }, if at % 7 == 0 { -b } else { b }) } else { (a.max(0), b) }
        });
        let (a, b): (Vec<i128>, Vec<i128>) = pairs.unzip();
        let operands = [&Data::ints(dtype, &a), &Data::ints(dtype, &b)];
        let got = run(&operands, dtype, |builder, r| builder.binary(BinaryOp::Div, dtype, r[0], r[1]));
        for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
            assert_eq!(got.int(i), a.checked_div(b).unwrap_or(0), "{a} / {b} of {dtype:?}");
        }
    }
}
