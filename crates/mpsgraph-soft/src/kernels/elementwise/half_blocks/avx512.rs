//! Blocks in a register of AVX-512.
//!
//! A block is 16 numbers of f32. The processor converts f16 itself; bf16 is rounded by integers, or by an instruction
//! where there is one ([`RoundedBf16`]). Results are those of the portable blocks: a NaN stays one when it is rounded,
//! and minimum and maximum give the first NaN.

use super::{BF16, Block, Convert, F16, Step};
use std::arch::x86_64::*;

/// The integers have what [`bf16_bits`](crate::kernels::element::bf16_bits) gives in their upper halves.
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
    const ROUNDING_FLUSHES: bool = true;

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

/// bf16 where the processor has an instruction that rounds to it. The instruction makes zeros of subnormal numbers,
/// which is right for products and quotients only; other blocks that hold such numbers are rounded by integers.
pub struct RoundedBf16;

/// Whether some of the numbers are subnormal.
///
/// # Safety
/// The processor must have AVX-512.
#[inline(always)]
unsafe fn has_subnormals(x: __m512) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _mm512_fpclass_ps_mask::<0x20>(x) != 0 }
}

block!(Convert<RoundedBf16>, __m512 {
    fn widen(from: *const u8) -> Self {
        <Self as Convert<BF16>>::widen(from)
    }

    fn narrow(x: Self, to: *mut u8) {
        if has_subnormals(x) {
            return <Self as Convert<BF16>>::narrow(x, to);
        }
        <Self as Convert<RoundedBf16>>::narrow_flushed(x, to);
    }

    fn round(x: Self) -> Self {
        if has_subnormals(x) {
            return <Self as Convert<BF16>>::round(x);
        }
        <Self as Convert<RoundedBf16>>::round_flushed(x)
    }

    fn narrow_flushed(x: Self, to: *mut u8) {
        to.cast::<__m256bh>().write_unaligned(_mm512_cvtneps_pbh(x));
    }

    fn round_flushed(x: Self) -> Self {
        let bits: __m256bh = _mm512_cvtneps_pbh(x);
        <Self as Convert<BF16>>::widen((&raw const bits).cast())
    }
});
