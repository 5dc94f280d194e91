//! `e^x` in f32 for softmax, where `x` is never above 0: without branches, so that loops over it vectorise.
//!
//! `x = n ln 2 + r` with `|r| <= ln 2 / 2`; the Taylor polynomial of degree 7 leaves 5e-9 of relative error for
//! `e^r`, below f32's rounding. Results below the least normal number are 0, as on the hardware: arithmetic that
//! makes denormals is some hundred times slower, and a masked score of negative infinity would meet it every time.

/// Within 2 units in the last place of the true value for `x <= 0`; NaN stays.
#[inline(always)]
pub fn exp_below_zero(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer, which is left in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts; the first has so few bits that its product with `n` is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // The logarithm of the least normal number, rounded up.
    const LEAST: f32 = -87.336_54;
    // Comparisons let NaN through.
    let within = if x < LEAST { LEAST } else { x };
    let shifted = within * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (within - n * LN2_HIGH) - n * LN2_LOW;
    // In pairs (Estrin's scheme): a chain through all coefficients takes longer than all that a vector needs.
    let square = r * r;
    let low = r * (1.0 / 6.0) + 0.5;
    let middle = r * (1.0 / 120.0) + 1.0 / 24.0;
    let high = r * (1.0 / 5040.0) + 1.0 / 720.0;
    let p = (high * square + middle) * square + low;
    let y = (p * square + r) + 1.0;
    let exponent = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let scale = f32::from_bits((exponent.wrapping_add(127) as u32) << 23);
    if x < LEAST { 0.0 } else { y * scale }
}

#[cfg(test)]
mod tests;
