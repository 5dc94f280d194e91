//! `e^x` in f32 without branches, so that loops over it vectorise.
//!
//! `x = n ln 2 + r` with `|r| <= ln 2 / 2`; the Taylor polynomial of degree 7 leaves 5e-9 of relative error for
//! `e^r`, below f32's rounding, and `2^n` is applied in two factors so that denormal results are rounded once.

/// Within 2 units in the last place of the true value; overflow gives infinity, underflow 0, NaN stays.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer, which is left in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts; the first has so few bits that its product with `n` is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Beyond these the results are infinity and 0 anyway; comparisons let NaN through.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut p = 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    let y = (p * (r * r) + r) + 1.0;
    let exponent = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = exponent >> 1;
    y * power_of_two(half) * power_of_two(exponent.wrapping_sub(half))
}

/// `2^n` for the exponents of normal numbers.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_two_units() {
        for step in -1_050_000..=890_000 {
            let x = step as f32 * 1e-4;
            let (ours, exact) = (exp(x), f64::from(x).exp() as f32);
            let distance = ours.to_bits().abs_diff(exact.to_bits());
            assert!(distance <= 2, "exp({x}) = {ours:e}, not {exact:e}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::MAX), f32::INFINITY);
        assert_eq!(exp(f32::MIN), 0.0);
        assert_eq!(exp(f32::MIN_POSITIVE), 1.0);
        assert!(exp(f32::NAN).is_nan());
    }
}
