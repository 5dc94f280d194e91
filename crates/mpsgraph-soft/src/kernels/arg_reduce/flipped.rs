//! Elements some of whose bits are flipped, so that the largest with a sign is the one that is looked for, and the keys
//! by which they are compared.

use crate::ir::DType;
use crate::kernels::element::Element;
use serde::{Deserialize, Serialize};

/// Which of the numbers is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Extreme {
    Largest,
    Smallest,
}

impl Extreme {
    /// The bits to flip of each element, so that the position is that of the largest number with a sign.
    pub(super) fn bits_to_flip(self, dtype: DType) -> u64 {
        let sign = 1 << (8 * dtype.size() - 1);
        let [of_largest, of_smallest] = match dtype {
            DType::F32 | DType::F16 | DType::BF16 => [0, sign],
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => [0, !0],
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => [sign, !sign],
        };
        match self {
            Extreme::Largest => of_largest,
            Extreme::Smallest => of_smallest,
        }
    }
}

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
