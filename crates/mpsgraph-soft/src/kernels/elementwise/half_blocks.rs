//! Blocks of floats in registers, for loops that convert 16-bit floats as they read and write them.
//!
//! There is one kind of block for each instruction set that loops are compiled for: of a loop over arrays that decides
//! for each block what to do, the compiler makes no vector instructions. The results are those of
//! [`round`](super::round), bit by bit.

use super::float::{larger_or_nan, smaller_or_nan};
use super::math::flushed;
use super::round::bf16_bits;
use super::stepped::{BLOCK, Step};
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
pub trait Convert<Float>: Block {
    unsafe fn widen(from: *const u8) -> Self;
    unsafe fn narrow(x: Self, to: *mut u8);
    unsafe fn round(x: Self) -> Self;
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

/// By AVX-512.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BF16, Block, Convert, F16, Step};
    use std::arch::x86_64::*;

    /// The integers have what [`bf16_bits`](super::bf16_bits) gives in their upper halves.
    ///
    /// # Safety
    /// The processor must have AVX-512.
    #[inline(always)]
    unsafe fn rounded(x: __m512) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let full = _mm512_castps_si512(x);
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(full), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(full, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            _mm512_mask_or_epi32(rounded, nan, full, _mm512_set1_epi32(0x0040_0000))
        }
    }

    /// `x`, or `other` where that is NaN. The processor's minimum and maximum are their second operand if one is NaN.
    ///
    /// # Safety
    /// The processor must have AVX-512.
    #[inline(always)]
    unsafe fn or_nan(x: __m512, other: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(other, other), other) }
    }

    block!(Block, __m512 {
        const MANY: bool = true;

        fn load(from: *const u8) -> Self {
            _mm512_loadu_ps(from.cast())
        }

        fn store(x: Self, to: *mut u8) {
            _mm512_storeu_ps(to.cast(), x);
        }

        fn splat(x: f32) -> Self {
            _mm512_set1_ps(x)
        }

        fn apply(step: Step, a: Self, b: Self) -> Self {
            match step {
                Step::Add => _mm512_add_ps(a, b),
                Step::Sub => _mm512_sub_ps(a, b),
                Step::SubFrom => _mm512_sub_ps(b, a),
                Step::Mul => _mm512_mul_ps(a, b),
                Step::Div => _mm512_div_ps(a, b),
                Step::Root => _mm512_sqrt_ps(a),
                Step::Min => or_nan(_mm512_min_ps(a, b), a),
                Step::Max => or_nan(_mm512_max_ps(a, b), a),
            }
        }

        fn flush(x: Self) -> Self {
            let bits = _mm512_castps_si512(x);
            let small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f80_0000));
            _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, small, bits, _mm512_set1_epi32(i32::MIN)))
        }
    });

    block!(Convert<F16>, __m512 {
        fn widen(from: *const u8) -> Self {
            _mm512_cvtph_ps(_mm256_loadu_si256(from.cast()))
        }

        fn narrow(x: Self, to: *mut u8) {
            _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x));
        }

        fn round(x: Self) -> Self {
            _mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x))
        }
    });

    block!(Convert<BF16>, __m512 {
        fn widen(from: *const u8) -> Self {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        }

        fn narrow(x: Self, to: *mut u8) {
            let bits = _mm512_srli_epi32::<16>(rounded(x));
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(bits));
        }

        fn round(x: Self) -> Self {
            let upper = _mm512_set1_epi32(0xffff_0000_u32.cast_signed());
            _mm512_castsi512_ps(_mm512_and_si512(rounded(x), upper))
        }
    });
}

/// By AVX2 and the conversions that processors with it have.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use super::{BF16, Block, Convert, F16, Step};
    use std::arch::x86_64::*;

    /// The halves of a block.
    pub type Halves = [__m256; 2];

    /// Bytes of half a block of f32, and of 16-bit floats.
    const WIDE: usize = size_of::<__m256>();
    const NARROW: usize = WIDE / 2;

    /// As that of AVX-512.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    unsafe fn rounded(x: __m256) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let full = _mm256_castps_si256(x);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(full), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(full, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
            let quiet = _mm256_or_si256(full, _mm256_set1_epi32(0x0040_0000));
            let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
            _mm256_blendv_epi8(rounded, quiet, nan)
        }
    }

    /// As that of AVX-512.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    unsafe fn or_nan(x: __m256, other: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_blendv_ps(x, other, _mm256_cmp_ps::<_CMP_UNORD_Q>(other, other)) }
    }

    /// As [`flushed`](super::flushed).
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    unsafe fn flushed(x: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe {
            let exponent = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7f80_0000));
            let small = _mm256_castsi256_ps(_mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()));
            _mm256_andnot_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0), small), x)
        }
    }

    block!(Block, Halves {
        fn load(from: *const u8) -> Self {
            [_mm256_loadu_ps(from.cast()), _mm256_loadu_ps(from.add(WIDE).cast())]
        }

        fn store(x: Self, to: *mut u8) {
            _mm256_storeu_ps(to.cast(), x[0]);
            _mm256_storeu_ps(to.add(WIDE).cast(), x[1]);
        }

        fn splat(x: f32) -> Self {
            [_mm256_set1_ps(x); 2]
        }

        fn apply(step: Step, a: Self, b: Self) -> Self {
            match step {
                Step::Add => [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])],
                Step::Sub => [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])],
                Step::SubFrom => [_mm256_sub_ps(b[0], a[0]), _mm256_sub_ps(b[1], a[1])],
                Step::Mul => [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])],
                Step::Div => [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])],
                Step::Root => [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])],
                Step::Min => [or_nan(_mm256_min_ps(a[0], b[0]), a[0]), or_nan(_mm256_min_ps(a[1], b[1]), a[1])],
                Step::Max => [or_nan(_mm256_max_ps(a[0], b[0]), a[0]), or_nan(_mm256_max_ps(a[1], b[1]), a[1])],
            }
        }

        fn flush(x: Self) -> Self {
            [flushed(x[0]), flushed(x[1])]
        }
    });

    block!(Convert<F16>, Halves {
        fn widen(from: *const u8) -> Self {
            let half = |from: *const u8| _mm256_cvtph_ps(_mm_loadu_si128(from.cast()));
            [half(from), half(from.add(NARROW))]
        }

        fn narrow(x: Self, to: *mut u8) {
            let half = |x| _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
            _mm_storeu_si128(to.cast(), half(x[0]));
            _mm_storeu_si128(to.add(NARROW).cast(), half(x[1]));
        }

        fn round(x: Self) -> Self {
            let half = |x| _mm256_cvtph_ps(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x));
            [half(x[0]), half(x[1])]
        }
    });

    block!(Convert<BF16>, Halves {
        fn widen(from: *const u8) -> Self {
            let half = |from: *const u8| {
                let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
            };
            [half(from), half(from.add(NARROW))]
        }

        fn narrow(x: Self, to: *mut u8) {
            let low = _mm256_srli_epi32::<16>(rounded(x[0]));
            let high = _mm256_srli_epi32::<16>(rounded(x[1]));
            // Pairs of lanes of both halves, then in their order.
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(low, high));
            _mm256_storeu_si256(to.cast(), packed);
        }

        fn round(x: Self) -> Self {
            let upper = _mm256_set1_epi32(0xffff_0000_u32.cast_signed());
            let [low, high] = [rounded(x[0]), rounded(x[1])];
            [_mm256_castsi256_ps(_mm256_and_si256(low, upper)), _mm256_castsi256_ps(_mm256_and_si256(high, upper))]
        }
    });
}
