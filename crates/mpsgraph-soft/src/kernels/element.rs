//! What the kernels need to know of a number: constants, arithmetic of one step, NaN, and 16-bit conversions.
//!
//! Integers wrap, a zero divisor gives 0. Floats are computed in f32 and rounded to their own width at every step. The
//! conversions have no branches so that loops over them vectorise; they agree with `half` bit for bit, except for the
//! payload of a NaN.

use bytemuck::Pod;
use half::{bf16, f16};

/// An element type of tensors other than bool, which the kernels read as `u8` of 0 and 1.
pub trait Element: Pod + Send + Sync + PartialOrd + std::fmt::Debug {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Nothing is smaller: the least integer or negative infinity.
    const LOWEST: Self;
    /// Nothing is larger: the largest integer or infinity.
    const HIGHEST: Self;
    /// Whether loops over this type are worth a copy for wider vector registers.
    const COMMON: bool;
    /// Whether sums, products and extremes do not depend on the order of what they are of.
    const ANY_ORDER: bool;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`; integers truncate, and give 0 for a zero divisor.
    fn div(self, other: Self) -> Self;
    /// Whether this is a NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    /// This number, or a NaN if `other` is one: a choice between both would take an extreme apart, which is one
    /// instruction, into a comparison and a choice of its own.
    #[inline(always)]
    fn or_nan(self, _other: Self) -> Self {
        self
    }
    /// This number, or a positive NaN if one of two others is a NaN, which is a single comparison. What is sorted then
    /// has NaNs last, whatever their signs were.
    #[inline(always)]
    fn or_nan_of(self, _others: [Self; 2]) -> Self {
        self
    }
}

/// An element type with fractions.
pub trait Float: Element {
    /// Whether this is f32 itself, so that results may pass through memory of this type without losing anything.
    const IS_F32: bool;
    /// Exact.
    fn to_f32(self) -> f32;
    /// Rounded to nearest, ties to even.
    fn from_f32(value: f32) -> Self;
}

macro_rules! integer {
    ($($t:ident)*, common: $common:expr) => {$(
        impl Element for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            const COMMON: bool = $common;
            const ANY_ORDER: bool = true;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}
// u8 is bool, too.
integer!(i8 i32 i64, common: true);
integer!(u8 u32 u64, common: true);
integer!(i16, common: false);
integer!(u16, common: false);

macro_rules! float {
    ($t:ident, $one:expr, $lowest:expr, $highest:expr, inline: $inline:ident) => {
        impl Element for $t {
            const ZERO: Self = $t::from_bits(0);
            const ONE: Self = $one;
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;
            const COMMON: bool = <$t as Float>::IS_F32;
            const ANY_ORDER: bool = false;
            #[inline(always)]
            fn or_nan(self, other: Self) -> Self {
                self.or_nan_of([other; 2])
            }
            #[inline(always)]
            fn or_nan_of(self, [a, b]: [Self; 2]) -> Self {
                if a.is_nan() | b.is_nan() { $t::NAN } else { self }
            }
            #[inline($inline)]
            fn add(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) + Float::to_f32(other))
            }
            #[inline($inline)]
            fn sub(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) - Float::to_f32(other))
            }
            #[inline($inline)]
            fn mul(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) * Float::to_f32(other))
            }
            #[inline($inline)]
            fn div(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) / Float::to_f32(other))
            }
        }
    };
}
float!(f32, 1.0, f32::NEG_INFINITY, f32::INFINITY, inline: always);
// Most graphs cast to f32 before they compute, so loops over these types run seldom. They call the steps instead of
// inlining them, because inlined conversions would be most of what there is to compile.
float!(f16, f16::ONE, f16::NEG_INFINITY, f16::INFINITY, inline: never);
float!(bf16, bf16::ONE, bf16::NEG_INFINITY, bf16::INFINITY, inline: never);

impl Float for f32 {
    const IS_F32: bool = true;
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        value
    }
}

impl Float for bf16 {
    const IS_F32: bool = false;
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        bf16::from_bits((bf16_bits(value) >> 16) as u16)
    }
}

/// The bits of the f32 whose upper half is `x` as bf16.
#[inline(always)]
pub fn bf16_bits(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    // A NaN keeps its upper bits, made quiet: adding would carry it into infinity or zero.
    (if x.is_nan() { bits | 0x0040_0000 } else { rounded }) & 0xffff_0000
}

impl Float for f16 {
    const IS_F32: bool = false;
    #[inline(always)]
    fn to_f32(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = bits & 0x7fff;
        // The exponent moves to f32's place and bias; infinity and NaN move on to f32's highest.
        let normal = (magnitude << 13) + (112 << 23);
        let normal = if magnitude >= 0x7c00 { normal + (112 << 23) } else { normal };
        // Computed as an integer, because arithmetic on f32 denormals would be some hundred times slower.
        let denormal = magnitude as i32 as f32 * (1.0 / (1 << 24) as f32);
        let absolute = if magnitude < 0x400 { denormal.to_bits() } else { normal };
        f32::from_bits(absolute | ((bits & 0x8000) << 16))
    }
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        const OVERFLOW: u32 = (127 + 16) << 23;
        const LEAST_NORMAL: u32 = (127 - 14) << 23;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let sign = (value.to_bits() >> 16) & 0x8000;
        // Adding 0.5 leaves the bits of a denormal result, rounded, at the low end of the sum.
        let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let rounding = 0xfff + ((magnitude >> 13) & 1);
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(rounding) >> 13;
        let finite = if magnitude < LEAST_NORMAL { denormal } else { normal };
        let special = if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
        let bits = if magnitude >= OVERFLOW { special } else { finite };
        f16::from_bits((bits | sign) as u16)
    }
}

#[cfg(test)]
mod tests;
