//! Weighted sums of rows that indices choose, without a table of the rows or of their products.
//!
//! Products are rounded, and added in the order in which a reduction adds rows, as a gather, a multiplication and a
//! reduction do it one by one.

use super::Kernel;
use super::call::Call;
use super::rows::Indexing;
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Elements that are summed side by side.
const LANES: usize = 32;
/// The last few, likewise.
const FEW: usize = 8;
/// Elements of results that stay together.
const CHUNK: usize = PARALLEL_BYTES / 16;

/// `[x (outer, extent, inner), indices (slots * count), weights (1, slots, count, 1)]`, f32 with i32 indices along the
/// extent; `(outer, 1, count, inner)` is the sum over the slots of the rows of `x` times their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blend {
    /// Of the slots every one of so many is added to the first of them, likewise the others, and then these sums and the
    /// slots that are left.
    pub parts: usize,
}

impl Kernel for Blend {
    fn run(&self, mut call: Call<'_>) {
        let [x, indices, weights] = call.inputs else { unreachable!("a blend has three operands") };
        Indexing::Axis { axis: 1, batch: 0 }.rows(x.shape(), indices, &call);
        let (extent, &[_, slots, count, _]) = (x.shape()[1], weights.shape()) else {
            unreachable!("weights of a blend have four axes")
        };
        let inner = x.shape()[2];
        let (indices, weights) = (indices.elements(), weights.elements());
        let sums = Sums { parts: self.parts, x: x.elements(), extent, inner, slots, count, indices, weights };
        sums.all(call.output_elements());
    }
}

/// What is summed.
#[derive(Clone, Copy)]
struct Sums<'a> {
    parts: usize,
    x: &'a [f32],
    extent: usize,
    inner: usize,
    slots: usize,
    count: usize,
    /// Inside of the extent.
    indices: &'a [i32],
    weights: &'a [f32],
}

impl Sums<'_> {
    fn all(&self, out: &mut [f32]) {
        let Sums { inner, slots, count, .. } = *self;
        let together = if inner == 1 { count } else { inner };
        let chunk = (CHUNK / together).max(1) * together;
        share(size_of_val(out) * slots > PARALLEL_BYTES, chunk, out, |at, out| {
            vectorised(Part { sums: self, first: at * chunk, out });
        });
    }
}

/// Whole rows of results, or, of rows of one element, all that are side by side.
struct Part<'a> {
    sums: &'a Sums<'a>,
    /// Elements of the results before these.
    first: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Part { sums, first, out } = self;
        let Sums { x, extent, inner, count, .. } = *sums;
        if inner == 1 {
            for (at, out) in out.chunks_exact_mut(count).enumerate() {
                columns(sums, &x[(first / count + at) * extent..][..extent], out);
            }
            return;
        }
        for (at, out) in out.chunks_exact_mut(inner).enumerate() {
            let at = first / inner + at;
            row(sums, &x[at / count * extent * inner..][..extent * inner], at % count, out);
        }
    }
}

/// The results of one row of `x`, each a sum of its elements.
#[inline(always)]
fn columns(sums: &Sums<'_>, x: &[f32], out: &mut [f32]) {
    let [lanes, few, rest] = parts(out.len());
    fill(out, lanes, |at| some_columns::<LANES>(sums, x, at));
    fill(out, few, |at| some_columns::<FEW>(sums, x, at));
    fill(out, rest, |at| some_columns::<1>(sums, x, at));
}

#[inline(always)]
fn some_columns<const N: usize>(sums: &Sums<'_>, x: &[f32], at: usize) -> [f32; N] {
    let &Sums { count, indices, weights, .. } = sums;
    sum(sums, |slot| {
        let entry = slot * count + at;
        let (indices, weights): (&[i32; N], &[f32; N]) = (chunk(&indices[entry..]), chunk(&weights[entry..]));
        std::array::from_fn(|lane| x[indices[lane] as usize] * weights[lane])
    })
}

/// The row of results `place`, a sum of rows of `x`.
#[inline(always)]
fn row(sums: &Sums<'_>, x: &[f32], place: usize, out: &mut [f32]) {
    let [lanes, few, rest] = parts(out.len());
    fill(out, lanes, |at| some_of_row::<LANES>(sums, x, place, at));
    fill(out, few, |at| some_of_row::<FEW>(sums, x, place, at));
    fill(out, rest, |at| some_of_row::<1>(sums, x, place, at));
}

#[inline(always)]
fn some_of_row<const N: usize>(sums: &Sums<'_>, x: &[f32], place: usize, at: usize) -> [f32; N] {
    let &Sums { inner, count, indices, weights, .. } = sums;
    sum(sums, |slot| {
        let entry = slot * count + place;
        let (x, weight): (&[f32; N], f32) = (chunk(&x[indices[entry] as usize * inner + at..]), weights[entry]);
        std::array::from_fn(|lane| x[lane] * weight)
    })
}

/// The parts of so many elements that are summed by `LANES`, by `FEW`, and one by one.
#[inline(always)]
fn parts(length: usize) -> [Range<usize>; 3] {
    let lanes = length / LANES * LANES;
    let few = length / FEW * FEW;
    [0..lanes, lanes..few, few..length]
}

/// Fills a part of `out` by what comes out for each place.
#[inline(always)]
fn fill<const N: usize>(out: &mut [f32], part: Range<usize>, results: impl Fn(usize) -> [f32; N]) {
    for at in part.step_by(N) {
        out[at..at + N].copy_from_slice(&results(at));
    }
}

#[inline(always)]
fn chunk<T, const N: usize>(elements: &[T]) -> &[T; N] {
    elements.first_chunk().expect("a whole part")
}

/// The sum of the terms of all slots.
#[inline(always)]
fn sum<const N: usize>(sums: &Sums<'_>, term: impl Fn(usize) -> [f32; N]) -> [f32; N] {
    let &Sums { slots, parts, .. } = sums;
    let steps = slots / parts;
    let mut all = [0.0; N];
    for part in 0..parts {
        let own = (0..steps).fold([0.0; N], |sum, step| plus(sum, term(step * parts + part)));
        all = if part == 0 { own } else { plus(all, own) };
    }
    (steps * parts..slots).fold(all, |sum, slot| plus(sum, term(slot)))
}

#[inline(always)]
fn plus<const N: usize>(mut a: [f32; N], b: [f32; N]) -> [f32; N] {
    for lane in 0..N {
        a[lane] += b[lane];
    }
    a
}

#[cfg(test)]
mod tests;
