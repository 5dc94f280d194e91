//! Functions of floats, in f64 on the CPU.

use burn::tensor::{DType, Tensor};

use crate::agreement::{F32, Tolerance, close_floats, rounded_to, within};
use crate::table::Outcome;
use crate::values::{B, f32s, floats, noise};

pub fn log1p() -> Outcome {
    let x = [1e-10, -1e-10, 1e-7, -1e-7, 3e-5, 0.5, -0.5, 1e6, 1e30, f64::INFINITY, -1.0, 0.0];
    let expected = x.map(|x: f64| f64::from(x as f32).ln_1p());
    close_floats(&f32s(&x, [12]).log1p().into_data(), &[12], &expected, within(0.0, 1e-6))
}

/// A function on the device, the same in f64, and the numbers it is asked for.
type Function = (fn(Tensor<B, 1>) -> Tensor<B, 1>, fn(f64) -> f64, fn(f64) -> f64);

const FUNCTIONS: [Function; 21] = [
    (|x| x.exp(), f64::exp, |x| 10.0 * x),
    (|x| x.log(), f64::ln, |x| 50.0 * (x + 1.125)),
    (|x| x.sqrt(), f64::sqrt, |x| 50.0 * (x + 1.0)),
    (|x| x.sin(), f64::sin, |x| 6.0 * x),
    (|x| x.cos(), f64::cos, |x| 6.0 * x),
    (|x| x.tan(), f64::tan, |x| 1.25 * x),
    (|x| x.tanh(), f64::tanh, |x| 8.0 * x),
    (|x| x.sinh(), f64::sinh, |x| 4.0 * x),
    (|x| x.cosh(), f64::cosh, |x| 4.0 * x),
    (|x| x.asin(), f64::asin, |x| x),
    (|x| x.acos(), f64::acos, |x| 0.875 * x),
    (|x| x.atan(), f64::atan, |x| 8.0 * x),
    (|x| x.asinh(), f64::asinh, |x| 8.0 * x),
    (|x| x.acosh(), f64::acosh, |x| 8.0 * (x + 1.25)),
    (|x| x.atanh(), f64::atanh, |x| 0.875 * x),
    (|x| x.erf(), erf, |x| 3.0 * x),
    (|x| x.recip(), f64::recip, |x| x + 1.125),
    (|x| x.log1p(), f64::ln_1p, |x| 4.0 * (x + 1.0)),
    (|x| x.square(), |x| x * x, |x| 8.0 * x),
    (|x| -x, |x| -x, |x| 8.0 * x),
    (|x| x.abs(), f64::abs, |x| 8.0 * x),
];

/// By its Taylor series, which is enough within a few units of 0.
pub fn erf(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for n in 1..120 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn functions_of(dtype: DType, tolerance: Tolerance) -> Outcome {
    Outcome::of(FUNCTIONS.iter().enumerate().map(|(index, (device, reference, domain))| {
        let x: Vec<f64> = noise(200, index as u64).into_iter().map(domain).collect();
        let given = floats(&x, [200], dtype);
        // What the device was given, after rounding to its dtype.
        let expected: Vec<f64> = given.to_data().iter::<f64>().map(reference).collect();
        close_floats(&device(given).into_data(), &[200], &expected, tolerance)
    }))
}

pub fn functions() -> Outcome {
    functions_of(DType::F32, within(4e-6, 8e-6))
}

pub fn narrow_functions() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let Tolerance { relative, .. } = rounded_to(dtype);
        // tanh of halves may be 11 units off (Metal's own table).
        functions_of(dtype, within(relative, 6.0 * relative))
    }))
}

pub fn atan2() -> Outcome {
    let (y, x) = (noise(100, 5), noise(100, 6));
    let expected: Vec<f64> = y.iter().zip(&x).map(|(y, x)| y.atan2(*x)).collect();
    close_floats(&f32s(&y, [100]).atan2(f32s(&x, [100])).into_data(), &[100], &expected, F32)
}
