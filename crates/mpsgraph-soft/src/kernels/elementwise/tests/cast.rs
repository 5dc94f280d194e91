//! Every pair of dtypes, by value.

use super::*;

fn all() -> impl Iterator<Item = DType> {
    FLOATS.into_iter().chain(INTS).chain([DType::Bool])
}

#[test]
fn from_floats() {
    for from in FLOATS {
        let values = float_values(from);
        let x = Data::floats(from, &values);
        for to in all() {
            let got = run(&[&x], to, |b, r| b.cast(from, to, r[0]));
            for (i, &value) in values.iter().enumerate() {
                let what = format!("{value:e} {from:?} -> {to:?}");
                if to.is_float() {
                    assert_same(got.float(i), Data::floats(to, &[value]).float(0), &what);
                } else if to == DType::Bool {
                    assert_eq!(got.int(i), (value != 0.0) as i128, "{what}");
                } else {
                    let (min, max) = range(to);
                    assert_eq!(got.int(i), (value as i128).clamp(min, max), "{what}");
                }
            }
        }
    }
}

#[test]
fn from_small_floats() {
    // Blocks without a number that needs the slow way, whole and short.
    let values: Vec<f32> = (0..200).map(|at| (at - 100) as f32 * 12_345.67).chain([0.5, -0.5, -0.0, 2e15]).collect();
    let x = Data::floats(DType::F32, &values);
    let got = run(&[&x], DType::I64, |b, r| b.cast(DType::F32, DType::I64, r[0]));
    for (i, &value) in values.iter().enumerate() {
        assert_eq!(got.int(i), value as i128, "{value}");
    }
}

#[test]
fn from_floats_around_the_limits() {
    let limits = [0.0, 1.0, 128.0, 256.0, 32_768.0, 65_536.0, 2_147_483_648.0, 4_294_967_296.0, 1e15, f32::INFINITY];
    let around = |x: f32| [x.next_down(), x, x.next_up(), x - 0.5, x + 0.5, x - 1.0];
    let numbers = limits.into_iter().flat_map(around).flat_map(|x| [x, -x]).chain([f32::NAN, -f32::NAN, -0.0]);
    // Every number at every place of a vector.
    let numbers: Vec<f32> = numbers.collect();
    let values: Vec<f32> = (0..40).flat_map(|_| numbers.iter().copied()).chain([0.25]).collect();
    let x = Data::floats(DType::F32, &values);
    for to in INTS {
        let (min, max) = range(to);
        let got = run(&[&x], to, |b, r| b.cast(DType::F32, to, r[0]));
        for (i, &value) in values.iter().enumerate() {
            assert_eq!(got.int(i), (value as i128).clamp(min, max), "{value:e} -> {to:?}");
        }
    }
}

#[test]
fn from_integers() {
    for from in INTS.into_iter().chain([DType::Bool]) {
        let values = if from == DType::Bool { vec![0, 1] } else { int_values(from) };
        let x = Data::ints(from, &values);
        for to in all() {
            let got = run(&[&x], to, |b, r| b.cast(from, to, r[0]));
            for (i, &value) in values.iter().enumerate() {
                let what = format!("{value} {from:?} -> {to:?}");
                if to.is_float() {
                    assert_same(got.float(i), Data::floats(to, &[value as f32]).float(0), &what);
                } else if to == DType::Bool {
                    assert_eq!(got.int(i), (value != 0) as i128, "{what}");
                } else {
                    assert_eq!(got.int(i), wrap(to, value), "{what}");
                }
            }
        }
    }
}

#[test]
fn sixteen_bit_chains_round_after_each_operation() {
    // 2048 + 1 is a tie in f16: rounding in between gives 2048 twice, f32 would give 2050.
    let x = Data::floats(DType::F16, &[2048.0]);
    let one = Data::floats(DType::F16, &[1.0]);
    let got = run(&[&x, &one], DType::F16, |b, r| {
        let once = b.binary(BinaryOp::Add, DType::F16, r[0], r[1]);
        b.binary(BinaryOp::Add, DType::F16, once, r[1])
    });
    assert_eq!(got.float(0), 2048.0);
}
