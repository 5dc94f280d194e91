//! Elements some of whose bits are flipped, so that the largest with a sign is the one that is looked for.

use crate::kernels::element::Element;

/// An element type with a sign.
pub trait Flipped: Element {
    /// The number of these bits, of which those of its width count.
    fn from_bits_of(bits: u64) -> Self;
    /// This number with the bits flipped that are set in `flip`.
    fn flipped(self, flip: Self) -> Self;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Flipped for $t {
            #[inline(always)]
            fn from_bits_of(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn flipped(self, flip: Self) -> Self {
                self ^ flip
            }
        }
    )*};
}
integers!(i8 i16 i32 i64);

impl Flipped for f32 {
    #[inline(always)]
    fn from_bits_of(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    #[inline(always)]
    fn flipped(self, flip: Self) -> Self {
        Self::from_bits(self.to_bits() ^ flip.to_bits())
    }
}
