//! Weighted sums of rows that indices choose, without a table of the rows or of their products.
//!
//! Products are rounded and added one after the other, first to the sum's start, as a gather, a multiplication and a
//! reduction do it one by one.

use super::Kernel;
use super::call::Call;
use super::reduce::reducers::{Reducer, Sum};
use super::rows::Indexing;
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};

/// Elements that are summed side by side.
const LANES: usize = 32;
/// Elements of results that stay together.
const CHUNK: usize = PARALLEL_BYTES / 16;

/// `[x (outer, extent, inner), indices (slots * count), weights (1, slots, count, 1)]`, f32 with i32 indices along the
/// extent; `(outer, 1, count, inner)` is the sum over the slots of the rows of `x` times their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blend;

impl Kernel for Blend {
    fn run(&self, mut call: Call<'_>) {
        let [x, indices, weights] = call.inputs else { unreachable!("a blend has three operands") };
        Indexing::Axis { axis: 1, batch: 0 }.rows(x.shape(), indices, &call);
        let (extent, &[_, slots, count, _]) = (x.shape()[1], weights.shape()) else {
            unreachable!("weights of a blend have four axes")
        };
        let inner = x.shape()[2];
        let (indices, weights) = (indices.elements(), weights.elements());
        let sums = Sums { x: x.elements(), extent, inner, slots, count, indices, weights };
        sums.all(call.output_elements());
    }
}

/// What is summed.
#[derive(Clone, Copy)]
struct Sums<'a> {
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
    let &Sums { slots, count, indices, weights, .. } = sums;
    for (part, out) in out.chunks_mut(LANES).enumerate() {
        let mut sum = [<Sum as Reducer<f32>>::START; LANES];
        for slot in 0..slots {
            let at = slot * count + part * LANES;
            let terms = indices[at..].iter().zip(&weights[at..]);
            for (sum, (&index, &weight)) in sum[..out.len()].iter_mut().zip(terms) {
                *sum = <Sum as Reducer<f32>>::step(*sum, x[index as usize] * weight);
            }
        }
        out.copy_from_slice(&sum[..out.len()]);
    }
}

/// The row of results `at`, a sum of rows of `x`.
#[inline(always)]
fn row(sums: &Sums<'_>, x: &[f32], at: usize, out: &mut [f32]) {
    let &Sums { inner, slots, count, indices, weights, .. } = sums;
    for (part, out) in out.chunks_mut(LANES).enumerate() {
        let mut sum = [<Sum as Reducer<f32>>::START; LANES];
        for slot in 0..slots {
            let (index, weight) = (indices[slot * count + at] as usize, weights[slot * count + at]);
            let x = &x[index * inner + part * LANES..][..out.len()];
            if let Some(x) = x.first_chunk::<LANES>() {
                for lane in 0..LANES {
                    sum[lane] = <Sum as Reducer<f32>>::step(sum[lane], x[lane] * weight);
                }
            } else {
                for (sum, &x) in sum.iter_mut().zip(x) {
                    *sum = <Sum as Reducer<f32>>::step(*sum, x * weight);
                }
            }
        }
        out.copy_from_slice(&sum[..out.len()]);
    }
}

#[cfg(test)]
mod tests;
