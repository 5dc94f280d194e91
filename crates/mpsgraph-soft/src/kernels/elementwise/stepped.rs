//! Loops over f32 whose operands may be one number for a whole tile, and that may do two operations: what the first
//! makes then stays in a register of the processor.
//!
//! Such a number belongs to a row or to all of the loop. A block of copies stands for a tile of them: the loop stays
//! there where it moves on in other operands. So one loop serves every mixture of operands. The results are those of
//! one operation after the other, bit by bit.
//!
//! Operands and results may be 16-bit floats, and each operation may round to them: the loop asks for every block what
//! it has to convert, which costs less than a pass for each conversion and less code than a loop for each mixture.

use super::half_blocks::{self, Bits, Convert, Wide};
use super::round::HalfFloat;
#[cfg(target_arch = "x86_64")]
use super::tile::best;

/// Elements of a block.
pub const BLOCK: usize = 16;

/// Runs on `n` elements: destination, sources, what they are, and `n`. A source that is not used repeats the first.
///
/// # Safety
/// The destination must be writable for `n` elements of the form's, and overlap no source. The sources must be
/// initialised for `n` elements, or for one block if they are a number, all aligned to their elements.
pub type SteppedFn = unsafe fn(*mut u8, [*const u8; 3], &Form, usize);

/// What a loop reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub sources: [Source; 3],
    /// The 16-bit floats that are read, written or rounded to.
    pub float: Option<HalfFloat>,
    /// Whether what the first and the second operation make is rounded to them.
    pub rounds: [bool; 2],
    /// Whether the destination is such floats, rather than f32.
    pub narrow: bool,
    /// Whether there is a second operation.
    pub is_pair: bool,
}

impl Form {
    /// Nothing but f32.
    pub const F32: Self =
        Self { sources: [Source::Wide; 3], float: None, rounds: [false; 2], narrow: false, is_pair: false };

    /// The form of both operations as one loop, if there is one; what they read is f32 still.
    pub fn of_pair(first: Self, second: Self) -> Option<Self> {
        let float = match (first.float, second.float) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        Some(Self { float, rounds: [first.rounds[0], second.rounds[0]], is_pair: true, ..Self::F32 })
    }

    /// Whether the result is rounded.
    pub fn rounds_last(&self) -> bool {
        self.rounds[usize::from(self.is_pair)]
    }
}

/// The elements of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// f32.
    Wide,
    /// 16-bit floats.
    Narrow,
    /// A block of copies of one f32.
    Number,
}

impl Source {
    /// Bytes of an element.
    fn size(self) -> usize {
        match self {
            Source::Wide | Source::Number => size_of::<f32>(),
            Source::Narrow => size_of::<u16>(),
        }
    }

    /// Bytes from a block to the next one.
    fn step(self) -> usize {
        if self == Source::Number { 0 } else { BLOCK * self.size() }
    }
}

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    Add,
    Sub,
    Mul,
    Div,
}

/// The loop of one operation.
pub fn single(op: Basic) -> SteppedFn {
    match op {
        Basic::Add => pick::<Add, First>(),
        Basic::Sub => pick::<Sub, First>(),
        Basic::Mul => pick::<Mul, First>(),
        Basic::Div => pick::<Div, First>(),
    }
}

/// The loop of two operations, where operand number `place` of the second is what the first makes, and the third source
/// is its other one. Quotients as the second gain little, so there is no loop for them; as the first they gain most,
/// because the processor divides while it does everything else.
pub fn pair(first: Basic, second: Basic, place: usize) -> Option<SteppedFn> {
    match first {
        Basic::Add => second_of::<Add>(second, place),
        Basic::Sub => second_of::<Sub>(second, place),
        Basic::Mul => second_of::<Mul>(second, place),
        Basic::Div => second_of::<Div>(second, place),
    }
}

/// The loop of square roots.
pub fn root() -> SteppedFn {
    pick::<Root, First>()
}

/// The loop that adds the third source to the square root of the first: roots are as slow as quotients.
pub fn root_and_sum() -> SteppedFn {
    pick::<Root, Add>()
}

fn second_of<A: Operation>(second: Basic, place: usize) -> Option<SteppedFn> {
    Some(match second {
        Basic::Add => pick::<A, Add>(),
        Basic::Sub if place == 0 => pick::<A, Sub>(),
        Basic::Sub => pick::<A, SubFrom>(),
        Basic::Mul => pick::<A, Mul>(),
        Basic::Div => return None,
    })
}

trait Operation {
    /// Whether it computes anything.
    const COMPUTES: bool = true;
    fn of(a: f32, b: f32) -> f32;
}

/// Nothing but the first operand.
struct First;

impl Operation for First {
    const COMPUTES: bool = false;
    #[inline(always)]
    fn of(a: f32, _: f32) -> f32 {
        a
    }
}

macro_rules! operations {
    ($($name:ident: |$a:ident, $b:ident| $value:expr),*) => {$(
        struct $name;
        impl Operation for $name {
            #[inline(always)]
            fn of($a: f32, $b: f32) -> f32 {
                $value
            }
        }
    )*};
}
operations!(
    Add: |a, b| a + b,
    Sub: |a, b| a - b,
    SubFrom: |a, b| b - a,
    Mul: |a, b| a * b,
    Div: |a, b| a / b,
    Root: |a, _b| a.sqrt()
);

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    let has_f16c = std::arch::is_x86_feature_detected!("f16c");
    best(Some(avx512::<A, B> as SteppedFn), has_f16c.then_some(avx2::<A, B>), run::<A, B>)
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    run::<A, B>
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<A: Operation, B: Operation>(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    use half_blocks::avx512::{narrow_bf16, narrow_f16, widen_bf16, widen_f16};
    let f16 = Convert { widen: |x: &_| widen_f16(x), narrow: |x: &_| narrow_f16(x) };
    let bf16 = Convert { widen: |x: &_| widen_bf16(x), narrow: |x: &_| narrow_bf16(x) };
    // SAFETY: the caller's promise.
    unsafe { run_with::<A, B>(dst, src, form, n, f16, bf16) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn avx2<A: Operation, B: Operation>(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    use half_blocks::avx2::{narrow_bf16, narrow_f16, widen_bf16, widen_f16};
    let f16 = Convert { widen: |x: &_| widen_f16(x), narrow: |x: &_| narrow_f16(x) };
    let bf16 = Convert { widen: |x: &_| widen_bf16(x), narrow: |x: &_| narrow_bf16(x) };
    // SAFETY: the caller's promise.
    unsafe { run_with::<A, B>(dst, src, form, n, f16, bf16) }
}

unsafe fn run<A: Operation, B: Operation>(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run_with::<A, B>(dst, src, form, n, half_blocks::f16(), half_blocks::bf16()) }
}

/// `dst[i] = B(A(a[i], b[i]), c[i])`
#[inline(always)]
unsafe fn run_with<A: Operation, B: Operation>(
    dst: *mut u8,
    src: [*const u8; 3],
    form: &Form,
    n: usize,
    f16: Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits>,
    bf16: Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match form.float {
            None => run_f32::<A, B>(dst.cast(), src, form, n),
            Some(HalfFloat::F16) => run_half::<A, B>(dst, src, form, n, f16),
            Some(HalfFloat::BF16) => run_half::<A, B>(dst, src, form, n, bf16),
        }
    }
}

/// Of f32 alone.
#[inline(always)]
unsafe fn run_f32<A: Operation, B: Operation>(mut dst: *mut f32, mut src: [*const u8; 3], form: &Form, n: usize) {
    let steps = form.sources.map(Source::step);
    for _ in 0..n / BLOCK {
        // SAFETY: a block of each is there (the caller's promise); an array needs no other alignment than its elements.
        let [a, b, c] = src.map(|src| unsafe { *src.cast::<[f32; BLOCK]>() });
        let mut made = [0.0; BLOCK];
        for i in 0..BLOCK {
            made[i] = B::of(A::of(a[i], b[i]), c[i]);
        }
        // SAFETY: as above.
        unsafe { dst.cast::<[f32; BLOCK]>().write(made) };
        dst = dst.wrapping_add(BLOCK);
        for at in 0..3 {
            src[at] = src[at].wrapping_add(steps[at]);
        }
    }
    for at in 0..n % BLOCK {
        // SAFETY: these are the elements that are left, or some of a block.
        unsafe {
            let [a, b, c] = src.map(|src| *src.cast::<f32>().add(at));
            *dst.add(at) = B::of(A::of(a, b), c);
        }
    }
}

/// With 16-bit floats, which `convert` converts. What is left of a block is worked on in a whole one.
#[inline(always)]
unsafe fn run_half<A: Operation, B: Operation>(
    mut dst: *mut u8,
    mut src: [*const u8; 3],
    form: &Form,
    n: usize,
    convert: Convert<impl Fn(&Bits) -> Wide, impl Fn(&Wide) -> Bits>,
) {
    let Convert { widen, narrow } = convert;
    let Form { sources, rounds, narrow: narrows, .. } = *form;
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
        let mut read = [[0.0; BLOCK]; 3];
        for at in 0..3 {
            // SAFETY: a block is there; an array needs no other alignment than its elements.
            read[at] = unsafe { if sources[at] == Source::Narrow { widen(&*src[at].cast()) } else { *src[at].cast() } };
            src[at] = src[at].wrapping_add(sources[at].step());
        }
        let [a, b, c] = read;
        let mut made = [0.0; BLOCK];
        for i in 0..BLOCK {
            made[i] = A::of(a[i], b[i]);
        }
        if B::COMPUTES {
            if rounds[0] {
                made = widen(&narrow(&made));
            }
            for i in 0..BLOCK {
                made[i] = B::of(made[i], c[i]);
            }
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
    }
}
