//! Conversions of tiles between f16 and f32 by the instructions that most x86-64 processors have for them.

use super::tile::TileFn;

/// The loops that widen, narrow and round a tile, if this processor has the instructions.
pub fn loops() -> Option<[TileFn; 3]> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("f16c") {
        return Some([by_processor::widen, by_processor::narrow, by_processor::round]);
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod by_processor {
    use half::f16;
    use std::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, _mm256_cvtps_ph,
        _mm256_loadu_ps, _mm256_storeu_ps,
    };

    /// Elements that an instruction converts.
    const LANES: usize = 8;

    /// f16 to f32.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn widen(dst: *mut u8, src: [*const u8; 3], n: usize) {
        let (dst, src) = (dst.cast::<f32>(), src[0].cast::<f16>());
        for at in (0..n / LANES).map(|block| block * LANES) {
            // SAFETY: the promise of `TileFn`; these instructions need no alignment.
            unsafe { _mm256_storeu_ps(dst.add(at), _mm256_cvtph_ps(_mm_loadu_si128(src.add(at).cast()))) };
        }
        for at in n / LANES * LANES..n {
            // SAFETY: as above.
            unsafe { dst.add(at).write(src.add(at).read().to_f32()) };
        }
    }

    /// f32 to f16.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn narrow(dst: *mut u8, src: [*const u8; 3], n: usize) {
        let (dst, src) = (dst.cast::<f16>(), src[0].cast::<f32>());
        for at in (0..n / LANES).map(|block| block * LANES) {
            // SAFETY: the promise of `TileFn`; these instructions need no alignment.
            unsafe {
                let bits = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.add(at)));
                _mm_storeu_si128(dst.add(at).cast(), bits);
            }
        }
        for at in n / LANES * LANES..n {
            // SAFETY: as above.
            unsafe { dst.add(at).write(f16::from_f32(src.add(at).read())) };
        }
    }

    /// f32 to the nearest that f16 holds.
    #[target_feature(enable = "avx,f16c")]
    pub unsafe fn round(dst: *mut u8, src: [*const u8; 3], n: usize) {
        let (dst, src) = (dst.cast::<f32>(), src[0].cast::<f32>());
        for at in (0..n / LANES).map(|block| block * LANES) {
            // SAFETY: the promise of `TileFn`; these instructions need no alignment.
            unsafe {
                let bits = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.add(at)));
                _mm256_storeu_ps(dst.add(at), _mm256_cvtph_ps(bits));
            }
        }
        for at in n / LANES * LANES..n {
            // SAFETY: as above.
            unsafe { dst.add(at).write(f16::from_f32(src.add(at).read()).to_f32()) };
        }
    }
}
