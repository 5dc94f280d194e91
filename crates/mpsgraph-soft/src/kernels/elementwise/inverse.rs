//! Inverses of the circular and hyperbolic functions, in the manner of [`math`](super::math).
//!
//! They are computed in f64 without branches and rounded once. Arcs come from the angle of a quotient or, for sines,
//! from a polynomial of what is at most a half. The hyperbolic ones are logarithms of `1 + x`, which stay accurate near
//! 0. Odd functions get the argument's sign at the end, so that zeros keep theirs.

use super::math::{ln_f64, polynomial};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

/// tan(π/8): what is larger is seen from π/4.
const EIGHTH: f64 = SQRT_2 - 1.0;

/// The angle of the first quadrant with this tangent, a quotient of numbers that are not negative.
#[inline(always)]
fn angle(opposite: f64, adjacent: f64) -> f64 {
    let steep = opposite > adjacent;
    let (small, large) = if steep { (adjacent, opposite) } else { (opposite, adjacent) };
    // tan(a - π/4) = (tan a - 1) / (tan a + 1)
    let turned = small > EIGHTH * large;
    let (small, large) = if turned { (small - large, small + large) } else { (small, large) };
    // Both may be zeros.
    let tangent = if small == 0.0 { small } else { small / large };
    let z = tangent * tangent;
    let rest = tangent
        * z
        * polynomial(
            z,
            [
                -0.333_333_333_314_394_96,
                0.199_999_989_166_905_62,
                -0.142_856_124_652_752_52,
                0.111_074_938_534_327_03,
                -0.090_289_675_621_104_18,
                0.071_352_346_474_640_41,
                -0.040_430_336_961_471_07,
            ],
        );
    let near = tangent + rest;
    let near = if turned { FRAC_PI_4 + near } else { near };
    if steep { FRAC_PI_2 - near } else { near }
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    (angle(x.abs() as f64, 1.0) as f32).copysign(x)
}

/// C's `atan2`.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (opposite, adjacent) = (y.abs() as f64, x.abs() as f64);
    let one = |is: bool| if is { 1.0 } else { 0.0 };
    let infinite = (opposite == f64::INFINITY) | (adjacent == f64::INFINITY);
    let (opposite, adjacent) =
        if infinite { (one(opposite == f64::INFINITY), one(adjacent == f64::INFINITY)) } else { (opposite, adjacent) };
    let acute = angle(opposite, adjacent);
    let value = if x.is_sign_negative() { PI - acute } else { acute };
    let value = if x.is_nan() | y.is_nan() { f64::NAN } else { value };
    (value as f32).copysign(y)
}

/// The arc sine of what is at most a half.
#[inline(always)]
fn small_arc(sine: f64) -> f64 {
    let z = sine * sine;
    let rest = polynomial(
        z,
        [
            0.166_666_666_654_950_86,
            0.075_000_005_988_290_49,
            0.044_642_358_484_883_196,
            0.030_397_634_130_580_702,
            0.022_132_443_623_426_794,
            0.019_306_260_869_368_045,
            0.005_443_185_102_748_107_5,
            0.029_305_239_705_335_79,
        ],
    );
    sine + sine * z * rest
}

/// The arc sine of `|x|`, and what is missing to π/2; both are exact to the last digits of f32.
#[inline(always)]
fn arcs(x: f32) -> (f64, f64) {
    let sine = x.abs() as f64;
    // Above a half from the other end: cos a = 1 - 2 sin²(a/2).
    let is_small = sine <= 0.5;
    let half = (0.5 * (1.0 - sine)).sqrt();
    let arc = small_arc(if is_small { sine } else { half });
    if is_small { (arc, FRAC_PI_2 - arc) } else { (FRAC_PI_2 - 2.0 * arc, 2.0 * arc) }
}

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    (arcs(x).0 as f32).copysign(x)
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let missing = arcs(x).1;
    (if x < 0.0 { PI - missing } else { missing }) as f32
}

/// ln(1 + x), accurate near 0.
#[inline(always)]
fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    let value = ln_f64(sum) + (x - (sum - 1.0)) / sum;
    if x == f64::INFINITY { x } else { value }
}

#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let size = x.abs() as f64;
    let square = size * size;
    let more = size + square / (1.0 + (square + 1.0).sqrt());
    let value = if size == f64::INFINITY { size } else { ln_1p(more) };
    (value as f32).copysign(x)
}

#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let above = x as f64 - 1.0;
    let value = ln_1p(above + (above * (above + 2.0)).sqrt());
    (if above >= 0.0 { value } else { f64::NAN }) as f32
}

#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let size = x.abs() as f64;
    ((0.5 * ln_1p(2.0 * size / (1.0 - size))) as f32).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::atan2;

    #[test]
    fn atan2_of_zeros_and_infinities() {
        let special = [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NEG_INFINITY];
        for (y, x) in special.iter().flat_map(|&y| special.map(|x| (y, x))) {
            let want = (y as f64).atan2(x as f64) as f32;
            assert_eq!(atan2(y, x).to_bits(), want.to_bits(), "atan2({y}, {x})");
        }
        assert!(atan2(f32::NAN, 1.0).is_nan() && atan2(1.0, f32::NAN).is_nan());
        assert!(atan2(f32::NAN, f32::INFINITY).is_nan() && atan2(f32::INFINITY, f32::NAN).is_nan());
    }

    #[test]
    fn atan2_in_all_directions() {
        for step in 0..40_000 {
            let angle = step as f64 * 1e-3;
            for size in [1e-30, 0.7, 1e30] {
                let (y, x) = ((size * angle.sin()) as f32, (size * angle.cos()) as f32);
                let exact = (y as f64).atan2(x as f64);
                let unit = ((exact as f32).abs().next_up() - (exact as f32).abs()) as f64;
                let off = (atan2(y, x) as f64 - exact).abs() / unit;
                assert!(off <= 0.51, "atan2({y}, {x}): {off} units off");
            }
        }
    }
}
