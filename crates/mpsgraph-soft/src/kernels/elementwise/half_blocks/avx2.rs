//! Blocks in two registers of AVX2, with the conversions that processors with it have.

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
    const ROUNDING_FLUSHES: bool = true;

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
