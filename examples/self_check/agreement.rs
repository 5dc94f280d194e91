//! How much the device's results may differ from plain loops on the CPU.

use burn::tensor::DType;
pub use test_support::{Tolerance, close_floats, same_integers};

/// No difference, except in the sign of zeros.
pub const EXACT: Tolerance = Tolerance::Ulps(0);

/// A few roundings of f32.
pub const F32: Tolerance = within(1e-6, 5e-6);

/// `absolute + relative * |reference|`.
pub const fn within(absolute: f64, relative: f64) -> Tolerance {
    Tolerance::Within { absolute, relative }
}

/// One rounding to `dtype`, in addition to f32's own error.
pub fn rounded_to(dtype: DType) -> Tolerance {
    match dtype {
        DType::F16 | DType::BF16 => within(1e-6, unit(dtype)),
        _ => F32,
    }
}

/// The largest change by one rounding to `dtype`, relative to the number.
pub fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => 5e-6,
    }
}
