//! Softmax along an axis: `e^(x - max)` over the sum of the same, computed in f32 for every dtype.
//!
//! A row of negative infinities only gives NaN, as does any row with a NaN or positive infinity. f32 results hold the
//! exponentials until they are scaled; 16-bit results would round them, so there they are computed twice.

use super::call::Call;
use super::element::Float;
use super::exp::exp_below_zero as exp;
use super::prefetch::prefetch;
use super::reduce::{ACCUMULATORS, in_halves};
use super::threads::{MOVED, PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use super::{Kernel, dispatch};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// Widest tile when the axis is not the last.
const COLUMNS: usize = 256;
/// Rows that are summed before their sum joins the others: rounding grows with the longest chain of additions.
const ROWS: usize = 256;
/// Elements that are converted at a time, and summed before a sum joins the others.
const BLOCK: usize = 512;

/// `[x]`, same shape and dtype; floats only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Softmax {
    pub axis: usize,
}

impl Kernel for Softmax {
    fn run(&self, mut call: Call<'_>) {
        let x = &call.inputs[0];
        dispatch!(float x.dtype(), T => softmax::<T>(x.elements(), x.shape(), self.axis, call.output_elements()));
    }
}

/// Softmax of the packed `x` of `shape`.
pub fn softmax<T: Float>(x: &[T], shape: &[usize], axis: usize, out: &mut [T]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let extent = shape[axis];
    let block = extent * inner;
    // One block of rows per task, or the blocks that make a task worth its cost.
    let chunk = block * (PARALLEL_BYTES / 4 / (block * size_of::<T>())).max(1);
    share(MOVED.is_met(size_of_val(x)), chunk, out, |at, out| {
        let x = &x[at * chunk..][..out.len()];
        if inner == 1 {
            return vectorised(Segments { x, extent, out });
        }
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            for first in (0..inner).step_by(COLUMNS) {
                let width = COLUMNS.min(inner - first);
                vectorised(Columns { x, inner, first, width, out });
            }
        }
    });
}

/// Sum in `ACCUMULATORS` parts.
#[inline(always)]
fn sum(x: &[f32]) -> f32 {
    let (chunks, rest) = x.as_chunks::<ACCUMULATORS>();
    let rest = rest.iter().sum::<f32>();
    let Some((first, chunks)) = chunks.split_first() else { return rest };
    let mut sums = *first;
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += x;
        }
    }
    // By way of memory, here and for the largest: without it the whole softmax takes a quarter longer.
    in_halves(black_box(sums), |a, b| a + b) + rest
}

/// Largest element; NaN is skipped, which makes the row NaN through its exponential.
#[inline(always)]
fn largest<T: Float>(x: &[T]) -> f32 {
    let (chunks, rest) = x.as_chunks::<ACCUMULATORS>();
    let rest = rest.iter().fold(f32::NEG_INFINITY, |max, &x| larger(max, x.to_f32()));
    if chunks.is_empty() {
        return rest;
    }
    let mut maxima = [f32::NEG_INFINITY; ACCUMULATORS];
    for chunk in chunks {
        for (max, &x) in maxima.iter_mut().zip(chunk) {
            *max = larger(*max, x.to_f32());
        }
    }
    larger(in_halves(black_box(maxima), larger), rest)
}

#[inline(always)]
fn larger(max: f32, x: f32) -> f32 {
    if x > max { x } else { max }
}

struct Segments<'a, T> {
    x: &'a [T],
    extent: usize,
    out: &'a mut [T],
}

impl<T: Float> Segments<'_, T> {
    /// Rows of which a block holds several: all exponentials of a block are computed by one loop.
    #[inline(always)]
    fn several(self, exps: &mut [f32; BLOCK]) {
        let Self { x, extent, out } = self;
        let several = BLOCK / extent * extent;
        for (x, out) in x.chunks(several).zip(out.chunks_mut(several)) {
            let exps = &mut exps[..x.len()];
            for (exps, x) in exps.chunks_exact_mut(extent).zip(x.chunks_exact(extent)) {
                let max = largest(x);
                exps.iter_mut().zip(x).for_each(|(e, &x)| *e = x.to_f32() - max);
            }
            exps.iter_mut().for_each(|e| *e = exp(*e));
            for (out, exps) in out.chunks_exact_mut(extent).zip(exps.chunks_exact(extent)) {
                let scale = 1.0 / sum(exps);
                out.iter_mut().zip(exps).for_each(|(out, e)| *out = T::from_f32(e * scale));
            }
        }
    }
}

impl<T: Float> VectorLoop for Segments<'_, T> {
    type Output = ();

    const WIDE: bool = T::IS_F32;

    #[inline(always)]
    fn run(self) {
        let mut exps = [0.0; BLOCK];
        if self.extent <= BLOCK / 2 {
            return self.several(&mut exps);
        }
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out.chunks_exact_mut(self.extent)) {
            let max = largest(x);
            let mut total = 0.0;
            for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                // Of the next row, whose largest element would otherwise wait for memory while nothing is computed.
                prefetch(x.as_ptr().wrapping_add(self.extent).cast(), size_of_val(x));
                let exps = T::as_f32s(out).unwrap_or(&mut exps[..x.len()]);
                exps.iter_mut().zip(x).for_each(|(e, &x)| *e = exp(x.to_f32() - max));
                total += sum(exps);
            }
            // The largest element's exponential is 1, so the reciprocal cannot overflow.
            let scale = 1.0 / total;
            match T::as_f32s(out) {
                Some(exps) => exps.iter_mut().for_each(|e| *e *= scale),
                None => out.iter_mut().zip(x).for_each(|(out, &x)| *out = T::from_f32(exp(x.to_f32() - max) * scale)),
            }
        }
    }
}

/// The columns from `first` on of one block.
struct Columns<'a, T> {
    x: &'a [T],
    inner: usize,
    first: usize,
    width: usize,
    out: &'a mut [T],
}

impl<T: Float> VectorLoop for Columns<'_, T> {
    type Output = ();

    const WIDE: bool = T::IS_F32;

    #[inline(always)]
    fn run(self) {
        let (first, width) = (self.first, self.width);
        let (mut max, mut total) = ([f32::NEG_INFINITY; COLUMNS], [0.0; COLUMNS]);
        let (max, total) = (&mut max[..width], &mut total[..width]);
        for row in self.x.chunks_exact(self.inner) {
            let row = &row[first..][..width];
            max.iter_mut().zip(row).for_each(|(max, &x)| *max = larger(*max, x.to_f32()));
        }
        for (x, out) in self.x.chunks(ROWS * self.inner).zip(self.out.chunks_mut(ROWS.saturating_mul(self.inner))) {
            let mut part = [0.0; COLUMNS];
            let part = &mut part[..width];
            for (row, out) in x.chunks_exact(self.inner).zip(out.chunks_exact_mut(self.inner)) {
                let (row, out) = (&row[first..][..width], &mut out[first..][..width]);
                for i in 0..width {
                    let e = exp(row[i].to_f32() - max[i]);
                    part[i] += e;
                    if T::IS_F32 {
                        out[i] = T::from_f32(e);
                    }
                }
            }
            total.iter_mut().zip(part).for_each(|(total, part)| *total += *part);
        }
        total.iter_mut().for_each(|x| *x = 1.0 / *x);
        for (row, out) in self.x.chunks_exact(self.inner).zip(self.out.chunks_exact_mut(self.inner)) {
            let (row, out) = (&row[first..][..width], &mut out[first..][..width]);
            for i in 0..width {
                let e = if T::IS_F32 { out[i].to_f32() } else { exp(row[i].to_f32() - max[i]) };
                out[i] = T::from_f32(e * total[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
