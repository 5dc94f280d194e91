//! Elements some of whose bits are flipped, so that the largest with a sign is the one that is looked for, and the keys
//! by which they are compared.

use crate::kernels::element::Element;

/// An element type with a sign.
pub trait Flipped: Element {
    /// A number that is compared as this one is after bits were flipped, and never a NaN.
    type Key: Copy + PartialOrd;
    /// The smallest key.
    const LOWEST_KEY: Self::Key;
    /// The number of these bits, of which those of its width count.
    fn from_bits_of(bits: u64) -> Self;
    /// This number with the bits flipped that are set in `flip`.
    fn flipped(self, flip: Self) -> Self;
    /// The key of this element. A NaN has the largest key or, if it is never chosen, the lowest.
    fn key<const OR_NAN: bool>(self, flip: Self) -> Self::Key;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Flipped for $t {
            type Key = Self;
            const LOWEST_KEY: Self = Self::MIN;
            #[inline(always)]
            fn from_bits_of(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn flipped(self, flip: Self) -> Self {
                self ^ flip
            }
            #[inline(always)]
            fn key<const OR_NAN: bool>(self, flip: Self) -> Self {
                self.flipped(flip)
            }
        }
    )*};
}
integers!(i8 i16 i32 i64);

impl Flipped for f32 {
    type Key = i32;
    const LOWEST_KEY: i32 = i32::MIN;
    #[inline(always)]
    fn from_bits_of(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    #[inline(always)]
    fn flipped(self, flip: Self) -> Self {
        Self::from_bits(self.to_bits() ^ flip.to_bits())
    }
    #[inline(always)]
    fn key<const OR_NAN: bool>(self, flip: Self) -> i32 {
        // Both zeros are the positive one. Of negative numbers, which have the sign, those with more other bits are
        // smaller.
        let bits = (self.flipped(flip) + 0.0).to_bits().cast_signed();
        let key = bits ^ ((bits >> 31) & i32::MAX);
        if self.is_nan() { if OR_NAN { i32::MAX } else { i32::MIN } } else { key }
    }
}
