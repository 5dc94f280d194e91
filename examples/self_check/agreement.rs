//! Holding what the device gives against a reference.

use burn::tensor::{DType, TensorData};

use crate::table::Outcome;

/// How far a float may be from the reference: `absolute + relative * |reference|`.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

/// No difference at all.
pub const EXACT: Tolerance = within(0.0, 0.0);

/// A few roundings of f32.
pub const F32: Tolerance = within(1e-6, 5e-6);

pub const fn within(absolute: f64, relative: f64) -> Tolerance {
    Tolerance { absolute, relative }
}

/// One rounding to `dtype` beside what f32 computes.
pub fn rounded_to(dtype: DType) -> Tolerance {
    match dtype {
        DType::F16 => within(1e-6, 1.0 / 1024.0),
        DType::BF16 => within(1e-6, 1.0 / 128.0),
        _ => F32,
    }
}

/// Integers and bools (as 0 and 1), which have to be equal.
pub fn same_integers(got: &TensorData, shape: &[usize], expected: &[i128]) -> Outcome {
    let numbers: Vec<i128> = match got.dtype {
        DType::U64 => got.iter::<u64>().map(i128::from).collect(),
        DType::Bool(_) => got.iter::<bool>().map(i128::from).collect(),
        _ => got.iter::<i64>().map(i128::from).collect(),
    };
    compare(got, shape, &numbers, expected, |&a, &b| (a.abs_diff(b) as f64, a == b))
}

/// Floats; NaN agrees with NaN and an infinity with itself.
pub fn close_floats(got: &TensorData, shape: &[usize], expected: &[f64], tolerance: Tolerance) -> Outcome {
    let numbers: Vec<f64> = got.iter::<f64>().collect();
    compare(got, shape, &numbers, expected, |&a, &b| {
        if a == b || (a.is_nan() && b.is_nan()) {
            return (0.0, true);
        }
        let error = (a - b).abs();
        (error, error <= tolerance.absolute + tolerance.relative * b.abs())
    })
}

fn compare<T: std::fmt::Display + std::fmt::LowerExp>(
    data: &TensorData,
    shape: &[usize],
    got: &[T],
    expected: &[T],
    difference: impl Fn(&T, &T) -> (f64, bool),
) -> Outcome {
    if data.shape.as_slice() != shape || got.len() != expected.len() {
        return Outcome::fact(format!("shape {shape:?}"), format!("shape {:?}", data.shape), false);
    }
    let show = |x: &T| {
        let text = x.to_string();
        if text.len() <= 21 { text } else { format!("{x:.12e}") }
    };
    let mut elements = got.iter().zip(expected).map(|(a, b)| {
        let (error, agrees) = difference(a, b);
        Outcome { expected: show(b), got: show(a), error, agrees }
    });
    // Of equal errors the first; an element of the reference is shown even if all are exact.
    let Some(first) = elements.next() else {
        return Outcome::fact("no elements", "no elements", true);
    };
    elements.fold(first, |worst, one| Outcome::of([worst, one]))
}
