//! How far rounding may take each value of a program from what it is exactly, where errors do add up: what changes if
//! the oracle's value of each step is off by some digits of its dtype, in several ways.

use burn::tensor::{DType, TensorData};
use test_support::{BOOL, integer_data};

use crate::bounds::{Bound, bound, unspecified};
use crate::judge::{errors, magnitudes, rounded, ulp};
use crate::oracle::{expected, floats, integers, wrapped};
use crate::program::{Feeds, Made, Op, Program};
use crate::random::Random;
use crate::value::{ValueKind, kind};

/// Ways in which values are off.
const WAYS: u64 = 5;

/// The values of a program, exact and off in some ways. A value is missing where an op on the way to it is not
/// specified for its operands, or may overflow within.
pub struct Spread {
    exact: Vec<Option<TensorData>>,
    off: Vec<Vec<Option<TensorData>>>,
}

impl Spread {
    pub fn new(program: &Program, feeds: &Feeds) -> Spread {
        let off = (0..WAYS).map(|way| chain(program, feeds, Some(Random::new(way, 0)))).collect();
        Spread { exact: chain(program, feeds, None), off }
    }

    /// The first element in which two computations of a value differ by more than rounding explains.
    pub fn difference(&self, id: usize, first: &TensorData, second: &TensorData) -> Option<String> {
        let off: Option<Vec<&TensorData>> = self.off.iter().map(|off| off[id].as_ref()).collect();
        let off: Vec<Vec<f64>> = off?.into_iter().map(numbers).collect();
        let (exact, dtype) = (numbers(self.exact[id].as_ref()?), first.dtype);
        numbers(first).into_iter().zip(numbers(second)).enumerate().find_map(|(at, (first, second))| {
            let exact = exact[at];
            let spread: f64 = off.iter().map(|off| apart(off[at], exact)).sum();
            let within = 8.0 * spread + 8.0 * ulp(exact, dtype) + f64::from(f32::MIN_POSITIVE);
            // Where the first is not near what is exact, the spread is that of another place.
            let known = spread.is_finite() && apart(first, exact) <= within;
            let near = apart(first, second) <= within;
            (known && !near).then(|| format!("element {at}: {first} and {second}, exactly {exact} within {within:e}"))
        })
    }
}

/// Any elements.
fn numbers(data: &TensorData) -> Vec<f64> {
    if data.dtype.is_float() { floats(data) } else { integers(data).into_iter().map(|x| x as f64).collect() }
}

/// The distance; NaN if only one is NaN.
fn apart(a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() }
}

fn chain(program: &Program, feeds: &Feeds, mut off: Option<Random>) -> Vec<Option<TensorData>> {
    let mut values: Vec<Option<TensorData>> = Vec::new();
    for (step, fed) in program.steps.iter().zip(feeds) {
        let value = match &step.made {
            Made::Fed(_) => fed.clone(),
            // burn-flex fails on some empty operands.
            Made::By(..) if step.shape.contains(&0) => {
                Some(TensorData::new(Vec::<f32>::new(), step.shape.clone()).convert_dtype(step.dtype))
            }
            Made::By(op, operands) => {
                let operands: Option<Vec<TensorData>> = operands.iter().map(|&id| values[id].clone()).collect();
                let operands =
                    operands.filter(|operands| !unspecified(op, operands) && !operands.iter().any(may_overflow));
                operands.map(|operands| match off.as_mut() {
                    Some(off) => a_little_off(off, op, &operands, step.dtype),
                    None => of_dtype(expected(op, &operands), step.dtype, None),
                })
            }
        };
        values.push(value);
    }
    values
}

/// Whether products of the elements leave the range of f32.
fn may_overflow(data: &TensorData) -> bool {
    data.dtype.is_float() && data.iter::<f32>().any(|x| x.is_finite() && x.abs() > 1e15)
}

/// The oracle's value in the dtype, a little off it: digits of the number, and of a sum's terms.
fn a_little_off(random: &mut Random, op: &Op, operands: &[TensorData], dtype: DType) -> TensorData {
    let mut value = expected(op, operands);
    if kind(dtype) == ValueKind::Float && matches!(bound(op), Bound::Terms) {
        let digits = 4.0 * ulp(1.0, DType::F32);
        let sums = floats(&value).into_iter().zip(magnitudes(op, operands));
        let off: Vec<f64> = sums.map(|(sum, terms)| sum + digits * terms * random.unit()).collect();
        value = TensorData::new(off, value.shape.clone());
    }
    if let Some(errors) = errors(op, operands, value.num_elements()) {
        let off = floats(&value).into_iter().zip(errors).map(|(x, error)| x + error * random.unit()).collect();
        value = TensorData::new::<f64, _>(off, value.shape.clone());
    }
    of_dtype(value, dtype, Some(random))
}

/// The oracle's value in the dtype, or a little off it.
fn of_dtype(value: TensorData, dtype: DType, mut off: Option<&mut Random>) -> TensorData {
    let shape = value.shape.clone();
    match kind(dtype) {
        ValueKind::Float => {
            let mut number = |x: f64| match &mut off {
                // The order of a sum decides the sign of zero.
                Some(off) if x == 0.0 => 0f64.copysign(off.unit()),
                // Some kernels make zero of subnormal numbers.
                Some(off) if (x as f32).is_subnormal() => off.pick(&[0f64.copysign(x), x]),
                Some(off) => rounded(x + 4.0 * ulp(x, dtype) * off.unit(), dtype),
                None => rounded(x, dtype),
            };
            let numbers = floats(&value).into_iter().map(&mut number).collect();
            TensorData::new::<f64, _>(numbers, shape)
        }
        ValueKind::Int => {
            let numbers: Vec<i128> = integers(&value).into_iter().map(|x| wrapped(x, dtype)).collect();
            integer_data(&numbers, shape.to_vec(), dtype)
        }
        // burn-flex forgets that some are bools.
        ValueKind::Bool => value.convert_dtype(BOOL),
    }
}
