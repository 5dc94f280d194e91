//! Position of the largest or smallest element along an axis: the first of equals, never a NaN, -1 if all are NaN.
//!
//! Along the last axis the extreme value is found first and then searched for, two loops that vectorise; along
//! another axis, rows are compared with a tile of the best values so far.

use super::call::Call;
use super::element::Element;
use super::threads::{MOVED, PARALLEL_BYTES, count, share_reads};
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
    let loops = dispatch!(dtype, T => if max { Loops::of::<T, true>() } else { Loops::of::<T, false>() });
    let inner: usize = shape[axis + 1..].iter().product();
    let (extent, size) = (shape[axis], dtype.size());
    let parallel = MOVED.is_met(x.len());
    if inner == 1 {
        let chunk = (PARALLEL_BYTES / 4 / (extent * size)).max(1);
        return share_reads(parallel, chunk * extent * size, chunk, out, |at, out| {
            (loops.segments)(&x[at * chunk * extent * size..][..out.len() * extent * size], extent, out);
        });
    }
    let read = |width: usize| width * extent * size;
    let few = out.len() / inner < count();
    share_reads(parallel, read(inner), inner, out, |outer, out| {
        let x = &x[outer * extent * inner * size..][..extent * inner * size];
        share_reads(parallel && few, read(COLUMNS), COLUMNS, out, |tile, out| {
            (loops.columns)(&x[tile * COLUMNS * size..], [inner, extent], out);
        });
    });
}

/// The loops over elements of one type, on their bytes.
#[derive(Clone, Copy)]
struct Loops {
    segments: fn(&[u8], usize, &mut [i32]),
    columns: fn(&[u8], [usize; 2], &mut [i32]),
}

impl Loops {
    fn of<T: Element, const MAX: bool>() -> Self {
        Self {
            segments: |x, extent, out| vectorised(Segments::<T, MAX> { x: cast_slice(x), extent, out }),
            columns: |x, [inner, extent], out| {
                vectorised(Columns::<T, MAX> { x: cast_slice(x), inner, extent, out });
            },
        }
    }
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
        if self.extent < CHUNK {
            let rows = self.x.chunks_exact(self.extent);
            return rows.zip(self.out).for_each(|(x, out)| *out = first_of_short::<T, MAX>(x));
        }
        for (x, out) in self.x.chunks_exact(self.extent).zip(self.out) {
            let better = |best: T, x: T| if beats::<T, MAX>(x, best) { x } else { best };
            let (chunks, rest) = x.as_chunks::<CHUNK>();
            let best = if T::ANY_ORDER {
                x.iter().fold(start::<T, MAX>(), |best, &x| better(best, x))
            } else {
                let mut bests = [start::<T, MAX>(); CHUNK];
                for chunk in chunks {
                    for (best, &x) in bests.iter_mut().zip(chunk) {
                        *best = better(*best, x);
                    }
                }
                bests.iter().chain(rest).fold(start::<T, MAX>(), |best, &x| better(best, x))
            };
            // A row of NaN alone holds no element equal to the start.
            let skipped = chunks.iter().take_while(|chunk| !chunk.iter().fold(false, |hit, &x| hit | (x == best)));
            let first = skipped.count() * CHUNK;
            *out = x[first..].iter().position(|&x| x == best).map_or(-1, |at| (first + at) as i32);
        }
    }
}

/// The position in a short row, without branches.
#[inline(always)]
fn first_of_short<T: Element, const MAX: bool>(x: &[T]) -> i32 {
    let (mut best, mut first) = (start::<T, MAX>(), -1);
    for (at, &x) in x.iter().enumerate() {
        // The start itself does not beat the start.
        let taken = beats::<T, MAX>(x, best) | ((first < 0) & !x.is_nan());
        best = if taken { x } else { best };
        first = if taken { at as i32 } else { first };
    }
    first
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
