//! Whether a value is what its op gives for the operands that the backend had, within a bound for each op.

use burn::tensor::{DType, TensorData};

use crate::bounds::{Bound, bound, terms, unspecified};
use crate::oracle::{expected, floats, integers, wide, wrapped};
use crate::program::{Float, Made, Op, Step};
use crate::run::EPSILON;
use crate::value::{ValueKind, kind};

pub enum Verdict {
    Agrees,
    /// The op's value is not specified for these operands, or burn-flex is wrong there.
    NotCompared,
    /// The first element that is wrong.
    Differs(String),
}

/// The value `found` of a step that computes; `operands` are what it was computed from.
pub fn judge(step: &Step, operands: &[TensorData], found: &TensorData) -> Verdict {
    let Made::By(op, _) = &step.made else { return Verdict::Agrees };
    if found.shape.as_slice() != step.shape || found.dtype != step.dtype {
        let (shape, dtype) = (&step.shape, step.dtype);
        return Verdict::Differs(format!("expected {shape:?} {dtype:?}, found {:?} {:?}", found.shape, found.dtype));
    }
    if step.shape.contains(&0) {
        return Verdict::Agrees;
    }
    if unspecified(op, operands) {
        return Verdict::NotCompared;
    }
    let verdict = compared(op, operands, found);
    // Apple's kernels may take subnormal numbers for zeros.
    match verdict {
        Verdict::Differs(_) if operands.iter().any(has_subnormals) => {
            let flushed: Vec<TensorData> = operands.iter().map(without_subnormals).collect();
            match compared(op, &flushed, found) {
                Verdict::Agrees => Verdict::Agrees,
                Verdict::NotCompared | Verdict::Differs(_) => verdict,
            }
        }
        Verdict::Agrees | Verdict::NotCompared | Verdict::Differs(_) => verdict,
    }
}

fn compared(op: &Op, operands: &[TensorData], found: &TensorData) -> Verdict {
    let expected = expected(op, operands);
    if expected.shape != found.shape {
        return Verdict::Differs(format!("burn-flex has the shape {:?}", expected.shape));
    }
    if kind(found.dtype) != ValueKind::Float {
        let wanted = integers(&expected).into_iter().map(|x| wrapped(x, found.dtype));
        let pairs = wanted.zip(integers(found));
        return first(pairs, |wanted, found| wanted == found);
    }
    let (wanted, numbers) = (floats(&expected), floats(found));
    let dtype = found.dtype;
    let exact = |agree: fn(f64, f64) -> bool| {
        first(wanted.iter().map(|&x| rounded(x, dtype)).zip(numbers.iter().copied()), agree)
    };
    let allowed: Vec<f64> = match bound(op) {
        Bound::Same => return exact(same),
        Bound::Exact => return exact(same_or_flushed),
        Bound::Value => return exact(|x, y| same_or_flushed(x + 0.0, y + 0.0)),
        Bound::Ulps(n) => wanted.iter().map(|x| n * ulp(*x, DType::F32)).collect(),
        Bound::Relative(x) => wanted.iter().map(|wanted| x * wanted.abs().max(1.0)).collect(),
        Bound::Terms => of_terms(op, operands, found),
        Bound::Products | Bound::Normalized | Bound::Attended | Bound::Largest(_) | Bound::LargestProduct(_) => {
            errors(op, operands, wanted.len()).unwrap_or_default()
        }
    };
    let wanted = wanted.iter().zip(allowed).map(|(&value, within)| Wanted { value, within });
    first(wanted.zip(numbers.iter().copied()), |wanted, found| near(wanted, found, dtype))
}

fn first<T: Copy + std::fmt::Debug, U: Copy + std::fmt::Debug>(
    pairs: impl Iterator<Item = (T, U)>,
    agree: impl Fn(T, U) -> bool,
) -> Verdict {
    for (at, (wanted, found)) in pairs.enumerate() {
        if !agree(wanted, found) {
            return Verdict::Differs(format!("element {at}: expected {wanted:?}, found {found:?}"));
        }
    }
    Verdict::Agrees
}

/// Bit for bit, but any NaN.
fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// That, or zero of the same sign for a subnormal number of f32.
fn same_or_flushed(x: f64, y: f64) -> bool {
    same(x, y) || (x as f32).is_subnormal() && same(0f64.copysign(x), y)
}

/// A number, and how far another one may be from it, before that is rounded.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    value: f64,
    within: f64,
}

fn near(Wanted { value: wanted, within: allowed }: Wanted, found: f64, dtype: DType) -> bool {
    // Where a step on the way may have overflowed, nothing is certain.
    if allowed == f64::INFINITY || wanted.is_nan() && found.is_nan() {
        return true;
    }
    let allowed = allowed + 0.501 * ulp(wanted, dtype);
    if wanted.is_infinite() || found.is_infinite() {
        return wanted == found || found.signum() == wanted.signum() && wanted.abs() + allowed >= largest(dtype);
    }
    let tiny = if dtype == DType::F16 { 0.0 } else { f64::from(f32::MIN_POSITIVE) };
    (wanted - found).abs() <= allowed + if wanted.abs() <= 2.0 * tiny { tiny } else { 0.0 }
}

/// The distance of neighbours around `x`.
pub fn ulp(x: f64, dtype: DType) -> f64 {
    let (digits, smallest) = match dtype {
        DType::F16 => (10, -14),
        DType::BF16 => (7, -126),
        _ => (23, -126),
    };
    let exponent = if x == 0.0 { smallest } else { (x.abs().log2().floor() as i32).max(smallest) };
    2f64.powi(exponent.min(127) - digits)
}

fn largest(dtype: DType) -> f64 {
    if dtype == DType::F16 {
        65504.0
    } else if dtype == DType::BF16 {
        3.38e38
    } else {
        f64::from(f32::MAX)
    }
}

/// `x` as the dtype holds it.
pub fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f32(x as f32).to_f64(),
        DType::BF16 => half::bf16::from_f32(x as f32).to_f64(),
        _ => f64::from(x as f32),
    }
}

/// A sum's error is at most a rounding of each partial sum, and those are at most the sum of the magnitudes.
fn of_terms(op: &Op, operands: &[TensorData], found: &TensorData) -> Vec<f64> {
    let terms = terms(op, operands, found) as f64;
    // Burn's definition of a layer rounds the product before it adds the bias.
    let twice = matches!(op, Op::Float(Float::Linear { bias: true }));
    let between = |sum: f64| if twice { ulp(sum, found.dtype) } else { 0.0 };
    let of = |sum: f64| {
        let may_overflow = sum * terms > largest(if twice { found.dtype } else { DType::F32 });
        if may_overflow { f64::INFINITY } else { terms * 2f64.powi(-23) * sum + between(sum) }
    };
    magnitudes(op, operands).into_iter().map(of).collect()
}

/// What the magnitudes of a sum's terms come to, for each element.
pub fn magnitudes(op: &Op, operands: &[TensorData]) -> Vec<f64> {
    let operands: Vec<TensorData> = operands.iter().map(|data| each_float(data, finite_magnitude)).collect();
    floats(&expected(op, &operands))
}

fn finite_magnitude(x: f64) -> f64 {
    if x.is_finite() { x.abs() } else { 0.0 }
}

fn largest_product(operands: &[TensorData]) -> f64 {
    operands.iter().map(largest_of).product()
}

fn largest_of(data: &TensorData) -> f64 {
    floats(data).into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// The mean is rounded, which moves what is left of each element by digits of the row's largest.
fn of_normalized(operands: &[TensorData]) -> Vec<f64> {
    let [x, gamma, beta] = [0, 1, 2].map(|i| floats(&operands[i]));
    let row = |row: &[f64]| {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let largest = row.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let error = (count + 4.0) * 2f64.powi(-24) * (1.0 + largest / (variance + EPSILON).sqrt());
        gamma.iter().zip(&beta).map(|(g, b)| error * g.abs() + ulp(*b, DType::F32)).collect::<Vec<_>>()
    };
    x.chunks(gamma.len()).flat_map(row).collect()
}

/// The errors of so many elements, if neither the element itself nor its terms tell them.
pub fn errors(op: &Op, operands: &[TensorData], count: usize) -> Option<Vec<f64>> {
    let of_all = |error: f64| Some(vec![error; count]);
    match bound(op) {
        Bound::Normalized => Some(of_normalized(operands)),
        // A product that is subnormal may be taken for zero.
        Bound::Products => {
            of_all(2.0 * ulp(largest_product(operands), operands[0].dtype) + 2.0 * f64::from(f32::MIN_POSITIVE))
        }
        Bound::Attended => of_all(of_attended(operands)),
        Bound::Largest(n) => of_all(n * ulp(operands.iter().map(largest_of).fold(0.0, f64::max), DType::F32)),
        Bound::LargestProduct(n) => of_all(n * ulp(largest_product(operands), DType::F32)),
        Bound::Same | Bound::Exact | Bound::Value | Bound::Ulps(_) | Bound::Relative(_) | Bound::Terms => None,
    }
}

/// The error of a score moves the weight of a value by as much of it.
fn of_attended(operands: &[TensorData]) -> f64 {
    let [query, key, value] = [0, 1, 2].map(|i| largest_of(&operands[i]));
    let bias = operands[3..].iter().filter(|data| data.dtype.is_float()).map(largest_of).fold(0.0, f64::max);
    let [width, keys] = [operands[0].shape[3] as f64, operands[1].shape[2] as f64];
    (2.0 * width * (width.sqrt() * query * key + bias) + keys + 16.0) * 2f64.powi(-23) * value
}

fn has_subnormals(data: &TensorData) -> bool {
    kind(data.dtype) == ValueKind::Float && data.iter::<f32>().any(f32::is_subnormal)
}

fn without_subnormals(data: &TensorData) -> TensorData {
    each_float(data, |x| if (x as f32).is_subnormal() { 0.0f64.copysign(x) } else { x })
}

/// `of` each element of floats, in f64; other data as they are.
fn each_float(data: &TensorData, of: impl FnMut(f64) -> f64) -> TensorData {
    if kind(data.dtype) != ValueKind::Float {
        return data.clone();
    }
    TensorData::new(floats(&wide(data)).into_iter().map(of).collect(), data.shape.clone())
}
