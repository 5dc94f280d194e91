//! What an op should give: burn-flex, floats in f64 and integers in 64 bits, from the operands that the backend had.
//!
//! Results of integers wrap to the dtype afterwards, which is right for what is computed of low bits only; what looks
//! at the whole number gets it, because only unsigned numbers from 2^63 on do not fit, and those are left out.

use burn::tensor::{DType, TensorData};
use burn_flex::Flex;

use crate::program::{Number, Op};
use crate::run;
use crate::value::{Value, ValueKind, kind};

/// What `op` gives for `operands`: floats in f64, integers that are not wrapped in I64, bools.
pub fn expected(op: &Op, operands: &[TensorData]) -> TensorData {
    match op {
        Op::Cast(to) => return cast(&operands[0], *to),
        // burn-flex's order of equal elements is not certain.
        Op::Number(Number::Argsort { dim, descending }) => return argsort(&operands[0], *dim, *descending),
        Op::Move(_) | Op::Number(_) | Op::Float(_) | Op::Image(_) | Op::Int(_) | Op::Bool(_) => (),
    }
    let operands = operands.iter().map(|data| Value::<Flex>::from_data(wide(data))).collect();
    run::apply::<Flex>(op, operands).into_data()
}

/// The same numbers in the widest dtype of their kind.
pub fn wide(data: &TensorData) -> TensorData {
    match kind(data.dtype) {
        ValueKind::Float => data.clone().convert_dtype(DType::F64),
        ValueKind::Int => TensorData::new(integers(data).iter().map(|&x| x as i64).collect(), data.shape.clone()),
        ValueKind::Bool => data.clone(),
    }
}

/// Integers and bools.
pub fn integers(data: &TensorData) -> Vec<i128> {
    if data.dtype == DType::U64 {
        data.iter::<u64>().map(i128::from).collect()
    } else if data.dtype.is_bool() {
        data.iter::<bool>().map(i128::from).collect()
    } else {
        data.iter::<i64>().map(i128::from).collect()
    }
}

pub fn floats(data: &TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

/// The low bits of `x` as a number of an integer dtype.
pub fn wrapped(x: i128, dtype: DType) -> i128 {
    let bits = 8 * dtype.size() as u32;
    let low = x & ((1 << bits) - 1);
    if dtype.is_int() && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

/// Floats to integers toward zero and saturating with NaN as 0, integers wrapping, anything to bool as `!= 0`.
fn cast(data: &TensorData, to: DType) -> TensorData {
    let shape = data.shape.clone();
    let from_floats = kind(data.dtype) == ValueKind::Float;
    match kind(to) {
        ValueKind::Float if from_floats => wide(data),
        ValueKind::Float => TensorData::new(integers(data).iter().map(|&x| x as f64).collect(), shape),
        ValueKind::Int if from_floats => {
            let [low, high] = range(to);
            let of = |x: f64| if x.is_nan() { 0 } else { (x as i128).clamp(low, high) as i64 };
            TensorData::new(floats(data).into_iter().map(of).collect(), shape)
        }
        ValueKind::Int => TensorData::new(integers(data).iter().map(|&x| x as i64).collect(), shape),
        ValueKind::Bool if from_floats => TensorData::new(floats(data).iter().map(|&x| x != 0.0).collect(), shape),
        ValueKind::Bool => TensorData::new(integers(data).iter().map(|&x| x != 0).collect(), shape),
    }
}

fn range(dtype: DType) -> [i128; 2] {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_uint() { [0, (1 << bits) - 1] } else { [-(1 << (bits - 1)), (1 << (bits - 1)) - 1] }
}

/// Positions of the elements along an axis in order, equal ones as they are.
fn argsort(data: &TensorData, dim: usize, descending: bool) -> TensorData {
    let (extent, inner) = (data.shape[dim], data.shape[dim + 1..].iter().product::<usize>());
    // Integers in an order that is theirs.
    let keys: Vec<i128> = match kind(data.dtype) {
        ValueKind::Float => floats(data).into_iter().map(|x| i128::from(ordered(x))).collect(),
        ValueKind::Int | ValueKind::Bool => integers(data),
    };
    let mut positions = vec![0i64; keys.len()];
    for line in (0..keys.len()).filter(|at| at / inner % extent == 0) {
        let key = |&at: &i64| keys[line + at as usize * inner];
        let mut order: Vec<i64> = (0..extent as i64).collect();
        if descending {
            order.sort_by_key(|at| -key(at))
        } else {
            order.sort_by_key(key)
        }
        for (to, from) in order.into_iter().enumerate() {
            positions[line + to * inner] = from;
        }
    }
    TensorData::new(positions, data.shape.clone())
}

/// An integer in the order of `f64::total_cmp`.
fn ordered(x: f64) -> i64 {
    let bits = x.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}
