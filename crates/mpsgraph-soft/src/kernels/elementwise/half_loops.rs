//! The loop over 16-bit floats: it reads, rounds and writes them as a [`Form`] says, and computes in f32.
//!
//! What it has to convert and to compute is asked again for every block. That costs less than a pass for each
//! conversion, and there is one loop for all operations: a loop for each, as f32 has them, would be as fast, but there
//! would be two of each pair for every instruction set.

use super::half_blocks::{self, Bits, Convert, Wide};
use super::round::HalfFloat;
use super::stepped::{BLOCK, Form, Source, Step, SteppedFn};
#[cfg(target_arch = "x86_64")]
use super::tile::best;

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
pub fn of(float: HalfFloat) -> SteppedFn {
    let has_f16c = std::arch::is_x86_feature_detected!("f16c");
    let [avx512, avx2, plain]: [SteppedFn; 3] = match float {
        HalfFloat::F16 => [avx512::f16, avx2::f16, f16],
        HalfFloat::BF16 => [avx512::bf16, avx2::bf16, bf16],
    };
    best(Some(avx512), has_f16c.then_some(avx2), plain)
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
pub fn of(float: HalfFloat) -> SteppedFn {
    match float {
        HalfFloat::F16 => f16,
        HalfFloat::BF16 => bf16,
    }
}

unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run(dst, src, form, n, half_blocks::f16()) }
}

unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run(dst, src, form, n, half_blocks::bf16()) }
}

/// The same two, with the instructions of `half_blocks`' module of the same name.
#[cfg(target_arch = "x86_64")]
macro_rules! with_instructions {
    ($set:ident, $features:literal) => {
        mod $set {
            use super::half_blocks::$set::{narrow_bf16, narrow_f16, widen_bf16, widen_f16};
            use super::{Convert, Form, run};

            #[target_feature(enable = $features)]
            pub unsafe fn f16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                let convert = Convert { widen: |x: &_| widen_f16(x), narrow: |x: &_| narrow_f16(x) };
                // SAFETY: the caller's promise.
                unsafe { run(dst, src, form, n, convert) }
            }

            #[target_feature(enable = $features)]
            pub unsafe fn bf16(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
                let convert = Convert { widen: |x: &_| widen_bf16(x), narrow: |x: &_| narrow_bf16(x) };
                // SAFETY: the caller's promise.
                unsafe { run(dst, src, form, n, convert) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
with_instructions!(avx512, "avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
with_instructions!(avx2, "avx2,f16c");

/// Runs the form. What is left of a block is worked on in a whole one.
#[inline(always)]
unsafe fn run(
    mut dst: *mut u8,
    mut src: [*const u8; 3],
    form: &Form,
    n: usize,
    convert: Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits>,
) {
    let Convert { widen, narrow } = convert;
    let Form { first, second, sources, rounds, narrow: narrows, .. } = *form;
    let size = if narrows { size_of::<u16>() } else { size_of::<f32>() };
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
        let read = |at: usize| {
            // SAFETY: a block is there; an array needs no other alignment than its elements.
            unsafe { if sources[at] == Source::Narrow { widen(&*src[at].cast()) } else { *src[at].cast() } }
        };
        let mut made = apply(first, &read(0), &read(1));
        if let Some(second) = second {
            if rounds[0] {
                made = widen(&narrow(&made));
            }
            made = apply(second, &made, &read(2));
        }
        // SAFETY: as above, for the destination; then the elements that are left have room there.
        unsafe {
            if narrows {
                dst.cast::<Bits>().write(narrow(&made));
            } else {
                let rounded = if form.rounds_last() { widen(&narrow(&made)) } else { made };
                dst.cast::<Wide>().write(rounded);
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

/// A step on a block.
#[inline(always)]
fn apply(step: Step, a: &Wide, b: &Wide) -> Wide {
    match step {
        Step::Add => each(a, b, |a, b| a + b),
        Step::Sub => each(a, b, |a, b| a - b),
        Step::SubFrom => each(a, b, |a, b| b - a),
        Step::Mul => each(a, b, |a, b| a * b),
        Step::Div => each(a, b, |a, b| a / b),
        Step::Root => each(a, b, |a, _| a.sqrt()),
    }
}

#[inline(always)]
fn each(a: &Wide, b: &Wide, of: impl Fn(f32, f32) -> f32) -> Wide {
    let mut made = [0.0; BLOCK];
    for ((made, &a), &b) in made.iter_mut().zip(a).zip(b) {
        *made = of(a, b);
    }
    made
}
