//! Softmax along an axis: `e^(x - max)` over the sum of the same, computed in f32 whatever the dtype.
//!
//! A row of nothing but negative infinity gives NaN, as does any row with a NaN or positive infinity. f32 results
//! hold the exponentials until they are scaled; 16-bit results would round them, so there they are computed twice.

use super::element::Float;
use super::exp::exp_below_zero as exp;
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{Kernel, vectorised};

/// Widest tile when the axis is not the last.
const COLUMNS: usize = 256;
/// Elements that are converted at a time, and summed before a sum joins the others.
const BLOCK: usize = 512;
/// Accumulators.
const LANES: usize = 32;

/// Softmax of the packed `x` of `shape`.
pub fn softmax<T: Float>(x: &[T], shape: &[usize], axis: usize, out: &mut [T]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let extent = shape[axis];
    let block = extent * inner;
    // One block of rows per task, or the blocks that make a task worth its cost.
    let chunk = block * (PARALLEL_BYTES / 4 / (block * size_of::<T>())).max(1);
    share(size_of_val(x) > PARALLEL_BYTES, chunk, out, |at, out| {
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

/// Sum in `LANES` parts.
#[inline(always)]
fn sum(x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, &x) in lanes.iter_mut().zip(chunk) {
            *sum += x;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

/// Largest element; NaN is skipped, which makes the row NaN through its exponential.
#[inline(always)]
fn largest<T: Float>(x: &[T]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (max, &x) in lanes.iter_mut().zip(chunk) {
            *max = larger(*max, x.to_f32());
        }
    }
    let rest = rest.iter().fold(f32::NEG_INFINITY, |max, &x| larger(max, x.to_f32()));
    lanes.into_iter().fold(rest, larger)
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

impl<T: Float> Kernel for Segments<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut exps = [0.0; BLOCK];
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out.chunks_exact_mut(self.extent)) {
            let max = largest(x);
            let mut total = 0.0;
            for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                let exps = &mut exps[..x.len()];
                for (e, &x) in exps.iter_mut().zip(x) {
                    *e = exp(x.to_f32() - max);
                }
                if T::IS_F32 {
                    out.iter_mut().zip(&*exps).for_each(|(out, &e)| *out = T::from_f32(e));
                }
                total += sum(exps);
            }
            // The largest element's exponential is 1, so the reciprocal cannot overflow.
            let scale = 1.0 / total;
            if T::IS_F32 {
                out.iter_mut().for_each(|x| *x = T::from_f32(x.to_f32() * scale));
            } else {
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = T::from_f32(exp(x.to_f32() - max) * scale));
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

impl<T: Float> Kernel for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (first, width) = (self.first, self.width);
        let (mut max, mut total) = ([f32::NEG_INFINITY; COLUMNS], [0.0; COLUMNS]);
        let (max, total) = (&mut max[..width], &mut total[..width]);
        for row in self.x.chunks_exact(self.inner) {
            let row = &row[first..][..width];
            max.iter_mut().zip(row).for_each(|(max, &x)| *max = larger(*max, x.to_f32()));
        }
        for (row, out) in self.x.chunks_exact(self.inner).zip(self.out.chunks_exact_mut(self.inner)) {
            let (row, out) = (&row[first..][..width], &mut out[first..][..width]);
            for i in 0..width {
                let e = exp(row[i].to_f32() - max[i]);
                total[i] += e;
                if T::IS_F32 {
                    out[i] = T::from_f32(e);
                }
            }
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
mod tests {
    use super::*;
    use half::{bf16, f16};

    /// Compares with f64 along every axis; `unit` is the dtype's rounding.
    fn compare<T: Float>(shape: [usize; 3], unit: f64, value: impl Fn(usize) -> f32) {
        let x: Vec<T> = (0..shape.iter().product()).map(|i| T::from_f32(value(i))).collect();
        let strides = [shape[1] * shape[2], shape[2], 1];
        for axis in 0..3 {
            let mut out = vec![T::ONE; x.len()];
            softmax(&x, &shape, axis, &mut out);
            for at in 0..x.len() {
                let first = at - at / strides[axis] % shape[axis] * strides[axis];
                let along = || (0..shape[axis]).map(|i| f64::from(x[first + i * strides[axis]].to_f32()));
                let max = along().fold(f64::NEG_INFINITY, f64::max);
                let exact = (f64::from(x[at].to_f32()) - max).exp() / along().map(|x| (x - max).exp()).sum::<f64>();
                let ours = f64::from(out[at].to_f32());
                let close = (ours - exact).abs() <= exact * (unit + 3e-6) + unit * 1e-4;
                assert!(close || (ours.is_nan() && exact.is_nan()), "{shape:?} axis {axis}: {ours} is not {exact}");
            }
        }
    }

    #[test]
    fn every_small_size() {
        for extent in (1..=20).chain([31, 32, 33, 63, 65, 511, 513, 1100]) {
            let wave = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) * 0.02;
            compare::<f32>([2, extent, 3], 0.0, wave);
            compare::<f32>([3, 2, extent], 0.0, wave);
            compare::<f16>([2, extent, 3], 1e-3, wave);
            compare::<bf16>([3, 2, extent], 8e-3, wave);
        }
    }

    #[test]
    fn large() {
        compare::<f32>([1, 300, 500], 0.0, |i| (i % 1013) as f32 * 0.01);
        compare::<f16>([1, 300, 600], 1e-3, |i| (i % 1013) as f32 * 0.01);
    }

    #[test]
    fn huge_and_infinite() {
        compare::<f32>([2, 40, 2], 0.0, |i| if i % 2 == 0 { 3e38 } else { -3e38 });
        compare::<f32>([2, 40, 2], 0.0, |i| if i % 5 == 0 { f32::NEG_INFINITY } else { i as f32 });
        for special in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN] {
            let mut out = [0.0; 80];
            softmax(&[special; 80], &[2, 40], 1, &mut out);
            assert!(out.iter().all(|x| x.is_nan()));
            softmax(&[special; 80], &[40, 2], 0, &mut out);
            assert!(out.iter().all(|x| x.is_nan()));
        }
        let (mut x, mut out) = ([1.0; 40], [0.0; 40]);
        x[37] = f32::NAN;
        softmax(&x, &[40], 0, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
    }
}
