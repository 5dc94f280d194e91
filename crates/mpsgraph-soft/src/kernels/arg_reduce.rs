//! Position of the largest or smallest element along an axis: the first of equals, never a NaN, -1 if all are NaN.
//!
//! Along the last axis the extreme value is found first and then searched for, two loops that vectorise; along
//! another axis, rows are compared with a tile of the best values so far.

use super::call::Call;
use super::element::Element;
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use super::{Kernel, dispatch};
use crate::ir::DType;
use bytemuck::cast_slice;
use serde::{Deserialize, Serialize};

/// Widest tile.
const COLUMNS: usize = 256;
/// Elements searched at a time.
const CHUNK: usize = 32;

/// `[x]`; i32 position of the largest (`max`) or smallest element, the first of equals, NaN never chosen, -1 if all are
/// NaN. The reduced extent stays as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArgReduce {
    pub max: bool,
    pub axis: usize,
}

impl Kernel for ArgReduce {
    fn run(&self, mut call: Call<'_>) {
        let x = &call.inputs[0];
        execute(self.max, x.dtype(), x.parts(), self.axis, call.output_elements());
    }
}

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

/// The value that every other number beats.
#[inline(always)]
fn start<T: Element, const MAX: bool>() -> T {
    if MAX { T::LOWEST } else { T::HIGHEST }
}

struct Segments<'a, T, const MAX: bool> {
    x: &'a [T],
    extent: usize,
    out: &'a mut [i32],
}

impl<T: Element, const MAX: bool> VectorLoop for Segments<'_, T, MAX> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out) {
            let better = |best: T, x: T| if beats::<T, MAX>(x, best) { x } else { best };
            let mut bests = [start::<T, MAX>(); CHUNK];
            let (chunks, rest) = x.as_chunks::<CHUNK>();
            for chunk in chunks {
                for (best, &x) in bests.iter_mut().zip(chunk) {
                    *best = better(*best, x);
                }
            }
            let best = bests.iter().chain(rest).fold(start::<T, MAX>(), |best, &x| better(best, x));
            // A row of NaN alone holds no element equal to the start.
            let skipped = chunks.iter().take_while(|chunk| !chunk.iter().fold(false, |hit, &x| hit | (x == best)));
            let first = skipped.count() * CHUNK;
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

impl<T: Element, const MAX: bool> VectorLoop for Columns<'_, T, MAX> {
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
mod tests;
