//! Blocks of floats in registers, for loops that convert 16-bit floats as they read and write them.
//!
//! There is one kind of block for each instruction set that loops are compiled for: of a loop over arrays that decides
//! for each block what to do, the compiler makes no vector instructions. The results are those of
//! [`round`](super::round), bit by bit.

use super::float::{larger_or_nan, smaller_or_nan};
use super::math::flushed;
use super::stepped::{BLOCK, Step};
use crate::kernels::element::bf16_bits;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// A block of 16-bit floats in memory.
type Bits = [u16; BLOCK];
/// A block of f32 in memory, and in registers where nothing is known of the processor.
pub type Wide = [f32; BLOCK];

/// The 16-bit floats, as types.
pub struct F16;
pub struct BF16;

/// A block of f32 in registers.
///
/// # Safety
/// Of all functions here and in [`Convert`]: the processor must have the block's instructions, and there must be a
/// block at a pointer, which may be at any address.
pub trait Block: Copy {
    /// Whether there are 32 registers that hold a block each.
    const MANY: bool = false;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(x: Self, to: *mut u8);
    /// The number in each place.
    unsafe fn splat(x: f32) -> Self;
    unsafe fn apply(step: Step, a: Self, b: Self) -> Self;
    /// As [`flushed`].
    unsafe fn flush(x: Self) -> Self;
}

/// Conversions of 16-bit floats in memory.
pub trait Convert<Format>: Block {
    /// Whether rounding and narrowing make zeros, with their signs, of all that is [flushed](Block::flush): where it is
    /// far below the smallest number of these floats.
    const ROUNDING_FLUSHES: bool = false;
    unsafe fn widen(from: *const u8) -> Self;
    unsafe fn narrow(x: Self, to: *mut u8);
    unsafe fn round(x: Self) -> Self;

    /// Narrows what is [flushed](Block::flush) before.
    #[inline(always)]
    unsafe fn narrow_flushed(x: Self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { Self::narrow(if Self::ROUNDING_FLUSHES { x } else { Self::flush(x) }, to) }
    }

    /// Rounds what is [flushed](Block::flush) before.
    #[inline(always)]
    unsafe fn round_flushed(x: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::round(if Self::ROUNDING_FLUSHES { x } else { Self::flush(x) }) }
    }
}

/// Functions that become a part of the loop, with its instructions.
macro_rules! block {
    ($of:path, $block:ty {
        $(const $constant:ident: $type:ty = $value:expr;)?
        $(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)? $body:block)*
    }) => {
        impl $of for $block {
            $(const $constant: $type = $value;)?
            $(#[inline(always)]
            unsafe fn $name($($arg: $ty),*) $(-> $result)? {
                #[allow(unused_unsafe, reason = "some functions of arrays have nothing unsafe")]
                // SAFETY: the promise of `Block`'s functions.
                unsafe { $body }
            })*
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;

block!(Block, Wide {
    fn load(from: *const u8) -> Self {
        from.cast::<Self>().read_unaligned()
    }

    fn store(x: Self, to: *mut u8) {
        to.cast::<Self>().write_unaligned(x);
    }

    fn splat(x: f32) -> Self {
        [x; BLOCK]
    }

    fn apply(step: Step, a: Self, b: Self) -> Self {
        let each = |of: fn(f32, f32) -> f32| std::array::from_fn(|at| of(a[at], b[at]));
        match step {
            Step::Add => each(|a, b| a + b),
            Step::Sub => each(|a, b| a - b),
            Step::SubFrom => each(|a, b| b - a),
            Step::Mul => each(|a, b| a * b),
            Step::Div => each(|a, b| a / b),
            Step::Root => a.map(f32::sqrt),
            Step::Min => each(smaller_or_nan),
            Step::Max => each(larger_or_nan),
        }
    }

    fn flush(x: Self) -> Self {
        x.map(flushed)
    }
});

block!(Convert<F16>, Wide {
    const ROUNDING_FLUSHES: bool = true;

    fn widen(from: *const u8) -> Self {
        let mut wide = [0.0; BLOCK];
        from.cast::<Bits>().read_unaligned().reinterpret_cast::<half::f16>().convert_to_f32_slice(&mut wide);
        wide
    }

    fn narrow(x: Self, to: *mut u8) {
        let mut bits: Bits = [0; BLOCK];
        bits.reinterpret_cast_mut::<half::f16>().convert_from_f32_slice(&x);
        to.cast::<Bits>().write_unaligned(bits);
    }

    fn round(x: Self) -> Self {
        let mut bits: Bits = [0; BLOCK];
        <Self as Convert<F16>>::narrow(x, bits.as_mut_ptr().cast());
        <Self as Convert<F16>>::widen(bits.as_ptr().cast())
    }
});

block!(Convert<BF16>, Wide {
    fn widen(from: *const u8) -> Self {
        from.cast::<Bits>().read_unaligned().map(|bits| f32::from_bits((bits as u32) << 16))
    }

    fn narrow(x: Self, to: *mut u8) {
        to.cast::<Bits>().write_unaligned(x.map(|x| (bf16_bits(x) >> 16) as u16));
    }

    fn round(x: Self) -> Self {
        x.map(|x| f32::from_bits(bf16_bits(x)))
    }
});
