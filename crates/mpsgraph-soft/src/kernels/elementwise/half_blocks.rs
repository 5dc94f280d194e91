//! Blocks of 16-bit floats as f32 and back, for loops that convert what they read and write.
//!
//! They are functions that become a part of the loop, so there is one for each instruction set that loops are compiled
//! for; the compiler does not make vector instructions of them by itself. The results are those of
//! [`round`](super::round), bit by bit.

use super::round::bf16_bits;
use super::stepped::BLOCK;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// A block of 16-bit floats.
pub type Bits = [u16; BLOCK];
/// The same as f32.
pub type Wide = [f32; BLOCK];

/// Both conversions.
pub struct Convert<W: Fn(&Bits) -> Wide, N: Fn(&Wide) -> Bits> {
    pub widen: W,
    pub narrow: N,
}

/// Of f16 on any processor.
pub fn f16() -> Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits> {
    let widen = |bits: &Bits| {
        let mut wide = [0.0; BLOCK];
        bits.reinterpret_cast::<half::f16>().convert_to_f32_slice(&mut wide);
        wide
    };
    let narrow = |wide: &Wide| {
        let mut bits = [0; BLOCK];
        bits.reinterpret_cast_mut::<half::f16>().convert_from_f32_slice(wide);
        bits
    };
    Convert { widen, narrow }
}

/// Of bf16 on any processor.
pub fn bf16() -> Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits> {
    let widen = |bits: &Bits| {
        let mut wide = [0.0; BLOCK];
        for (wide, &bits) in wide.iter_mut().zip(bits) {
            *wide = f32::from_bits((bits as u32) << 16);
        }
        wide
    };
    let narrow = |wide: &Wide| {
        let mut bits = [0; BLOCK];
        for (bits, &wide) in bits.iter_mut().zip(wide) {
            *bits = (bf16_bits(wide) >> 16) as u16;
        }
        bits
    };
    Convert { widen, narrow }
}

/// By AVX-512.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use super::{BLOCK, Bits, Wide};
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn widen_f16(bits: &Bits) -> Wide {
        let mut wide = [0.0; BLOCK];
        // SAFETY: both arrays have the bytes of a register; these instructions need no alignment.
        unsafe { _mm512_storeu_ps(wide.as_mut_ptr(), _mm512_cvtph_ps(_mm256_loadu_si256(bits.as_ptr().cast()))) };
        wide
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn narrow_f16(wide: &Wide) -> Bits {
        let mut bits = [0; BLOCK];
        // SAFETY: as above.
        unsafe {
            let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(wide.as_ptr()));
            _mm256_storeu_si256(bits.as_mut_ptr().cast(), halves);
        }
        bits
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn widen_bf16(bits: &Bits) -> Wide {
        let mut wide = [0.0; BLOCK];
        // SAFETY: as above.
        unsafe {
            let halves = _mm512_cvtepu16_epi32(_mm256_loadu_si256(bits.as_ptr().cast()));
            _mm512_storeu_si512(wide.as_mut_ptr().cast(), _mm512_slli_epi32::<16>(halves));
        }
        wide
    }

    /// As [`bf16_bits`](super::bf16_bits) does.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn narrow_bf16(wide: &Wide) -> Bits {
        let mut bits = [0; BLOCK];
        // SAFETY: as above.
        let x = unsafe { _mm512_loadu_ps(wide.as_ptr()) };
        let full = _mm512_castps_si512(x);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(full), _mm512_set1_epi32(1));
        let rounded = _mm512_add_epi32(full, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        let rounded = _mm512_mask_or_epi32(rounded, nan, full, _mm512_set1_epi32(0x0040_0000));
        let halves = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(rounded));
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(bits.as_mut_ptr().cast(), halves) };
        bits
    }
}

/// By AVX2 and the conversions that processors with it have.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use super::{BLOCK, Bits, Wide};
    use std::arch::x86_64::*;

    /// Elements of a register of f32.
    const LANES: usize = 8;

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub fn widen_f16(bits: &Bits) -> Wide {
        let mut wide = [0.0; BLOCK];
        for (wide, bits) in wide.as_chunks_mut::<LANES>().0.iter_mut().zip(bits.as_chunks::<LANES>().0) {
            // SAFETY: both parts have the bytes of a register; these instructions need no alignment.
            unsafe { _mm256_storeu_ps(wide.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(bits.as_ptr().cast()))) };
        }
        wide
    }

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub fn narrow_f16(wide: &Wide) -> Bits {
        let mut bits = [0; BLOCK];
        for (bits, wide) in bits.as_chunks_mut::<LANES>().0.iter_mut().zip(wide.as_chunks::<LANES>().0) {
            // SAFETY: as above.
            unsafe {
                let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(wide.as_ptr()));
                _mm_storeu_si128(bits.as_mut_ptr().cast(), halves);
            }
        }
        bits
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn widen_bf16(bits: &Bits) -> Wide {
        let mut wide = [0.0; BLOCK];
        for (wide, bits) in wide.as_chunks_mut::<LANES>().0.iter_mut().zip(bits.as_chunks::<LANES>().0) {
            // SAFETY: as above.
            unsafe {
                let halves = _mm256_cvtepu16_epi32(_mm_loadu_si128(bits.as_ptr().cast()));
                _mm256_storeu_si256(wide.as_mut_ptr().cast(), _mm256_slli_epi32::<16>(halves));
            }
        }
        wide
    }

    /// As [`bf16_bits`](super::bf16_bits) does.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn narrow_bf16(wide: &Wide) -> Bits {
        let mut bits = [0; BLOCK];
        for (bits, wide) in bits.as_chunks_mut::<LANES>().0.iter_mut().zip(wide.as_chunks::<LANES>().0) {
            // SAFETY: as above.
            let x = unsafe { _mm256_loadu_ps(wide.as_ptr()) };
            let full = _mm256_castps_si256(x);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(full), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(full, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
            let quiet = _mm256_or_si256(full, _mm256_set1_epi32(0x0040_0000));
            let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
            let upper = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, nan));
            let halves = _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256::<1>(upper));
            // SAFETY: as above.
            unsafe { _mm_storeu_si128(bits.as_mut_ptr().cast(), halves) };
        }
        bits
    }
}
