//! The position in a row of at least a chunk: the extreme value is found first, then it is searched.

use super::CHUNK;
use super::flipped::Flipped;
use crate::kernels::reduce::{BLOCK, in_halves};
use std::ops::Range;

/// Elements of a row in all of which the position is searched, because to stop where it is takes longer.
const SHORT: usize = 256;

/// The position in a row: where in the first of the blocks whose extreme value no other beats that value is.
#[inline(always)]
pub fn first_of_row<T: Flipped, const OR_NAN: bool>(x: &[T], flip: T) -> i32 {
    let (mut best, mut first) = (T::LOWEST, 0);
    for (at, block) in x.chunks(BLOCK).enumerate() {
        let extreme = extreme::<T, OR_NAN>(block, flip);
        if beats::<T, OR_NAN>(extreme, best) {
            (best, first) = (extreme, at * BLOCK);
        }
    }
    // The same bits as they are in the row.
    let best = best.flipped(flip);
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

/// Whether `x` beats `best`. A NaN never does, or nothing but another NaN withstands it.
#[inline(always)]
fn beats<T: Flipped, const OR_NAN: bool>(x: T, best: T) -> bool {
    if OR_NAN { ((x > best) | x.is_nan()) & !best.is_nan() } else { x > best }
}

/// Whether `x` is the extreme value that was found. A NaN equals nothing, so NaN are asked for by themselves where they
/// are chosen. Where they are not, a row of NaN alone has no hit, because no element equals the start of the search.
#[inline(always)]
fn is_hit<T: Flipped, const OR_NAN: bool>(x: T, best: T) -> bool {
    (x == best) | (OR_NAN & x.is_nan())
}

/// The first hit in this range of at least a chunk, or -1.
#[inline(always)]
fn first_hit<T: Flipped, const OR_NAN: bool>(x: &[T], range: Range<usize>, best: T) -> i32 {
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

/// The largest of some elements after bits were flipped, or NaN if that beats it. It stays what it is if elements are
/// taken in twice.
#[inline(always)]
fn extreme<T: Flipped, const OR_NAN: bool>(x: &[T], flip: T) -> T {
    // In any order the compiler finds accumulators of its own; around ours it would take vectors apart.
    if T::ANY_ORDER || x.len() < CHUNK {
        return x.iter().fold(T::LOWEST, |best, &x| {
            let x = x.flipped(flip);
            if OR_NAN { larger(best, x).or_nan(x) } else { larger(best, x) }
        });
    }
    let (mut bests, mut noted) = ([T::LOWEST; CHUNK], [T::ZERO; CHUNK]);
    // Whether there is a NaN is noted beside that, once for both chunks of a pair; what a NaN hides then is of no use.
    let mut take = |low: &[T], high: &[T]| {
        for lane in 0..CHUNK {
            let (a, b) = (low[lane].flipped(flip), high[lane].flipped(flip));
            if OR_NAN {
                bests[lane] = larger(bests[lane], larger(a, b));
                noted[lane] = noted[lane].or_nan_of([a, b]);
            } else {
                bests[lane] = larger(larger(bests[lane], a), b);
            }
        }
    };
    let mut pairs = x.chunks_exact(2 * CHUNK);
    for pair in &mut pairs {
        let (low, high) = pair.split_at(CHUNK);
        take(low, high);
    }
    let rest = pairs.remainder();
    if !rest.is_empty() {
        let last = &x[x.len() - CHUNK..];
        take(if rest.len() > CHUNK { &rest[..CHUNK] } else { last }, last);
    }
    let best = in_halves(bests, larger);
    if OR_NAN { best.or_nan(in_halves(noted, |a, b| a.or_nan_of([a, b]))) } else { best }
}

/// The larger one; a NaN is never larger than what it is compared with, and nothing is larger than a NaN.
#[inline(always)]
fn larger<T: Flipped>(best: T, x: T) -> T {
    if x > best { x } else { best }
}
