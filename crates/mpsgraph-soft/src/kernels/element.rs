//! What the kernels need to know of a number: constants, arithmetic of one step, NaN, and 16-bit conversions.
//!
//! Integers wrap, a zero divisor gives 0. Floats are computed in f32 and rounded to their own width at every step.
//! The conversions have no branches so that loops over them vectorise; they agree with `half` bit for bit but for
//! the payload of a NaN.

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
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`; integers truncate, and give 0 for a zero divisor.
    fn div(self, other: Self) -> Self;
    /// `self / count`, truncated for integers, whether or not `count` is a value of this type.
    fn div_count(self, count: usize) -> Self;
    /// Whether this is a NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
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
            fn div_count(self, count: usize) -> Self {
                // Every value of the type and every count fit i128, and the quotient fits the type again.
                (self as i128 / count as i128) as $t
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}
// u8 is bool, too.
integer!(i32 u8 u32, common: true);
integer!(i8 i16 i64 u16 u64, common: false);

macro_rules! float {
    ($t:ident, $one:expr, $lowest:expr, $highest:expr) => {
        impl Element for $t {
            const ZERO: Self = $t::from_bits(0);
            const ONE: Self = $one;
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;
            const COMMON: bool = <$t as Float>::IS_F32;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) + Float::to_f32(other))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) - Float::to_f32(other))
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) * Float::to_f32(other))
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) / Float::to_f32(other))
            }
            #[inline(always)]
            fn div_count(self, count: usize) -> Self {
                <$t as Float>::from_f32(Float::to_f32(self) / count as f32)
            }
        }
    };
}
float!(f32, 1.0, f32::NEG_INFINITY, f32::INFINITY);
float!(f16, f16::ONE, f16::NEG_INFINITY, f16::INFINITY);
float!(bf16, bf16::ONE, bf16::NEG_INFINITY, bf16::INFINITY);

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
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
        // A NaN keeps its upper bits, made quiet: adding would carry it into infinity or zero.
        let bits = if value.is_nan() { bits | 0x40_0000 } else { rounded };
        bf16::from_bits((bits >> 16) as u16)
    }
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
        // By way of an integer: arithmetic on f32 denormals would be some hundred times slower.
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
mod tests {
    use super::*;

    #[test]
    fn f16_converts_like_half() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (Float::to_f32(f16::from_bits(bits)), f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:#x}");
        }
    }

    #[test]
    fn bf16_converts_like_half() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (Float::to_f32(bf16::from_bits(bits)), bf16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:#x}");
        }
    }

    #[test]
    fn f32_rounds_like_half() {
        // A stride prime to 2^32 visits every exponent and sign many times; the offsets visit halves and neighbours.
        let strided = (0..1u32 << 20).map(|i| i.wrapping_mul(2_654_435_769));
        let halves = (0..=u16::MAX).flat_map(|h| (0..3).map(move |o| ((u32::from(h) << 16) | 0x8000) + o - 1));
        let f16_halves = (0..0x8000u32).flat_map(|h| (0..3).map(move |o| (h << 13) + (100 << 23) + 0x1000 + o - 1));
        for bits in strided.chain(halves).chain(f16_halves) {
            let x = f32::from_bits(bits);
            let (ours, theirs) = (<f16 as Float>::from_f32(x), f16::from_f32(x));
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "f16 {bits:#x}");
            let (ours, theirs) = (<bf16 as Float>::from_f32(x), bf16::from_f32(x));
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "bf16 {bits:#x}");
        }
    }

    #[test]
    fn integers_wrap_and_divide_by_zero_to_zero() {
        assert_eq!(i8::MAX.add(1), i8::MIN);
        assert_eq!(Element::div(i32::MIN, -1), i32::MIN);
        assert_eq!(Element::div(7u16, 0), 0);
        assert_eq!((-7i8).div_count(300), 0);
        assert_eq!((-7i64).div_count(2), -3);
    }
}
