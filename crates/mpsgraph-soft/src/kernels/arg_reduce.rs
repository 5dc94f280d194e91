//! Position of the largest or smallest element along an axis: the first of equals, never a NaN, -1 if all are NaN.
//!
//! Along the last axis the extreme value is found first and then searched for, two loops that vectorise; along
//! another axis, rows are compared with a tile of the best values so far.

use super::element::Element;
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{Kernel, vectorised};
use super::{bf16, f16};
use crate::ir::DType;
use bytemuck::cast_slice;

/// Widest tile.
const COLUMNS: usize = 256;
/// Elements searched at a time.
const LANES: usize = 32;

/// Writes the positions of the largest (`max`) or smallest elements of `x` along `axis`.
pub fn execute(max: bool, dtype: DType, (x, shape): (&[u8], &[usize]), axis: usize, out: &mut [i32]) {
    dispatch!(dtype, T => {
        if max {
            arg_reduce::<T, true>(cast_slice(x), shape, axis, out);
        } else {
            arg_reduce::<T, false>(cast_slice(x), shape, axis, out);
        }
    });
}

fn arg_reduce<T: Element, const MAX: bool>(x: &[T], shape: &[usize], axis: usize, out: &mut [i32]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let extent = shape[axis];
    let parallel = size_of_val(x) > PARALLEL_BYTES;
    if inner == 1 {
        let chunk = (PARALLEL_BYTES / 4 / (extent * size_of::<T>())).max(1);
        return share(parallel, chunk, out, |at, out| {
            let x = &x[at * chunk * extent..][..out.len() * extent];
            vectorised(Segments::<T, MAX> { x, extent, out });
        });
    }
    share(parallel, inner, out, |outer, out| {
        let x = &x[outer * extent * inner..][..extent * inner];
        share(parallel, COLUMNS, out, |tile, out| {
            vectorised(Columns::<T, MAX> { x: &x[tile * COLUMNS..], inner, extent, out });
        });
    });
}

/// Whether `x` beats `best`; a NaN never does.
#[inline(always)]
fn beats<T: Element, const MAX: bool>(x: T, best: T) -> bool {
    if MAX { x > best } else { x < best }
}

/// What everything but itself and NaN beats.
#[inline(always)]
fn start<T: Element, const MAX: bool>() -> T {
    if MAX { T::LOWEST } else { T::HIGHEST }
}

struct Segments<'a, T, const MAX: bool> {
    x: &'a [T],
    extent: usize,
    out: &'a mut [i32],
}

impl<T: Element, const MAX: bool> Kernel for Segments<'_, T, MAX> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out) {
            let better = |best: T, x: T| if beats::<T, MAX>(x, best) { x } else { best };
            let mut lanes = [start::<T, MAX>(); LANES];
            let (chunks, rest) = x.as_chunks::<LANES>();
            for chunk in chunks {
                for (best, &x) in lanes.iter_mut().zip(chunk) {
                    *best = better(*best, x);
                }
            }
            let best = lanes.iter().chain(rest).fold(start::<T, MAX>(), |best, &x| better(best, x));
            // A row of NaN alone holds no element equal to the start.
            let skipped = chunks.iter().take_while(|chunk| !chunk.iter().fold(false, |hit, &x| hit | (x == best)));
            let first = skipped.count() * LANES;
            *out = x[first..].iter().position(|&x| x == best).map_or(-1, |at| (first + at) as i32);
        }
    }
}

struct Columns<'a, T, const MAX: bool> {
    x: &'a [T],
    inner: usize,
    extent: usize,
    out: &'a mut [i32],
}

impl<T: Element, const MAX: bool> Kernel for Columns<'_, T, MAX> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let width = self.out.len();
        let mut best = [start::<T, MAX>(); COLUMNS];
        let best = &mut best[..width];
        self.out.fill(-1);
        for at in 0..self.extent {
            let row = &self.x[at * self.inner..][..width];
            for i in 0..width {
                let x = row[i];
                // The start itself does not beat the start.
                let taken = beats::<T, MAX>(x, best[i]) | ((self.out[i] < 0) & !x.is_nan());
                best[i] = if taken { x } else { best[i] };
                self.out[i] = if taken { at as i32 } else { self.out[i] };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(max: bool, x: impl Iterator<Item = f64>) -> i32 {
        let mut found: Option<(i32, f64)> = None;
        for (at, x) in x.enumerate().filter(|(_, x)| !x.is_nan()) {
            if found.is_none_or(|(_, best)| if max { x > best } else { x < best }) {
                found = Some((at as i32, x));
            }
        }
        found.map_or(-1, |(at, _)| at)
    }

    fn compare<T: Element>(dtype: DType, shape: [usize; 3], x: &[T], value: impl Fn(T) -> f64) {
        let strides = [shape[1] * shape[2], shape[2], 1];
        for axis in 0..3 {
            for max in [true, false] {
                let mut out = vec![7; x.len() / shape[axis]];
                execute(max, dtype, (cast_slice(x), &shape), axis, &mut out);
                for (at, &out) in out.iter().enumerate() {
                    let (outer, inner) = (at / strides[axis], at % strides[axis]);
                    let first = outer * strides[axis] * shape[axis] + inner;
                    let along = (0..shape[axis]).map(|i| value(x[first + i * strides[axis]]));
                    assert_eq!(out, naive(max, along), "{dtype:?} {shape:?} axis {axis} at {at}");
                }
            }
        }
    }

    #[test]
    fn sizes_ties_and_nan() {
        for extent in (1..=20).chain([31, 32, 33, 64, 100, 300]) {
            let shape = [3, extent, 5];
            let n = 15 * extent;
            let few = |i: usize| (i * 7919 % 13) as f32 - 6.0;
            compare::<f32>(DType::F32, shape, &(0..n).map(few).collect::<Vec<_>>(), f64::from);
            let holes: Vec<f32> = (0..n).map(|i| if i % 3 == 0 { f32::NAN } else { few(i) }).collect();
            compare::<f32>(DType::F32, shape, &holes, f64::from);
            let shape = [extent, 2, extent];
            let n = extent * extent * 2;
            let wide: Vec<i64> = (0..n as i64).map(|i| (i * 7919 % 1_000_003 - 500_000) << 30).collect();
            compare::<i64>(DType::I64, shape, &wide, |x| x as f64);
            let bytes: Vec<u8> = (0..n).map(|i| (i * 31) as u8).collect();
            compare::<u8>(DType::U8, shape, &bytes, f64::from);
            let halves: Vec<f16> = (0..n).map(|i| f16::from_f32(few(i))).collect();
            compare::<f16>(DType::F16, shape, &halves, f64::from);
        }
    }

    #[test]
    fn extremes_that_equal_the_start() {
        for x in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN] {
            for shape in [[2, 50, 1], [2, 50, 3]] {
                compare::<f32>(DType::F32, shape, &vec![x; shape.iter().product()], f64::from);
                let mut late = vec![f32::NAN; shape.iter().product()];
                late[40 * shape[2]] = x;
                compare::<f32>(DType::F32, shape, &late, f64::from);
            }
        }
        compare::<i8>(DType::I8, [1, 40, 2], &[i8::MIN; 80], f64::from);
        compare::<bf16>(DType::BF16, [1, 40, 2], &[bf16::NAN; 80], f64::from);
    }

    #[test]
    fn large() {
        let x: Vec<f32> = (0..600 * 700).map(|i| (i * 7919 % 100_003) as f32).collect();
        compare::<f32>(DType::F32, [1, 600, 700], &x, f64::from);
        compare::<f32>(DType::F32, [600, 700, 1], &x, f64::from);
        compare::<f32>(DType::F32, [600, 7, 100], &x, f64::from);
    }
}
