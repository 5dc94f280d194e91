//! The loop over 16-bit floats: it reads, rounds and writes them as a [`Form`] says, and computes in f32.
//!
//! What it has to convert and to compute is asked again for every block. That costs less than a pass for each
//! conversion, and there is one loop for all operations: a loop for each, as f32 has them, would be as fast, but there
//! would be two of each pair for every instruction set.

use super::half_blocks::{BF16, Convert, F16, Wide};
use super::round::HalfFloat;
use super::stepped::{BLOCK, Form, Source, SteppedFn};
#[cfg(target_arch = "x86_64")]
use super::tile::best;

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
pub fn of(float: HalfFloat) -> SteppedFn {
    let [avx512, avx2, plain] = compiled(float);
    best(Some(avx512), has_f16c().then_some(avx2), plain)
}

#[cfg(target_arch = "x86_64")]
fn compiled(float: HalfFloat) -> [SteppedFn; 3] {
    match float {
        HalfFloat::F16 => [avx512::f16, avx2::f16, f16],
        HalfFloat::BF16 => [avx512::bf16, avx2::bf16, bf16],
    }
}

#[cfg(target_arch = "x86_64")]
fn has_f16c() -> bool {
    std::arch::is_x86_feature_detected!("f16c")
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
pub fn of(float: HalfFloat) -> SteppedFn {
    match float {
        HalfFloat::F16 => f16,
        HalfFloat::BF16 => bf16,
    }
}

/// All loops that this processor can run.
#[cfg(test)]
pub fn runnable(float: HalfFloat) -> Vec<SteppedFn> {
    #[cfg(target_arch = "x86_64")]
    {
        let [avx512, avx2, plain] = compiled(float);
        let has_avx2 = has_f16c() && std::arch::is_x86_feature_detected!("avx2");
        let has_avx512 = crate::kernels::vectorised::avx512_is_here();
        let all = [(plain, true), (avx2, has_avx2), (avx512, has_avx512)];
        all.into_iter().filter(|&(_, is_here)| is_here).map(|(run, _)| run).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    vec![of(float)]
}

unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise; the block needs no instructions of its own.
    unsafe { run::<Wide, F16>(dst, src, form, n) }
}

unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: as above.
    unsafe { run::<Wide, BF16>(dst, src, form, n) }
}

/// The same two, by blocks that need these instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! with_instructions {
    ($set:ident, $features:literal, $block:ty) => {
        mod $set {
            use super::{BF16, F16, Form, run};

            #[target_feature(enable = $features)]
            pub unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                // SAFETY: the caller's promise; this function has the block's instructions.
                unsafe { run::<$block, F16>(dst, src, form, n) }
            }

            #[target_feature(enable = $features)]
            pub unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                // SAFETY: as above.
                unsafe { run::<$block, BF16>(dst, src, form, n) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
with_instructions!(avx512, "avx512f,avx512bw,avx512dq,avx512vl", std::arch::x86_64::__m512);
#[cfg(target_arch = "x86_64")]
with_instructions!(avx2, "avx2,f16c", crate::kernels::elementwise::half_blocks::avx2::Halves);

/// Runs the form. What is left of a block is worked on in a whole one.
#[inline(always)]
unsafe fn run<B: Convert<Float>, Float>(mut dst: *mut u8, mut src: [*const u8; 3], form: &Form, n: usize) {
    let Form { first, second, sources, rounds, narrow, .. } = *form;
    let size = if narrow { size_of::<u16>() } else { size_of::<f32>() };
    let mut edges = [[0.0_f32; BLOCK]; 4];
    for start in (0..n).step_by(BLOCK) {
        let (count, behind) = (BLOCK.min(n - start), dst);
        if count < BLOCK {
            for at in 0..3 {
                let edge = edges[at].as_mut_ptr().cast::<u8>();
                // SAFETY: so many elements are there, and a block has room for them.
                unsafe { edge.copy_from_nonoverlapping(src[at], count * sources[at].size()) };
                src[at] = edge;
            }
            dst = edges[3].as_mut_ptr().cast();
        }
        // SAFETY: a block of each source is there, and room for one; the caller vouches for the instructions. Then the
        // elements that are left have room behind what was written.
        unsafe {
            let mut made = B::apply(first, read::<B, Float>(sources[0], src[0]), read::<B, Float>(sources[1], src[1]));
            if let Some(second) = second {
                let rounded = if rounds[0] { B::round(made) } else { made };
                made = B::apply(second, rounded, read::<B, Float>(sources[2], src[2]));
            }
            if narrow {
                B::narrow(made, dst);
            } else {
                B::store(if form.rounds_last() { B::round(made) } else { made }, dst);
            }
            if count < BLOCK {
                behind.copy_from_nonoverlapping(dst, count * size);
            }
        }
        dst = dst.wrapping_add(BLOCK * size);
        for at in 0..3 {
            src[at] = src[at].wrapping_add(sources[at].step());
        }
    }
}

/// A block of a source.
///
/// # Safety
/// It must be there, and the processor have the block's instructions.
#[inline(always)]
unsafe fn read<B: Convert<Float>, Float>(source: Source, from: *const u8) -> B {
    // SAFETY: the caller's promise.
    unsafe {
        match source {
            Source::Narrow => B::widen(from),
            Source::Wide | Source::Number => B::load(from),
        }
    }
}
