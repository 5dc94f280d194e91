//! Loops that read floats of any kind a block at a time, compiled for each instruction set that there are
//! [blocks](super::half_blocks) for. Which one runs is chosen at run time.

pub use super::half_blocks::Block;
#[cfg(target_arch = "x86_64")]
use super::half_blocks::avx2::Halves;
use super::half_blocks::{BF16, Convert, F16, Wide};
use super::round::HalfFloat;
pub use super::stepped::{BLOCK, Step};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vectorised::avx512_is_here;

/// f32 in memory, as a type.
pub struct F32;

/// Floats in memory, as a type.
pub trait FloatFormat {
    /// Bytes of one of them.
    const SIZE: usize;
}

impl FloatFormat for F32 {
    const SIZE: usize = size_of::<f32>();
}

impl FloatFormat for F16 {
    const SIZE: usize = size_of::<u16>();
}

impl FloatFormat for BF16 {
    const SIZE: usize = size_of::<u16>();
}

/// A block that reads these floats.
pub trait Read<F: FloatFormat>: Block {
    /// A block of them, as f32.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and there must be a block, which may be at any address.
    unsafe fn read(from: *const u8) -> Self;
}

macro_rules! read {
    ($float:ty, $block:path, $read:expr) => {
        impl<B: $block> Read<$float> for B {
            #[inline(always)]
            unsafe fn read(from: *const u8) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $read(from) }
            }
        }
    };
}
read!(F32, Block, B::load);
read!(F16, Convert<F16>, B::widen);
read!(BF16, Convert<BF16>, B::widen);

/// A loop over blocks of floats.
pub trait BlockLoop: Sized {
    /// The loop; `#[inline(always)]` in every implementation.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and what the loop's maker promises must hold.
    unsafe fn run<B: Read<F>, F: FloatFormat>(self);
}

/// Runs a loop by the best blocks that this processor has, with these floats in memory, or f32.
///
/// # Safety
/// What the loop's maker promises must hold.
pub unsafe fn by_blocks<L: BlockLoop>(float: Option<HalfFloat>, work: L) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the features that each function is compiled for are detected before; for the rest the caller's promise.
    unsafe {
        if avx512_is_here() {
            return with_avx512(float, work);
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("f16c") {
            return with_avx2(float, work);
        }
    }
    // SAFETY: arrays need no instructions of their own; for the rest the caller's promise.
    unsafe { run_by::<Wide, L>(float, work) }
}

/// # Safety
/// As for [`BlockLoop::run`].
#[inline(always)]
unsafe fn run_by<B: Convert<F16> + Convert<BF16>, L: BlockLoop>(float: Option<HalfFloat>, work: L) {
    // SAFETY: the caller's promise.
    unsafe {
        match float {
            None => work.run::<B, F32>(),
            Some(HalfFloat::F16) => work.run::<B, F16>(),
            Some(HalfFloat::BF16) => work.run::<B, BF16>(),
        }
    }
}

/// # Safety
/// What the loop's maker promises must hold, and the processor have these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn with_avx512<L: BlockLoop>(float: Option<HalfFloat>, work: L) {
    // SAFETY: the caller's promise; this function has the block's instructions.
    unsafe { run_by::<std::arch::x86_64::__m512, L>(float, work) }
}

/// # Safety
/// As for [`with_avx512`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn with_avx2<L: BlockLoop>(float: Option<HalfFloat>, work: L) {
    // SAFETY: as above.
    unsafe { run_by::<Halves, L>(float, work) }
}
