//! Weighted sums of rows that indices choose, without a table of the rows or of their products.
//!
//! Products are rounded, and added in the order in which a reduction adds rows, as a gather, a multiplication and a
//! reduction do it one by one.

#![expect(unsafe_code, reason = "elements by indices that were checked all at once")]

use super::Kernel;
use super::call::Call;
use super::elementwise::math::product;
use super::reduce::Anew;
use super::rows::{Index, Indexing};
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};
use std::slice;

/// Elements that are summed side by side.
const LANES: usize = 32;
/// Of shorter rows, likewise.
const FEW: usize = 8;
/// Elements of results that stay together.
const CHUNK: usize = PARALLEL_BYTES / 16;

/// `[x (outer, extent, inner), indices (slots * count), weights (1, slots, count, 1)]`, f32 with i32 indices along the
/// extent; `(outer, 1, count, inner)` is the sum over the slots of the rows of `x` times their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blend {
    /// Every one of so many slots is added to the first of them, likewise the others; then come these sums, and the
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
        let (parts, whole) = (self.parts, slots / self.parts * self.parts);
        let (x, indices, weights) = (x.elements(), indices.elements(), weights.elements());
        Sums { parts, whole, x, extent, inner, slots, count, indices, weights }.all(call.output_elements());
    }
}

/// What is summed.
#[derive(Clone, Copy)]
struct Sums<'a> {
    parts: usize,
    /// The slots that are in the parts.
    whole: usize,
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
        assert!(i32::all_within(self.indices, self.extent), "indices of a blend are within the extent");
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
            let rows = x.chunks_exact(extent).skip(first / count);
            for (out, x) in out.chunks_exact_mut(count).zip(rows) {
                let terms = Elements { sums, x };
                fill(sums, &terms, out);
                mend(sums, &terms, out);
            }
            return;
        }
        for (at, out) in out.chunks_exact_mut(inner).enumerate() {
            let at = first / inner + at;
            let x = &x[at / count * extent * inner..][..extent * inner];
            let terms = Rows { sums, x, place: at % count };
            fill(sums, &terms, out);
            mend(sums, &terms, out);
        }
    }
}

/// What is added to neighbouring results, for each slot. A closure would be compiled without the vector registers.
trait Terms {
    /// For the results from `at` on.
    fn of_slot<const N: usize>(&self, slot: usize, at: usize) -> [f32; N];
}

/// Elements of one row of `x`.
struct Elements<'a> {
    sums: &'a Sums<'a>,
    x: &'a [f32],
}

impl Terms for Elements<'_> {
    #[inline(always)]
    fn of_slot<const N: usize>(&self, slot: usize, at: usize) -> [f32; N] {
        let entry = slot * self.sums.count + at;
        let indices: &[i32; N] = chunk(&self.sums.indices[entry..]);
        let weights: &[f32; N] = chunk(&self.sums.weights[entry..]);
        let mut terms = [0.0; N];
        for lane in 0..N {
            // SAFETY: the row has as many elements as the extent, and all indices are within it (checked by `all`).
            let x = unsafe { *self.x.get_unchecked(indices[lane] as usize) };
            terms[lane] = product(x, weights[lane]);
        }
        terms
    }
}

/// Whole rows of `x`.
struct Rows<'a> {
    sums: &'a Sums<'a>,
    x: &'a [f32],
    /// Which row of results.
    place: usize,
}

impl Terms for Rows<'_> {
    #[inline(always)]
    fn of_slot<const N: usize>(&self, slot: usize, at: usize) -> [f32; N] {
        let entry = slot * self.sums.count + self.place;
        let (index, weight) = (self.sums.indices[entry] as usize, self.sums.weights[entry]);
        let mut terms: [f32; N] = *chunk(&self.x[index * self.sums.inner + at..]);
        for term in &mut terms {
            *term = product(*term, weight);
        }
        terms
    }
}

/// Sums neighbouring results by `LANES`, few of them by `FEW`, and fewer one by one. What is left of a row is summed
/// with results before it, once more.
#[inline(always)]
fn fill(sums: &Sums<'_>, terms: &impl Terms, out: &mut [f32]) {
    if out.len() >= LANES {
        return fill_by::<LANES>(sums, terms, out);
    }
    if out.len() >= FEW {
        return fill_by::<FEW>(sums, terms, out);
    }
    for (at, out) in out.iter_mut().enumerate() {
        [*out] = sum(sums, terms, at);
    }
}

/// Finds sums that are not finite anew, a slot after another, as a reduction does that adds in parts.
#[inline(always)]
fn mend(sums: &Sums<'_>, terms: &impl Terms, out: &mut [f32]) {
    if sums.parts == 1 || out.iter().fold(true, |all, x| all & x.is_finite()) {
        return;
    }
    for (at, found) in out.iter_mut().enumerate().filter(|(_, found)| !found.is_finite()) {
        let mut anew = Anew::of_sums(slice::from_ref(found));
        let mut slots = 0..sums.slots;
        if slots.all(|slot| anew.take_row(&terms.of_slot::<1>(slot, at))) {
            anew.finish(slice::from_mut(found), |sum| sum);
        }
    }
}

#[inline(always)]
fn fill_by<const N: usize>(sums: &Sums<'_>, terms: &impl Terms, out: &mut [f32]) {
    let last = out.len() - N;
    for at in (0..last).step_by(N).chain([last]) {
        out[at..at + N].copy_from_slice(&sum::<N>(sums, terms, at));
    }
}

#[inline(always)]
fn chunk<T, const N: usize>(elements: &[T]) -> &[T; N] {
    elements.first_chunk().expect("a whole part")
}

/// The sums of the terms of all slots.
#[inline(always)]
fn sum<const N: usize>(sums: &Sums<'_>, terms: &impl Terms, at: usize) -> [f32; N] {
    let &Sums { slots, parts, whole, .. } = sums;
    let mut all = [0.0; N];
    for part in 0..parts {
        let mut own = [0.0; N];
        for slot in (part..whole).step_by(parts) {
            own = plus(own, terms.of_slot(slot, at));
        }
        all = if part == 0 { own } else { plus(all, own) };
    }
    for slot in whole..slots {
        all = plus(all, terms.of_slot(slot, at));
    }
    all
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
