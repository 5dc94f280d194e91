//! Softmax along an axis: `e^(x - max)` over the sum of the same.
//!
//! A row of nothing but negative infinities becomes NaN, and so does each row that holds a NaN or a positive infinity.
//! Of long rows, the result's memory holds the exponentials until their sum is known, by which they are scaled then.

use super::Kernel;
use super::call::Call;
use super::exp::exp_below_zero as exp;
use super::reduce::{ACCUMULATORS, in_halves};
use super::threads::{Columns, MOVED, PARALLEL_BYTES, count, even_width, share, share_columns};
use super::vectorised::{VectorLoop, vectorised};
use crate::ir::DType;
use crate::prefetch::prefetch;
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// Widest tile when the axis is not the last.
const COLUMNS: usize = 256;
/// Narrowest tile for one of the threads that share a block. The wider, the less of each row costs its way to memory.
const NARROWEST: usize = 64;
/// Numbers of a row below which several rows count as one: the lanes of a few vectors.
const NARROW: usize = 32;
/// Rows that are summed before their sum joins the others: rounding grows with the longest chain of additions.
const ROWS: usize = 256;
/// Elements that are converted at a time, and summed before a sum joins the others.
const BLOCK: usize = 512;

/// `[x]`, same shape; f32, in which other floats are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Softmax {
    pub axis: usize,
}

impl Kernel for Softmax {
    fn run(&self, mut call: Call<'_>) {
        let x = &call.inputs[0];
        softmax(x.elements(), x.shape(), self.axis, call.output_elements());
    }

    fn computes_in(&self, dtype: DType) -> DType {
        if dtype.is_float() { DType::F32 } else { dtype }
    }
}

/// Softmax of the packed `x` of `shape`.
pub fn softmax(x: &[f32], shape: &[usize], axis: usize, out: &mut [f32]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let extent = shape[axis];
    let block = extent * inner;
    let parallel = MOVED.is_met(size_of_val(x));
    if parallel && inner > NARROWEST && x.len() / block < count() {
        // Of blocks that are too few for the threads, each takes some columns.
        let width = even_width(inner, size_of::<f32>(), NARROWEST..=COLUMNS);
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            share_columns(inner, width, out, &|first, out| vectorised(Tile { x, inner, first, out }));
        }
        return;
    }
    // One block of rows per task, or the blocks that make a task worth its cost.
    let chunk = block * (PARALLEL_BYTES / 4 / (block * size_of::<f32>())).max(1);
    share(parallel, chunk, out, |at, out| {
        let x = &x[at * chunk..][..out.len()];
        if inner == 1 {
            return vectorised(Segments { x, extent, out });
        }
        if inner < NARROW {
            return vectorised(Narrow { x, block, inner, out });
        }
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            let mut all = Columns::all(out, inner);
            for first in (0..inner).step_by(COLUMNS) {
                let out = all.part(first..inner.min(first + COLUMNS));
                vectorised(Tile { x, inner, first, out });
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
fn largest(x: &[f32]) -> f32 {
    let (chunks, rest) = x.as_chunks::<ACCUMULATORS>();
    let rest = rest.iter().fold(f32::NEG_INFINITY, |max, &x| larger(max, x));
    if chunks.is_empty() {
        return rest;
    }
    let mut maxima = [f32::NEG_INFINITY; ACCUMULATORS];
    for chunk in chunks {
        for (max, &x) in maxima.iter_mut().zip(chunk) {
            *max = larger(*max, x);
        }
    }
    larger(in_halves(black_box(maxima), larger), rest)
}

#[inline(always)]
fn larger(max: f32, x: f32) -> f32 {
    if x > max { x } else { max }
}

struct Segments<'a> {
    x: &'a [f32],
    extent: usize,
    out: &'a mut [f32],
}

impl Segments<'_> {
    /// Rows of which a block holds several: all exponentials of a block are computed by one loop.
    #[inline(always)]
    fn several(self) {
        let mut exps = [0.0; BLOCK];
        let Self { x, extent, out } = self;
        let several = BLOCK / extent * extent;
        for (x, out) in x.chunks(several).zip(out.chunks_mut(several)) {
            let exps = &mut exps[..x.len()];
            for (exps, x) in exps.chunks_exact_mut(extent).zip(x.chunks_exact(extent)) {
                let max = largest(x);
                exps.iter_mut().zip(x).for_each(|(e, &x)| *e = x - max);
            }
            exps.iter_mut().for_each(|e| *e = exp(*e));
            for (out, exps) in out.chunks_exact_mut(extent).zip(exps.chunks_exact(extent)) {
                let scale = 1.0 / sum(exps);
                out.iter_mut().zip(exps).for_each(|(out, e)| *out = e * scale);
            }
        }
    }
}

impl VectorLoop for Segments<'_> {
    type Output = ();

    const WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        if self.extent <= BLOCK / 2 {
            return self.several();
        }
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out.chunks_exact_mut(self.extent)) {
            let max = largest(x);
            let mut total = 0.0;
            for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                // Of the next row, whose largest element would otherwise wait for memory while nothing is computed.
                prefetch(x.as_ptr().wrapping_add(self.extent).cast(), size_of_val(x));
                out.iter_mut().zip(x).for_each(|(e, &x)| *e = exp(x - max));
                total += sum(out);
            }
            // The largest element's exponential is 1, so the reciprocal cannot overflow.
            let scale = 1.0 / total;
            out.iter_mut().for_each(|e| *e *= scale);
        }
    }
}

/// Some columns of one block, at most `COLUMNS`, from `first` on.
struct Tile<'a> {
    /// The whole block.
    x: &'a [f32],
    inner: usize,
    first: usize,
    out: Columns<'a, f32>,
}

impl VectorLoop for Tile<'_> {
    type Output = ();

    const WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let Tile { x, inner, first, mut out } = self;
        let width = out.width();
        let (mut max, mut total) = ([f32::NEG_INFINITY; COLUMNS], [0.0; COLUMNS]);
        let (max, total) = (&mut max[..width], &mut total[..width]);
        for row in x.chunks_exact(inner) {
            let row = &row[first..][..width];
            max.iter_mut().zip(row).for_each(|(max, &x)| *max = larger(*max, x));
        }
        for (some, x) in x.chunks(ROWS * inner).enumerate() {
            let mut part = [0.0; COLUMNS];
            let part = &mut part[..width];
            for (row, x) in x.chunks_exact(inner).enumerate() {
                let Some(out) = out.row(some * ROWS + row) else { break };
                exponentials(&x[first..][..width], max, out, part);
            }
            total.iter_mut().zip(part).for_each(|(total, part)| *total += *part);
        }
        total.iter_mut().for_each(|x| *x = 1.0 / *x);
        for row in 0..out.rows() {
            let Some(out) = out.row(row) else { break };
            out.iter_mut().zip(&*total).for_each(|(e, total)| *e *= total);
        }
    }
}

/// Blocks of narrow rows. As many as fill a tile are one wide row, in which each column stands several times.
struct Narrow<'a> {
    x: &'a [f32],
    block: usize,
    inner: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Narrow<'_> {
    type Output = ();

    const WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let Narrow { x, block, inner, out } = self;
        let width = (COLUMNS / inner * inner).min(block);
        let (mut max, mut total, mut part) = ([0.0; COLUMNS], [0.0; COLUMNS], [0.0; COLUMNS]);
        let (max, total, part) = (&mut max[..width], &mut total[..width], &mut part[..width]);
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            max.fill(f32::NEG_INFINITY);
            // The last of the wide rows may be shorter.
            for row in x.chunks(width) {
                max.iter_mut().zip(row).for_each(|(max, &x)| *max = larger(*max, x));
            }
            join(max, inner, larger);
            total.fill(0.0);
            for (x, out) in x.chunks(ROWS * width).zip(out.chunks_mut(ROWS * width)) {
                part.fill(0.0);
                for (x, out) in x.chunks(width).zip(out.chunks_mut(width)) {
                    exponentials(x, max, out, part);
                }
                total.iter_mut().zip(&*part).for_each(|(total, part)| *total += part);
            }
            join(total, inner, |a, b| a + b);
            total.iter_mut().for_each(|x| *x = 1.0 / *x);
            for row in out.chunks_mut(width) {
                row.iter_mut().zip(&*total).for_each(|(e, total)| *e *= total);
            }
        }
    }
}

/// Gives all places of a column in a wide row what `op` makes of them together, in halves.
#[inline(always)]
fn join(wide: &mut [f32], inner: usize, op: impl Fn(f32, f32) -> f32) {
    let mut joined = wide.len();
    while joined > inner {
        let half = (joined / inner).div_ceil(2) * inner;
        let (first, second) = wide[..joined].split_at_mut(half);
        first.iter_mut().zip(second).for_each(|(all, &mut x)| *all = op(*all, x));
        joined = half;
    }
    while joined < wide.len() {
        let more = joined.min(wide.len() - joined);
        wide.copy_within(..more, joined);
        joined += more;
    }
}

/// Exponentials of a row, and their sums with those of the rows before.
#[inline(always)]
fn exponentials(x: &[f32], max: &[f32], out: &mut [f32], sums: &mut [f32]) {
    for (((&x, &max), out), sum) in x.iter().zip(max).zip(out).zip(sums) {
        *out = exp(x - max);
        *sum += *out;
    }
}

#[cfg(test)]
mod tests;
