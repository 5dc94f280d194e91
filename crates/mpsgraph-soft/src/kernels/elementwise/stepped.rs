//! Loops over f32 whose operands may be one number for a whole tile, and that may do two operations: what the first
//! makes then stays in a register of the processor.
//!
//! Such a number belongs to a row or to all of the loop. A block of copies stands for a tile of them: the loop stays
//! there where it moves on in other operands. So one loop serves every mixture of operands. The results are those of
//! one operation after the other, bit by bit.
//!
//! Operands and results may be 16-bit floats, and each operation may round to them ([`half_loops`](super::half_loops)).

use super::float::{larger_or_nan, smaller_or_nan};
use super::fused_loop::Run;
use super::half_loops;
use super::math::{product, quotient};
use super::round::HalfFloat;
#[cfg(target_arch = "x86_64")]
use super::tile::best;

/// Elements of a block.
pub const BLOCK: usize = 16;

/// Runs on `n` elements: destination, sources, what they are, and `n`. A source that is not used repeats the first.
///
/// # Safety
/// The form must be the one that the function was chosen for, but for its sources, its roundings and whether it is
/// narrow. The destination must be writable for `n` elements of the form's, and overlap no source. The sources must be
/// initialised for `n` elements, or for one block if they are a number, all aligned to their elements.
pub type SteppedFn = unsafe fn(*mut u8, [*const u8; 3], &Form, usize);

/// What a loop reads, does and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub first: Step,
    /// Of what the first makes and the third source.
    pub second: Option<Step>,
    pub sources: [Source; 3],
    /// The 16-bit floats that are read, written or rounded to.
    pub float: Option<HalfFloat>,
    /// Whether what the first and the second operation make is rounded to them.
    pub rounds: [bool; 2],
    /// Whether the destination is such floats, rather than f32.
    pub narrow: bool,
}

impl Form {
    /// One operation on f32.
    pub const fn of(step: Step) -> Self {
        let sources = [Source::Wide; 3];
        Self { first: step, second: None, sources, float: None, rounds: [false; 2], narrow: false }
    }

    /// Both operations as one loop, if there is one, where operand number `place` of the second is what the first
    /// makes; what they read is f32 still. Quotients as the second gain little, so there is no loop for them; as the
    /// first they gain most, because the processor divides while it does everything else. Roots are as slow, and
    /// optimizers only add to them. Bounds follow each other, or a sum as an activation.
    pub fn of_pair(first: Self, second: Self, place: usize) -> Option<Self> {
        let step = match (first.first, second.first) {
            (_, Step::Div | Step::Root | Step::SubFrom) => return None,
            (Step::Root, Step::Sub | Step::Mul) => return None,
            // Which operand is the first decides between two zeros.
            (Step::Min, Step::Max) | (Step::Max, Step::Min) | (Step::Add, Step::Max) if place == 0 => second.first,
            (Step::Min | Step::Max, _) | (_, Step::Min | Step::Max) => return None,
            (_, Step::Sub) if place == 1 => Step::SubFrom,
            (_, Step::Add | Step::Sub | Step::Mul) => second.first,
        };
        let float = match (first.float, second.float) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let rounds = [first.rounds[0], second.rounds[0]];
        Some(Self { second: Some(step), float, rounds, ..Self::of(first.first) })
    }

    /// Whether the result is rounded.
    pub fn rounds_last(&self) -> bool {
        self.rounds[usize::from(self.second.is_some())]
    }

    /// Bytes of an element of the destination.
    pub fn size(&self) -> usize {
        if self.narrow { size_of::<u16>() } else { size_of::<f32>() }
    }

    /// The loop that this form describes.
    pub fn run(self) -> Run {
        let run = match self.float {
            Some(float) => half_loops::of(float),
            None => of_f32(self.first, self.second),
        };
        Run::Stepped(run, self)
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
    pub fn size(self) -> usize {
        match self {
            Source::Wide | Source::Number => size_of::<f32>(),
            Source::Narrow => size_of::<u16>(),
        }
    }

    /// Bytes from a block to the next one.
    pub fn step(self) -> usize {
        if self == Source::Number { 0 } else { BLOCK * self.size() }
    }
}

/// An operation of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Add,
    Sub,
    /// The first operand from the second.
    SubFrom,
    Mul,
    Div,
    /// The square root of the first operand.
    Root,
    /// The smaller operand, or NaN if one is.
    Min,
    /// The larger operand, or NaN if one is.
    Max,
}

impl Step {
    /// Whether what it makes is flushed.
    pub fn flushes(self) -> bool {
        match self {
            Step::Mul | Step::Div => true,
            Step::Add | Step::Sub | Step::SubFrom | Step::Root | Step::Min | Step::Max => false,
        }
    }
}

/// The loop of these operations on f32.
fn of_f32(first: Step, second: Option<Step>) -> SteppedFn {
    match (first, second) {
        (Step::Add, Some(Step::Max)) => pick::<Add, Max>(),
        (Step::Min, None) => pick::<Min, First>(),
        (Step::Min, Some(Step::Max)) => pick::<Min, Max>(),
        (Step::Max, None) => pick::<Max, First>(),
        (Step::Max, Some(Step::Min)) => pick::<Max, Min>(),
        (Step::Add, _) => then::<Add>(second),
        (Step::Sub, _) => then::<Sub>(second),
        (Step::Mul, _) => then::<Mul>(second),
        (Step::Div, _) => then::<Div>(second),
        (Step::Root, None) => pick::<Root, First>(),
        (Step::Root, Some(Step::Add)) => pick::<Root, Add>(),
        (Step::Root | Step::Min | Step::Max, Some(_)) | (Step::SubFrom, _) => {
            unreachable!("`Form::of_pair` makes no such pair")
        }
    }
}

fn then<A: Operation>(second: Option<Step>) -> SteppedFn {
    match second {
        None => pick::<A, First>(),
        Some(Step::Add) => pick::<A, Add>(),
        Some(Step::Sub) => pick::<A, Sub>(),
        Some(Step::SubFrom) => pick::<A, SubFrom>(),
        Some(Step::Mul) => pick::<A, Mul>(),
        Some(Step::Div | Step::Root | Step::Min | Step::Max) => unreachable!("`Form::of_pair` makes no such pair"),
    }
}

trait Operation {
    fn of(a: f32, b: f32) -> f32;
}

/// Nothing but the first operand.
struct First;

impl Operation for First {
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
    Mul: |a, b| product(a, b),
    Div: |a, b| quotient(a, b),
    Root: |a, _b| a.sqrt(),
    Min: |a, b| smaller_or_nan(a, b),
    Max: |a, b| larger_or_nan(a, b)
);

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    best(Some(avx512::<A, B> as SteppedFn), Some(avx2::<A, B>), run::<A, B>)
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    run::<A, B>
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<A: Operation, B: Operation>(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run::<A, B>(dst, src, form, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<A: Operation, B: Operation>(dst: *mut u8, src: [*const u8; 3], form: &Form, n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run::<A, B>(dst, src, form, n) }
}

/// `dst[i] = B(A(a[i], b[i]), c[i])`
#[inline(always)]
unsafe fn run<A: Operation, B: Operation>(dst: *mut u8, mut src: [*const u8; 3], form: &Form, n: usize) {
    let mut dst = dst.cast::<f32>();
    let steps = form.sources.map(Source::step);
    let blocks = n / BLOCK;
    if blocks > 0 && steps[1..] == [0, 0] {
        // Numbers stay in registers.
        // SAFETY: a block of each is there (the caller's promise); an array needs no other alignment than its elements.
        let [b, c] = unsafe { [block(src[1]), block(src[2])] };
        for _ in 0..blocks {
            // SAFETY: as above, and there is room for one.
            unsafe { dst.cast::<[f32; BLOCK]>().write(made::<A, B>(block(src[0]), b, c)) };
            dst = dst.wrapping_add(BLOCK);
            src[0] = src[0].wrapping_add(steps[0]);
        }
    } else {
        for _ in 0..blocks {
            // SAFETY: as above.
            unsafe {
                let [a, b, c] = [block(src[0]), block(src[1]), block(src[2])];
                dst.cast::<[f32; BLOCK]>().write(made::<A, B>(a, b, c));
            }
            dst = dst.wrapping_add(BLOCK);
            for at in 0..3 {
                src[at] = src[at].wrapping_add(steps[at]);
            }
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

/// # Safety
/// A block must be there.
#[inline(always)]
unsafe fn block(src: *const u8) -> [f32; BLOCK] {
    // SAFETY: the caller's promise.
    unsafe { *src.cast() }
}

#[inline(always)]
fn made<A: Operation, B: Operation>(a: [f32; BLOCK], b: [f32; BLOCK], c: [f32; BLOCK]) -> [f32; BLOCK] {
    let mut made = [0.0; BLOCK];
    for i in 0..BLOCK {
        made[i] = B::of(A::of(a[i], b[i]), c[i]);
    }
    made
}
