//! Whether two results agree, and which element differs most.

use burn::tensor::{DType, TensorData};

/// How far two results may be apart. NaN agrees with NaN and an infinity with itself.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Bit for bit, except for the payload of NaN.
    Exact,
    /// Units in the last place of the result's dtype, at least of f32; zeros of either sign agree.
    Ulps(u32),
    /// Relative to the larger magnitude, with the same absolute floor; at least a unit in the last place.
    Relative(f64),
    /// The same with a number for each of f32, f16 and bf16.
    RelativeOf([f64; 3]),
    /// `absolute + relative * |expected|`.
    Within { absolute: f64, relative: f64 },
}

/// The result of a comparison: the worst element, or the first that disagrees.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub expected: String,
    pub got: String,
    pub error: f64,
    pub agrees: bool,
}

impl Outcome {
    /// The first that disagrees, else the one with the largest error. Nothing at all does not agree.
    pub fn of(parts: impl IntoIterator<Item = Outcome>) -> Outcome {
        parts
            .into_iter()
            .reduce(|best, part| match (best.agrees, part.agrees) {
                (false, _) => best,
                (true, false) => part,
                (true, true) if part.error > best.error => part,
                (true, true) => best,
            })
            .unwrap_or_else(|| Outcome::fact("a comparison", "none", false))
    }

    /// A statement that holds or does not.
    pub fn fact(expected: impl Into<String>, got: impl Into<String>, agrees: bool) -> Outcome {
        Outcome { expected: expected.into(), got: got.into(), error: if agrees { 0.0 } else { f64::NAN }, agrees }
    }
}

/// Shape, dtype and every element of `got` against `expected`.
pub fn compare(expected: &TensorData, got: &TensorData, tolerance: Tolerance) -> Outcome {
    if expected.dtype != got.dtype {
        return Outcome::fact(format!("{:?}", expected.dtype), format!("{:?}", got.dtype), false);
    }
    if expected.dtype.is_float() {
        let numbers: Vec<f64> = expected.iter::<f64>().collect();
        close_floats(got, expected.shape.as_slice(), &numbers, tolerance)
    } else {
        same_integers(got, expected.shape.as_slice(), &integers(expected))
    }
}

/// Integers and bools (as 0 and 1), which have to be equal.
pub fn same_integers(got: &TensorData, shape: &[usize], expected: &[i128]) -> Outcome {
    elements(got, shape, &integers(got), expected, |&a, &b| (a.abs_diff(b) as f64, a == b))
}

/// Floats.
pub fn close_floats(got: &TensorData, shape: &[usize], expected: &[f64], tolerance: Tolerance) -> Outcome {
    let numbers: Vec<f64> = got.iter::<f64>().collect();
    elements(got, shape, &numbers, expected, |&a, &b| {
        let error = if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() };
        (error, near(b, a, got.dtype, tolerance))
    })
}

fn integers(data: &TensorData) -> Vec<i128> {
    match data.dtype {
        DType::U64 => data.iter::<u64>().map(i128::from).collect(),
        DType::Bool(_) => data.iter::<bool>().map(i128::from).collect(),
        _ => data.iter::<i64>().map(i128::from).collect(),
    }
}

fn elements<T: std::fmt::Display + std::fmt::LowerExp>(
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
    // Of equal errors the first: an element is shown even if all are exact.
    let mut worst: Option<(usize, f64, bool)> = None;
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        let (error, agrees) = difference(a, b);
        if worst.is_none_or(|(_, largest, _)| !agrees || error > largest) {
            worst = Some((i, error, agrees));
        }
        if !agrees {
            break;
        }
    }
    let Some((i, error, agrees)) = worst else {
        return Outcome::fact("no elements", "no elements", true);
    };
    Outcome { expected: show(&expected[i]), got: show(&got[i]), error, agrees }
}

fn near(a: f64, b: f64, dtype: DType, tolerance: Tolerance) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a == b {
        return !matches!(tolerance, Tolerance::Exact) || a.is_sign_negative() == b.is_sign_negative();
    }
    if a.is_infinite() || b.is_infinite() {
        return false;
    }
    let magnitude = a.abs().max(b.abs());
    let (epsilon, place) = match dtype {
        DType::F16 => (2f64.powi(-10), 1),
        DType::BF16 => (2f64.powi(-7), 2),
        _ => (2f64.powi(-23), 0),
    };
    let error = (a - b).abs();
    let relative = |x: f64| error <= x.max(epsilon) * magnitude.max(1.0);
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Ulps(n) => error <= f64::from(n) * epsilon * magnitude.max(f64::from(f32::MIN_POSITIVE)),
        Tolerance::Relative(x) => relative(x),
        Tolerance::RelativeOf(each) => relative(each[place]),
        Tolerance::Within { absolute, relative } => error <= absolute + relative * a.abs(),
    }
}
