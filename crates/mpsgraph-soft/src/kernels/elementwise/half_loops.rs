//! The loop over 16-bit floats: it reads, rounds and writes them as a [`Form`] says, and computes in f32.
//!
//! What it has to convert and to compute is asked again for every few blocks. That costs less than a pass for each
//! conversion, and there is one loop for all operations: a loop for each, as f32 has them, would be as fast, but there
//! would be two of each pair for every instruction set.

use super::half_blocks::{BF16, Block, Convert, F16, Wide};
use super::round::HalfFloat;
use super::stepped::{BLOCK, Form, Source, Step, SteppedFn};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vectorised::avx512_is_here;

/// The loop as compiled for the best instruction set of this processor.
pub fn of(float: HalfFloat) -> SteppedFn {
    runnable(float).next().expect("one loop needs nothing")
}

/// All loops that this processor can run, the best first.
#[cfg(target_arch = "x86_64")]
pub fn runnable(float: HalfFloat) -> impl Iterator<Item = SteppedFn> {
    use std::arch::is_x86_feature_detected as has;
    let [wide, middle, plain]: [SteppedFn; 3] = match float {
        HalfFloat::F16 => [avx512::f16, avx2::f16, f16],
        HalfFloat::BF16 => [avx512::bf16, avx2::bf16, bf16],
    };
    let has_avx512 = avx512_is_here();
    let rounds = has_avx512 && float == HalfFloat::BF16 && has!("avx512bf16");
    let has_avx2 = has!("avx2") && has!("f16c");
    let all = [(avx512_bf16 as SteppedFn, rounds), (wide, has_avx512), (middle, has_avx2), (plain, true)];
    all.into_iter().filter(|&(_, is_here)| is_here).map(|(run, _)| run)
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
pub fn runnable(float: HalfFloat) -> impl Iterator<Item = SteppedFn> {
    let run: SteppedFn = match float {
        HalfFloat::F16 => f16,
        HalfFloat::BF16 => bf16,
    };
    std::iter::once(run)
}

unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise; the block needs no instructions of its own.
    unsafe { run::<Wide, F16, 1>(dst, src, form, n) }
}

unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: as above.
    unsafe { run::<Wide, BF16, 1>(dst, src, form, n) }
}

/// The same two, by blocks that need these instructions, as many together as there are registers for.
#[cfg(target_arch = "x86_64")]
macro_rules! with_instructions {
    ($set:ident, $features:literal, $block:ty, $together:literal) => {
        mod $set {
            use super::{BF16, F16, Form, run};

            #[target_feature(enable = $features)]
            pub unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                // SAFETY: the caller's promise; this function has the block's instructions.
                unsafe { run::<$block, F16, $together>(dst, src, form, n) }
            }

            #[target_feature(enable = $features)]
            pub unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                // SAFETY: as above.
                unsafe { run::<$block, BF16, $together>(dst, src, form, n) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
with_instructions!(avx512, "avx512f,avx512bw,avx512dq,avx512vl", std::arch::x86_64::__m512, 8);
#[cfg(target_arch = "x86_64")]
with_instructions!(avx2, "avx2,f16c", crate::kernels::elementwise::half_blocks::avx2::Halves, 2);

/// That of bf16 with the instruction that rounds to it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
unsafe fn avx512_bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    use super::half_blocks::avx512::RoundedBf16;
    // SAFETY: the caller's promise; this function has the block's instructions.
    unsafe { run::<std::arch::x86_64::__m512, RoundedBf16, 8>(dst, src, form, n) }
}

/// Runs the form, so many blocks together. What is left of them is worked on by itself, and what is left of a block in
/// a whole one.
#[inline(always)]
unsafe fn run<B: Convert<Format>, Format, const TOGETHER: usize>(
    mut dst: *mut u8,
    mut src: [*const u8; 3],
    form: &Form,
    n: usize,
) {
    let (blocks, rest) = (n / BLOCK, n % BLOCK);
    let go_on = |dst: &mut *mut u8, src: &mut [*const u8; 3], blocks: usize| {
        *dst = dst.wrapping_add(blocks * BLOCK * form.size());
        for (src, source) in src.iter_mut().zip(form.sources) {
            *src = src.wrapping_add(blocks * source.step());
        }
    };
    for _ in 0..blocks / TOGETHER {
        // SAFETY: so many blocks of each source are there, and room for them; the caller vouches for the instructions.
        unsafe { make::<B, Format, TOGETHER>(dst, src, form) };
        go_on(&mut dst, &mut src, TOGETHER);
    }
    for _ in 0..blocks % TOGETHER {
        // SAFETY: as above.
        unsafe { make::<B, Format, 1>(dst, src, form) };
        go_on(&mut dst, &mut src, 1);
    }
    if rest > 0 {
        let (mut edges, mut made) = ([[0.0_f32; BLOCK]; 3], [0.0_f32; BLOCK]);
        let (from, made) = (edges.each_mut().map(|edge| edge.as_mut_ptr().cast::<u8>()), made.as_mut_ptr().cast());
        for ((&edge, src), source) in from.iter().zip(src).zip(form.sources) {
            // SAFETY: so many elements are there, and a block has room for them.
            unsafe { edge.copy_from_nonoverlapping(src, rest * source.size()) };
        }
        // SAFETY: a block of each source is there, and room for one; then the elements that are left have room.
        unsafe {
            make::<B, Format, 1>(made, from.map(<*mut u8>::cast_const), form);
            dst.copy_from_nonoverlapping(made, rest * form.size());
        }
    }
}

/// Makes so many blocks.
///
/// # Safety
/// So many of each source must be there, room for them, and the processor must have the block's instructions.
#[inline(always)]
unsafe fn make<B: Convert<Format>, Format, const COUNT: usize>(dst: *mut u8, src: [*const u8; 3], form: &Form) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut made = read::<B, Format, COUNT>(form.sources[0], src[0]);
        apply(form.first, &mut made, read::<B, Format, COUNT>(form.sources[1], src[1]));
        let mut last = form.first;
        if let Some(second) = form.second {
            settle::<B, Format, COUNT>(last, form.rounds[0], &mut made);
            apply(second, &mut made, read::<B, Format, COUNT>(form.sources[2], src[2]));
            last = second;
        }
        if !form.narrow {
            settle::<B, Format, COUNT>(last, form.rounds_last(), &mut made);
        }
        for (at, made) in made.into_iter().enumerate() {
            let to = dst.wrapping_add(at * BLOCK * form.size());
            match (form.narrow, last.flushes()) {
                (true, true) => B::narrow_flushed(made, to),
                (true, false) => B::narrow(made, to),
                (false, _) => B::store(made, to),
            }
        }
    }
}

/// Blocks of a source.
///
/// # Safety
/// They must be there, and the processor have the block's instructions.
#[inline(always)]
unsafe fn read<B: Convert<Format>, Format, const COUNT: usize>(source: Source, from: *const u8) -> [B; COUNT] {
    // SAFETY: the caller's promise.
    unsafe {
        match source {
            Source::Number => [B::load(from); COUNT],
            Source::Narrow => {
                let mut blocks = [B::splat(0.0); COUNT];
                for (at, block) in blocks.iter_mut().enumerate() {
                    *block = B::widen(from.wrapping_add(at * source.step()));
                }
                blocks
            }
            Source::Wide => {
                let mut blocks = [B::splat(0.0); COUNT];
                for (at, block) in blocks.iter_mut().enumerate() {
                    *block = B::load(from.wrapping_add(at * source.step()));
                }
                blocks
            }
        }
    }
}

/// Flushes what the step has made if it is a product or a quotient, as those of f32 are, and rounds it to what the
/// floats can hold if it `rounds`.
///
/// # Safety
/// The processor must have the block's instructions.
#[inline(always)]
unsafe fn settle<B: Convert<Format>, Format, const COUNT: usize>(step: Step, rounds: bool, blocks: &mut [B; COUNT]) {
    macro_rules! each {
        ($function:path) => {
            for block in blocks {
                // SAFETY: the caller's promise.
                *block = unsafe { $function(*block) };
            }
        };
    }
    match (step.flushes(), rounds) {
        (true, true) => each!(B::round_flushed),
        (true, false) => each!(B::flush),
        (false, true) => each!(B::round),
        (false, false) => {}
    }
}

/// Applies a step to all blocks, which is asked for once. Nothing is flushed.
///
/// # Safety
/// The processor must have the block's instructions.
#[inline(always)]
unsafe fn apply<B: Block, const COUNT: usize>(step: Step, blocks: &mut [B; COUNT], others: [B; COUNT]) {
    macro_rules! each {
        ($($step:ident),*) => {
            match step {
                $(Step::$step => {
                    for (block, other) in blocks.iter_mut().zip(others) {
                        // SAFETY: the caller's promise.
                        *block = unsafe { B::apply(Step::$step, *block, other) };
                    }
                })*
            }
        };
    }
    each!(Add, Sub, SubFrom, Mul, Div, Root, Min, Max);
}
