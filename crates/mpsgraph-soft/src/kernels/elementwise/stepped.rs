//! Loops over f32 whose operands may be one number for a whole tile, and that may do two operations: what the first
//! makes then stays in a register of the processor.
//!
//! Such a number belongs to a row or to all of the loop. A block of copies stands for a tile of them: the loop stays
//! there (a step of 0) where it moves on in other operands. So one loop serves every mixture of operands. The results
//! are those of one operation after the other, bit by bit.

#[cfg(target_arch = "x86_64")]
use super::tile::best;

/// Elements of a block.
pub const BLOCK: usize = 16;

/// Runs on `n` elements: destination, sources, by how many elements each of these moves on after a block, and `n`. A
/// source that is not used repeats the first.
///
/// # Safety
/// The destination must be writable for `n` elements, and overlap no source. The sources must be initialised for `n`
/// elements if they move on by [`BLOCK`], and for one block if they move on by 0.
pub type SteppedFn = unsafe fn(*mut f32, [*const f32; 3], [usize; 3], usize);

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
    fn of(a: f32, b: f32) -> f32;
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
    Root: |a, _b| a.sqrt(),
    First: |a, _b| a
);

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    best(Some(avx512::<A, B> as SteppedFn), avx2::<A, B>, run::<A, B>)
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
fn pick<A: Operation, B: Operation>() -> SteppedFn {
    run::<A, B>
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<A: Operation, B: Operation>(dst: *mut f32, src: [*const f32; 3], steps: [usize; 3], n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run::<A, B>(dst, src, steps, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<A: Operation, B: Operation>(dst: *mut f32, src: [*const f32; 3], steps: [usize; 3], n: usize) {
    // SAFETY: the caller's promise.
    unsafe { run::<A, B>(dst, src, steps, n) }
}

/// `dst[i] = B(A(a[i], b[i]), c[i])`
#[inline(always)]
unsafe fn run<A: Operation, B: Operation>(mut dst: *mut f32, mut src: [*const f32; 3], steps: [usize; 3], n: usize) {
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
            let [a, b, c] = src.map(|src| *src.add(at));
            *dst.add(at) = B::of(A::of(a, b), c);
        }
    }
}
