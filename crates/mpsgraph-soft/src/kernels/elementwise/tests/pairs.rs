//! Two instructions that become one loop compute what they would apart.

use super::*;

/// Moved up and down, made a float and multiplied.
fn small_float(builder: &mut LoopBuilder, [x, up, down, scale]: [Register; 4]) -> [Register; 4] {
    let high = builder.binary(BinaryOp::Shl, DType::I32, x, up);
    let low = builder.binary(BinaryOp::Shr, DType::I32, high, down);
    let float = builder.cast(DType::I32, DType::F32, low);
    [high, low, float, builder.binary(BinaryOp::Mul, DType::F32, float, scale)]
}

#[test]
fn a_small_integer_times_a_scale() {
    let values = int_values(DType::I32);
    let all = |value: i128| Data::ints(DType::I32, &vec![value; values.len()]);
    for up in [0, 4, 28] {
        let scale = Data::floats(DType::F32, &vec![0.3; values.len()]);
        let operands = [&Data::ints(DType::I32, &values), &all(up), &all(28), &scale];
        let got = run(&operands, DType::F32, |b, r| small_float(b, [r[0], r[1], r[2], r[3]])[3]);
        for (i, &value) in values.iter().enumerate() {
            let expected = ((value as i32) << up >> 28) as f32 * 0.3;
            assert_same(got.float(i), expected, &format!("{value} moved by {up}"));
        }
    }
}

#[test]
fn an_integer_of_any_type_times_a_float_on_either_side() {
    for from in INTS {
        let values = int_values(from);
        let operands = [&Data::ints(from, &values), &Data::floats(DType::F32, &vec![-1.7; values.len()])];
        for is_left in [true, false] {
            let got = run(&operands, DType::F32, |b, r| {
                let float = b.cast(from, DType::F32, r[0]);
                let [x, y] = if is_left { [float, r[1]] } else { [r[1], float] };
                b.binary(BinaryOp::Mul, DType::F32, x, y)
            });
            for (i, &value) in values.iter().enumerate() {
                assert_same(got.float(i), value as f32 * -1.7, &format!("{value} of {from:?}"));
            }
        }
    }
}

#[test]
fn something_else_beyond_a_bound() {
    let values = float_values(DType::F32);
    for bound in [0.0, 1.5, -0.0, f32::INFINITY, f32::NAN] {
        let all = |value: f32| Data::floats(DType::F32, &vec![value; values.len()]);
        let operands = [&Data::floats(DType::F32, &values), &all(bound), &all(7.0)];
        for op in [BinaryOp::Less, BinaryOp::Greater] {
            let got = run(&operands, DType::F32, |b, r| {
                let is_beyond = b.binary(op, DType::F32, r[0], r[1]);
                b.select(DType::F32, is_beyond, r[2], r[0])
            });
            for (i, &value) in values.iter().enumerate() {
                let is_beyond = if op == BinaryOp::Less { value < bound } else { value > bound };
                assert_same(got.float(i), if is_beyond { 7.0 } else { value }, &format!("{value} {op:?} {bound}"));
            }
        }
    }
    let count = |keeps_tested: bool| {
        let mut builder = LoopBuilder::new(4);
        let load = |at| builder.load(at, DType::F32, Geometry::new(0, &[4], &[1]));
        let [x, bound, other] = [0, 1, 2].map(load);
        let is_beyond = builder.binary(BinaryOp::Less, DType::F32, x, bound);
        let [chosen, kept] = if keeps_tested { [other, x] } else { [x, other] };
        let value = builder.select(DType::F32, is_beyond, chosen, kept);
        builder.store(DType::F32, value);
        builder.finish().instructions()
    };
    assert_eq!((count(true), count(false)), (1, 2));
}

#[test]
fn what_something_else_reads_is_made() {
    let count = |outputs: &[usize], squared: bool| {
        let mut builder = LoopBuilder::new(4);
        let load = |builder: &mut LoopBuilder, at, dtype| builder.load(at, dtype, Geometry::new(0, &[4], &[1]));
        let [x, up, down] = [0, 1, 2].map(|at| load(&mut builder, at, DType::I32));
        let scale = load(&mut builder, 3, DType::F32);
        let values = small_float(&mut builder, [x, up, down, scale]);
        let last = if squared { builder.binary(BinaryOp::Mul, DType::F32, values[2], values[2]) } else { values[3] };
        let dtypes = [DType::I32, DType::I32, DType::F32];
        outputs.iter().for_each(|&at| {
            builder.store(dtypes[at], values[at]);
        });
        builder.store(DType::F32, last);
        builder.finish().instructions()
    };
    assert_eq!(count(&[], false), 2);
    // Also an output.
    assert_eq!(count(&[0], false), 3);
    assert_eq!(count(&[1], false), 2);
    assert_eq!(count(&[2], false), 3);
    // Read by two, and as both factors.
    assert_eq!(count(&[], true), 4);
}
