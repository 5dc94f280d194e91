//! Runs a loop compiled for the vector registers that this processor has.
//!
//! The default x86-64 target stops at SSE2. A [`VectorLoop`] is compiled a second time for AVX2, and the level is
//! chosen at run time; AVX-512 gains little on loops that wait for memory, and a third copy of everything is slow to
//! compile, so only loops that compute long chains for each element have one. Other targets compile it once. `run` and
//! everything hot below it must be `#[inline(always)]`, or it stays baseline code. The level changes no result: the
//! number of accumulators is fixed in the source, and rustc never contracts a multiplication and an addition into one
//! rounding.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "a choice of instructions at run time"))]

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// A loop and its operands.
pub trait VectorLoop: Sized {
    /// What the loop yields.
    type Output;
    /// Whether it is worth the second copy; baseline code is enough for element types that are rarely used.
    const WORTH_IT: bool = true;
    /// Whether AVX-512 is worth a third copy.
    const WIDE: bool = false;
    /// The loop; `#[inline(always)]` in every implementation.
    fn run(self) -> Self::Output;
    /// The loop that is compiled for AVX-512, where another one makes more of its registers; the results are the same.
    #[inline(always)]
    fn run_wide(self) -> Self::Output {
        self.run()
    }
}

/// Runs `work` at this processor's level.
#[inline]
pub fn vectorised<K: VectorLoop>(work: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if K::WIDE && avx512_is_here() {
            // SAFETY: the features that the function is compiled for were just detected.
            return unsafe { avx512(work) };
        }
        if K::WORTH_IT && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature that the function is compiled for was just detected.
            return unsafe { avx2(work) };
        }
    }
    work.run()
}

/// Whether this processor has what is compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn avx512_is_here() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl")
}

/// Whether AMD has made this processor, whose third cache answers sooner than that of Intel's servers.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_of_amd() -> bool {
    // The instruction takes microseconds in a virtual machine.
    static IS_OF_AMD: LazyLock<bool> = LazyLock::new(|| {
        #[allow(unused_unsafe, reason = "newer versions of Rust call it safe")]
        // SAFETY: every x86-64 processor has the instruction and its first leaf.
        let leaf = unsafe { std::arch::x86_64::__cpuid(0) };
        [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
    });
    *IS_OF_AMD
}

/// AMD's processors are x86-64.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_of_amd() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<K: VectorLoop>(work: K) -> K::Output {
    work.run_wide()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: VectorLoop>(work: K) -> K::Output {
    work.run()
}
