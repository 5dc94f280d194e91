//! Runs ops and programs on any backend.

mod floats;
mod images;
mod moves;
mod numbers;

use burn::tensor::backend::Backend;
use burn::tensor::{self, DType};

pub use floats::EPSILON;

use crate::program::{Bits, Bool, Feeds, Int, Made, Move, Number, Op, Program};
use crate::value::{Value, ValueKind, kind};

/// The values of all steps.
pub fn values<B: Backend>(program: &Program, feeds: &Feeds) -> Vec<Value<B>> {
    values_with(program, feeds, &mut vec![None; program.steps.len()])
}

/// The same with other values, which are taken, instead of some that are fed.
pub fn values_with<B: Backend>(program: &Program, feeds: &Feeds, given: &mut [Option<Value<B>>]) -> Vec<Value<B>> {
    let mut values: Vec<Value<B>> = Vec::new();
    for ((step, fed), given) in program.steps.iter().zip(feeds).zip(given) {
        let value = match (&step.made, given.take()) {
            (Made::Fed(_), Some(value)) => value,
            (Made::Fed(_), None) => Value::from_data(fed.clone().expect("a step that is fed has data")),
            (Made::By(op, operands), _) => apply(op, operands.iter().map(|&id| values[id].clone()).collect()),
        };
        values.push(value);
    }
    values
}

/// What `op` computes.
pub fn apply<B: Backend>(op: &Op, operands: Vec<Value<B>>) -> Value<B> {
    match op {
        Op::Cast(dtype) => cast(only(operands), *dtype),
        Op::Move(op) => moved(op, operands),
        Op::Number(op) => number(op, operands),
        Op::Float(op) => floats::apply(op, operands.into_iter()),
        Op::Image(op) => images::apply(op, operands.into_iter().map(Value::float)),
        Op::Int(op) => int(op, operands),
        Op::Bool(op) => bool(op, operands),
    }
}

fn moved<B: Backend>(op: &Move, operands: Vec<Value<B>>) -> Value<B> {
    match operands[0] {
        Value::Float(_) => moves::apply::<B, tensor::Float>(op, operands),
        Value::Int(_) => moves::apply::<B, tensor::Int>(op, operands),
        Value::Bool(_) => moves::apply::<B, tensor::Bool>(op, operands),
    }
}

fn number<B: Backend>(op: &Number, operands: Vec<Value<B>>) -> Value<B> {
    match operands[0] {
        Value::Float(_) => numbers::apply::<B, tensor::Float>(op, operands),
        Value::Int(_) => numbers::apply::<B, tensor::Int>(op, operands),
        Value::Bool(_) => panic!("bools are no numbers"),
    }
}

fn only<T>(operands: Vec<T>) -> T {
    operands.into_iter().next().expect("an op has an operand")
}

fn cast<B: Backend>(value: Value<B>, to: DType) -> Value<B> {
    let to_kind = kind(to);
    match value {
        Value::Float(x) => match to_kind {
            ValueKind::Float => Value::Float(B::float_cast(x, to.into())),
            ValueKind::Int => Value::Int(B::float_into_int(x, to.into())),
            ValueKind::Bool => Value::Bool(B::float_not_equal_elem(x, 0.0.into(), to.into())),
        },
        Value::Int(x) => match to_kind {
            ValueKind::Float => Value::Float(B::int_into_float(x, to.into())),
            ValueKind::Int => Value::Int(B::int_cast(x, to.into())),
            ValueKind::Bool => Value::Bool(B::int_not_equal_elem(x, 0.into(), to.into())),
        },
        Value::Bool(x) => match to_kind {
            ValueKind::Float => Value::Float(B::bool_into_float(x, to.into())),
            ValueKind::Int => Value::Int(B::bool_into_int(x, to.into())),
            ValueKind::Bool => Value::Bool(x),
        },
    }
}

fn int<B: Backend>(op: &Int, operands: Vec<Value<B>>) -> Value<B> {
    let mut operands = operands.into_iter().map(Value::int);
    let mut next = || operands.next().expect("the program has the op's operands");
    let x = next();
    Value::Int(match *op {
        Int::Bits(Bits::And) => B::bitwise_and(x, next()),
        Int::Bits(Bits::Or) => B::bitwise_or(x, next()),
        Int::Bits(Bits::Xor) => B::bitwise_xor(x, next()),
        Int::BitsScalar(Bits::And, y) => B::bitwise_and_scalar(x, y.into()),
        Int::BitsScalar(Bits::Or, y) => B::bitwise_or_scalar(x, y.into()),
        Int::BitsScalar(Bits::Xor, y) => B::bitwise_xor_scalar(x, y.into()),
        Int::Not => B::bitwise_not(x),
        Int::ShiftLeft(by) => B::bitwise_left_shift_scalar(x, by.into()),
        Int::ShiftRight(by) => B::bitwise_right_shift_scalar(x, by.into()),
    })
}

fn bool<B: Backend>(op: &Bool, operands: Vec<Value<B>>) -> Value<B> {
    let mut operands = operands.into_iter().map(Value::bool);
    let mut next = || operands.next().expect("the program has the op's operands");
    let x = next();
    Value::Bool(match op {
        Bool::And => B::bool_and(x, next()),
        Bool::Or => B::bool_or(x, next()),
        Bool::Xor => B::bool_xor(x, next()),
        Bool::Not => B::bool_not(x),
    })
}
