//! Runs a loop compiled for the widest vector registers that this processor has.
//!
//! The default x86-64 target stops at SSE2. A [`Kernel`] is compiled three times (SSE2, AVX2, AVX-512) and picked
//! at run time; other targets compile it once. `run` and everything hot below it must be `#[inline(always)]`, or
//! it stays baseline code. No level changes a result: lane counts are fixed in the source, and rustc never
//! contracts a multiplication and an addition into one rounding.

/// A loop and its operands.
pub trait Kernel {
    /// What the loop yields.
    type Output;
    /// The loop; `#[inline(always)]` in every implementation.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` at this processor's level.
#[inline]
pub fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the four features that the function is compiled for were just detected.
            return unsafe { avx512(kernel) };
        }
        if has!("avx2") {
            // SAFETY: the feature that the function is compiled for was just detected.
            return unsafe { avx2(kernel) };
        }
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
