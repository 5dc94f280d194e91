//! Elementary functions of f32 that vectorise: branch-free, computed in f64, rounded once.
//!
//! Doubles leave some 29 bits to spare, so short polynomials (fitted at Chebyshev nodes, relative error below 1e-10)
//! give results within one unit in the last place, and neither overflow nor denormals of f32 need care: an f32 is
//! always a normal f64. Rounding to an integer is the addition of 1.5 * 2^52, which leaves the integer in the low
//! bits. Arguments that are too large for the fast way go to the system's f64 functions, one element at a time.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E};

/// `a * b`, or a zero of its sign if that is too small to be normal.
///
/// Apple's kernels do so, too. It also keeps averages from decaying to a few units of the last place, of which 0.9 are
/// as many: they would stay there, and an Intel processor takes thirty times as long to multiply them.
#[inline(always)]
pub fn product(a: f32, b: f32) -> f32 {
    flushed(a * b)
}

/// `a / b`, likewise.
#[inline(always)]
pub fn quotient(a: f32, b: f32) -> f32 {
    flushed(a / b)
}

/// `x`, or a zero of its sign if it is too small to be normal.
#[inline(always)]
pub fn flushed(x: f32) -> f32 {
    const EXPONENT: u32 = 0x7f80_0000;
    let bits = x.to_bits();
    f32::from_bits(if bits & EXPONENT == 0 { bits & 1 << 31 } else { bits })
}

/// 1.5 * 2^52: the sum with an integer of less than 51 bits leaves it in the low bits of the f64.
pub const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// `P(x) = c[0] + c[1] x + …`, in pairs (Estrin's scheme): a chain through all coefficients takes longer than all that
/// a vector needs.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let (mut sums, mut count, mut power) = (c, N, x);
    while count > 1 {
        let pairs = count / 2;
        for i in 0..pairs {
            sums[i] = sums[2 * i] + sums[2 * i + 1] * power;
        }
        if count % 2 == 1 {
            sums[pairs] = sums[count - 1];
        }
        count -= pairs;
        power *= power;
    }
    sums[0]
}

/// `(2^n, e^r - 1)` with `x = n ln 2 + r`, for |x| up to 700 or NaN.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let r = x - n * LN_2;
    let p = polynomial(
        r,
        [
            0.5,
            0.166_666_667_193_124_8,
            0.041_666_666_719_295_685,
            0.008_333_298_344_023_092,
            0.001_388_885_390_994_504,
            0.000_198_993_901_836_792_3,
            0.000_024_859_694_394_752_07,
        ],
    );
    (scale, r + r * r * p)
}

/// e^x; the clamp keeps the scale a normal number and leaves NaN alone.
#[inline(always)]
fn exp_f64(x: f64) -> f64 {
    let (scale, e) = exp_parts(x.clamp(-300.0, 300.0));
    scale + scale * e
}

/// e^x - 1, accurate near 0.
#[inline(always)]
fn exp_m1_f64(x: f64) -> f64 {
    let (scale, e) = exp_parts(x.clamp(-300.0, 300.0));
    (scale - 1.0) + scale * e
}

/// Natural logarithm of a normal number, 0 (minus infinity), infinity, a negative number (NaN) or NaN.
#[inline(always)]
pub(super) fn ln_f64(x: f64) -> f64 {
    // Exponent and mantissa so that the mantissa is in [1/sqrt 2, sqrt 2).
    const SPLIT: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_sub(SPLIT);
    let exponent = f64::from_bits((bits >> 52).wrapping_add(TO_INTEGER.to_bits())) - TO_INTEGER;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(SPLIT));
    // Exponents below zero wrapped round to 4096 - e.
    let exponent = if exponent >= 2048.0 { exponent - 4096.0 } else { exponent };
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let p = polynomial(
        z,
        [
            0.666_666_666_666_667,
            0.399_999_999_998_994_43,
            0.285_714_286_260_032_7,
            0.222_222_111_302_598_77,
            0.181_828_894_556_749_46,
            0.153_317_106_182_107_72,
            0.146_165_854_248_886_22,
        ],
    );
    let value = exponent * LN_2 + (s + s + s * z * p);
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp_f64(x as f64) as f32
}

#[inline(always)]
pub fn ln(x: f32) -> f32 {
    ln_f64(x as f64) as f32
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let e = exp_m1_f64(2.0 * (x.abs() as f64));
    ((e / (e + 2.0)) as f32).copysign(x)
}

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let e = exp_m1_f64(x.abs() as f64);
    ((0.5 * (e + e / (e + 1.0))) as f32).copysign(x)
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let e = exp_f64(x as f64);
    (0.5 * (e + 1.0 / e)) as f32
}

#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    (1.0 / (1.0 + exp_f64(-(x as f64)))) as f32
}

#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let t = (x.abs() as f64).clamp(0.0, 4.0);
    ((t * polynomial(t * t * 0.125 - 1.0, ERF)) as f32).copysign(x)
}

/// erf(t) / t on [0, 4], from where on erf rounds to 1, as a polynomial of t^2 / 8 - 1.
const ERF: [f64; 20] = [
    0.353_530_995_619_542_15,
    -0.176_576_233_293_289_2,
    0.131_675_121_664_620_25,
    -0.107_710_444_144_103_02,
    0.090_208_837_144_940_14,
    -0.074_727_812_570_748_41,
    0.059_888_903_555_390_775,
    -0.045_765_787_725_826_12,
    0.033_047_750_256_227_79,
    -0.022_469_199_937_727_33,
    0.014_397_091_965_097_183,
    -0.008_622_341_358_686_591,
    0.004_747_639_199_370_201_5,
    -0.002_542_221_220_615_407_3,
    0.001_437_215_931_261_307_2,
    -0.000_662_219_496_646_136_3,
    0.000_158_769_619_675_278_5,
    -7.775_892_249_416_875e-05,
    9.725_663_769_924_159e-05,
    -3.556_679_578_581_066_6e-05,
];

/// Where three-part reduction by pi/2 ends: multiples up to 2^20.
const REDUCIBLE: f32 = 1_600_000.0;

/// Sine and cosine of `|x| <= REDUCIBLE`.
#[inline(always)]
fn sin_cos(x: f32) -> (f64, f64) {
    let x = x as f64;
    let shifted = x * FRAC_2_PI + TO_INTEGER;
    let k = shifted - TO_INTEGER;
    let quadrant = shifted.to_bits();
    // The first part has 32 bits, so its product with k is exact.
    let r = (x - k * 1.570_796_326_734_125_6) - k * 6.077_100_506_506_192e-11;
    let z = r * r;
    let sin = polynomial(
        z,
        [
            -0.166_666_666_666_638_85,
            0.008_333_333_331_078_323,
            -0.000_198_412_669_161_106_33,
            2.755_599_066_472_897e-6,
            -2.480_561_171_121_246_7e-8,
        ],
    );
    let cos = polynomial(
        z,
        [
            -0.499_999_999_999_638_7,
            0.041_666_666_637_384_39,
            -0.001_388_888_509_026_289_5,
            0.000_024_799_861_846_361_45,
            -2.723_710_857_624_508_5e-7,
        ],
    );
    let (sin, cos) = (r + r * z * sin, 1.0 + z * cos);
    let (s, c) = if quadrant & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let s = f64::from_bits(s.to_bits() ^ ((quadrant & 2) << 62));
    let c = f64::from_bits(c.to_bits() ^ ((quadrant.wrapping_add(1) & 2) << 62));
    (s, c)
}

/// Whether the vectorised sine and cosine are right for `x`; infinities and NaN go the slow way too.
#[inline(always)]
pub fn reducible(x: f32) -> bool {
    x.abs() <= REDUCIBLE
}

/// For `reducible` arguments.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    // The reduction loses the sign of zero.
    if x == 0.0 { x } else { sin_cos(x).0 as f32 }
}

/// For `reducible` arguments.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    sin_cos(x).1 as f32
}

/// For `reducible` arguments.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (s, c) = sin_cos(x);
    if x == 0.0 { x } else { (s / c) as f32 }
}

/// C's `pow`.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let (x, y) = (x as f64, y as f64);
    let size = x.abs();
    // Beyond 300 the result is an infinity or zero; the clamp also stops products that overflow f64.
    let value = exp_f64((y * ln_f64(size)).clamp(-300.0, 300.0));
    let value = if y == 2.0 { x * x } else { value };
    // 1^inf: a logarithm of 0 times infinity.
    let value = if (size == 1.0) & !y.is_nan() { 1.0 } else { value };
    let half = 0.5 * y;
    let integer = y.trunc() == y;
    let odd = integer & (half.trunc() != half);
    let signed = if odd { value.copysign(x) } else { value };
    let domain = integer | (x >= 0.0) | (size == 0.0) | (size == f64::INFINITY) | x.is_nan();
    let signed = if domain { signed } else { f64::NAN };
    // After NaN: NaN^0 and 1^NaN are 1.
    (if (y == 0.0) | (x == 1.0) { 1.0 } else { signed }) as f32
}

/// Quotients up to this have exact products with any divisor in f64.
const COUNTABLE: f64 = (1u32 << 28) as f64;

/// Whether [`fast_modulo`] is right for these numbers; infinities, NaN and a divisor of 0 go the slow way too.
#[inline(always)]
pub fn countable(a: f32, b: f32) -> bool {
    ((a as f64 / b as f64).abs() <= COUNTABLE) & b.is_finite()
}

/// C's `fmod` of `countable` numbers.
#[inline(always)]
pub fn fast_modulo(a: f32, b: f32) -> f32 {
    let (x, y) = (a as f64, b as f64);
    let r = x - (x / y).trunc() * y;
    // The quotient was rounded up to an integer.
    let r = if (r != 0.0) & ((r < 0.0) != (x < 0.0)) { r + y.abs().copysign(x) } else { r };
    (r as f32).copysign(a)
}

/// C's `fmod`.
#[inline(always)]
pub fn modulo(a: f32, b: f32) -> f32 {
    a % b
}

/// The remainder with the sign of the divisor, of the one with that of the dividend; exact where
/// `a - floor(a / b) * b` would round.
#[inline(always)]
pub fn floored(r: f32, b: f32) -> f32 {
    if r == 0.0 {
        r.copysign(b)
    } else if (r < 0.0) != (b < 0.0) {
        r + b
    } else {
        r
    }
}
