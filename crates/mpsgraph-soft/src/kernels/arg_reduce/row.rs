//! The position in a row of at least a chunk: the extreme value is found first, then it is searched.

use super::{CHUNK, beats, start};
use crate::kernels::element::Element;
use crate::kernels::reduce::inner::fold;
use crate::kernels::reduce::reducers::{Max, MaxNan, Min, MinNan};
use crate::kernels::reduce::{BLOCK, in_halves};
use std::ops::Range;

/// Elements of a row in all of which the position is searched, because to stop where it is takes longer.
const SHORT: usize = 256;

/// The position in a row: where in the first of the blocks whose extreme value no other beats that value is.
#[inline(always)]
pub fn first_of_row<T: Element, const MAX: bool, const OR_NAN: bool>(x: &[T]) -> i32 {
    let (mut best, mut first) = (start::<T, MAX>(), 0);
    for (at, block) in x.chunks(BLOCK).enumerate() {
        let extreme = extreme::<T, MAX, OR_NAN>(block);
        if beats::<T, MAX, OR_NAN>(extreme, best) {
            (best, first) = (extreme, at * BLOCK);
        }
    }
    if x.len() <= SHORT {
        return first_hit::<T, OR_NAN>(x, 0..x.len(), best);
    }
    let (chunks, _) = x[first..].as_chunks::<CHUNK>();
    let has_none = |chunk: &[T; CHUNK]| !chunk.iter().fold(false, |hit, &x| hit | is_hit::<T, OR_NAN>(x, best));
    let skipped = chunks.iter().take_while(|chunk| has_none(chunk)).count();
    // What remains may be less than a chunk; what is in front of it is no hit.
    let from = (first + skipped * CHUNK).min(x.len() - CHUNK);
    first_hit::<T, OR_NAN>(x, from..from + CHUNK, best)
}

/// Whether the position may be that of `x`. A row of NaN alone holds no element equal to the start, and a NaN equals
/// nothing.
#[inline(always)]
fn is_hit<T: Element, const OR_NAN: bool>(x: T, best: T) -> bool {
    (x == best) | (OR_NAN & x.is_nan())
}

/// The first hit in this range of at least a chunk, or -1.
#[inline(always)]
fn first_hit<T: Element, const OR_NAN: bool>(x: &[T], range: Range<usize>, best: T) -> i32 {
    let mut firsts = [i32::MAX; CHUNK];
    let last = range.end - CHUNK;
    for from in range.step_by(CHUNK) {
        // The last ones may be among those before.
        let from = from.min(last);
        let chunk = x[from..].first_chunk::<CHUNK>().expect("there are so many before the end");
        for lane in 0..CHUNK {
            let is_first = is_hit::<T, OR_NAN>(chunk[lane], best) & (((from + lane) as i32) < firsts[lane]);
            firsts[lane] = if is_first { (from + lane) as i32 } else { firsts[lane] };
        }
    }
    match in_halves(firsts, i32::min) {
        i32::MAX => -1,
        first => first,
    }
}

/// The extreme value of some elements, or NaN if that beats it.
#[inline(always)]
fn extreme<T: Element, const MAX: bool, const OR_NAN: bool>(x: &[T]) -> T {
    match (MAX, OR_NAN) {
        (true, false) => fold::<T, Max>(x, x.len()),
        (false, false) => fold::<T, Min>(x, x.len()),
        (true, true) => fold::<T, MaxNan>(x, x.len()),
        (false, true) => fold::<T, MinNan>(x, x.len()),
    }
}
