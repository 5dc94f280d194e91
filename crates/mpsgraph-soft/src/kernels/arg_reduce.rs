//! Position of the largest or smallest element along an axis: the first of equals, and never a NaN (-1 if all are NaN)
//! or the first NaN.
//!
//! Along the last axis the extreme value is found first and then searched for, two loops that vectorise (`row`). Short
//! rows are searched some at a time, the shortest as columns, and so are short columns of narrow blocks. Otherwise rows
//! are compared with a tile of the best values so far, narrow ones some together. What is compared are keys
//! ([`Flipped::key`]), integers also of floats.

mod flipped;
mod row;

use super::call::Call;
use super::reduce::{ACCUMULATORS, BLOCK};
use super::threads::{MOVED, PARALLEL_BYTES, count, share_reads};
use super::vectorised::{VectorLoop, vectorised};
use super::{Kernel, dispatch};
use crate::ir::DType;
use bytemuck::{cast_slice, cast_slice_mut};
pub use flipped::Extreme;
use flipped::Flipped;
use row::first_of_row;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::array;
use std::hint::black_box;
use std::ops::Range;

/// Widest tile.
const COLUMNS: usize = 256;
/// Rows that a tile is compared with at a time, so that it is read and written once for all of them.
const ROWS: usize = 8;
/// Columns, or short rows, that are compared in vectors.
const LANES: usize = 16;
/// Rows with fewer elements become columns.
const SHORTEST: usize = 8;
/// Such rows that become columns at a time.
const TURNED: usize = 4 * LANES;
/// The last columns, of which there are fewer.
const FEW: usize = 4;
/// Elements searched at a time.
const CHUNK: usize = ACCUMULATORS;
/// Most parts of a row that threads search, and elements of a part at least.
const PARTS: usize = 64;
const PART: usize = 4 * BLOCK;

/// What a NaN among the elements does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NanRule {
    /// It is skipped. Where all elements are NaN, the position is -1.
    Skip,
    /// The first NaN comes before all numbers. Of f32 only.
    First,
}

/// `[x]`, f32 or integers but u64; i32 position of the extreme element, the first of equals. The reduced extent stays
/// as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArgReduce {
    pub extreme: Extreme,
    pub nan: NanRule,
    pub axis: usize,
}

impl Kernel for ArgReduce {
    fn run(&self, mut call: Call<'_>) {
        let x = &call.inputs[0];
        self.execute(x.dtype(), x.parts(), call.output_elements());
    }

    fn computes_in(&self, dtype: DType) -> DType {
        if dtype.is_float() { DType::F32 } else { dtype }
    }
}

impl ArgReduce {
    /// Writes the positions in `x`.
    fn execute(&self, dtype: DType, (x, shape): (&[u8], &[usize]), out: &mut [i32]) {
        let loops = self.loops(dtype);
        let inner: usize = shape[self.axis + 1..].iter().product();
        let (extent, size) = (shape[self.axis], dtype.size());
        let parallel = MOVED.is_met(x.len());
        if inner == 1 && parallel && out.len() < count() {
            x.chunks_exact(extent * size).zip(out).for_each(|(x, out)| *out = first_of_parts(&loops, x, size));
            return;
        }
        if inner == 1 || are_few(inner, extent) {
            let block = extent * inner * size;
            let chunk = (PARALLEL_BYTES / 4 / block).max(1);
            return share_reads(parallel, chunk * block, chunk * inner, out, |at, out| {
                loops.segments(&x[at * chunk * block..][..out.len() / inner * block], [inner, extent], out);
            });
        }
        let read = |width: usize| width * extent * size;
        let few = out.len() / inner < count();
        share_reads(parallel, read(inner), inner, out, |outer, out| {
            let x = &x[outer * extent * inner * size..][..extent * inner * size];
            share_reads(parallel && few, read(COLUMNS), COLUMNS, out, |tile, out| {
                loops.columns(&x[tile * COLUMNS * size..], [inner, extent], out);
            });
        });
    }

    fn loops(&self, dtype: DType) -> Loops {
        let flip = self.extreme.bits_to_flip(dtype);
        match self.nan {
            NanRule::Skip => dispatch!(flipped dtype, T => Loops::of::<T, false>(flip)),
            NanRule::First if dtype != DType::F32 => unreachable!("{dtype:?} has no NaN here"),
            NanRule::First => Loops::of::<f32, true>(flip),
        }
    }
}

/// The position in a long row of elements of `size` bytes, whose parts several threads search.
fn first_of_parts(loops: &Loops, x: &[u8], size: usize) -> i32 {
    let part = (x.len() / size).div_ceil(PARTS).max(PART);
    let mut firsts = [-1; PARTS];
    let firsts = &mut firsts[..x.len().div_ceil(part * size)];
    share_reads(true, part * size, 1, firsts, |at, first| {
        let x = &x[at * part * size..];
        let x = &x[..x.len().min(part * size)];
        loops.segments(x, [1, x.len() / size], first);
    });
    // The elements there, one behind the other, are a row again.
    let mut elements = [0u64; PARTS];
    let elements: &mut [u8] = cast_slice_mut(&mut elements);
    let mut places = SmallVec::<[i32; PARTS]>::new();
    for (at, first) in firsts.iter().enumerate().filter(|(_, first)| **first >= 0) {
        let place = at * part + *first as usize;
        elements[places.len() * size..][..size].copy_from_slice(&x[place * size..][..size]);
        places.push(place as i32);
    }
    let mut first = [-1];
    if !places.is_empty() {
        loops.segments(&elements[..places.len() * size], [1, places.len()], &mut first);
    }
    usize::try_from(first[0]).map_or(-1, |at| places[at])
}

/// The loops over elements of one type, on their bytes. They find the largest numbers with a sign, after bits were
/// flipped: of smallest and of unsigned numbers, too, so that there is one loop for all.
#[derive(Clone, Copy)]
struct Loops {
    segments: fn(&[u8], u64, [usize; 2], &mut [i32]),
    columns: fn(&[u8], u64, [usize; 2], &mut [i32]),
    flip: u64,
}

impl Loops {
    fn of<T: Flipped, const OR_NAN: bool>(flip: u64) -> Self {
        Self {
            segments: |x, flip, [inner, extent], out| {
                vectorised(Segments::<T, OR_NAN> { x: cast_slice(x), flip: T::from_bits_of(flip), inner, extent, out });
            },
            columns: |x, flip, [inner, extent], out| {
                vectorised(ColumnSearch::<T, OR_NAN> {
                    x: cast_slice(x),
                    flip: T::from_bits_of(flip),
                    inner,
                    extent,
                    out,
                });
            },
            flip,
        }
    }

    fn segments(&self, x: &[u8], extents: [usize; 2], out: &mut [i32]) {
        (self.segments)(x, self.flip, extents, out);
    }

    fn columns(&self, x: &[u8], extents: [usize; 2], out: &mut [i32]) {
        (self.columns)(x, self.flip, extents, out);
    }
}

/// Whether columns are so few and short that those of several blocks are searched at the same time, as short rows are.
fn are_few(inner: usize, extent: usize) -> bool {
    inner < LANES && extent < CHUNK
}

/// Rows, or blocks of few columns.
struct Segments<'a, T, const OR_NAN: bool> {
    x: &'a [T],
    flip: T,
    inner: usize,
    extent: usize,
    out: &'a mut [i32],
}

impl<T: Flipped, const OR_NAN: bool> VectorLoop for Segments<'_, T, OR_NAN> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { x, flip, inner, extent, out } = self;
        if inner == 1 && extent >= CHUNK {
            for (x, out) in x.chunks_exact(extent).zip(out) {
                *out = first_of_row::<T, OR_NAN>(x, flip);
            }
            return;
        }
        if inner == 1 && extent < SHORTEST {
            return shortest_rows::<T, OR_NAN>(x, flip, extent, out);
        }
        // Where the next column begins, and which one of its block it is.
        let mut next = [0, 0];
        let mut column = || {
            let [start, column] = next;
            next = if column + 1 < inner { [start, column + 1] } else { [start + extent * inner, 0] };
            start + column
        };
        let (groups, rest) = out.as_chunks_mut::<LANES>();
        for out in groups {
            let starts = array::from_fn(|_| column());
            first_of_columns::<T, OR_NAN, LANES>((x, starts), flip, [inner, extent], out);
        }
        for out in rest {
            first_of_columns::<T, OR_NAN, 1>((x, [column()]), flip, [inner, extent], array::from_mut(out));
        }
    }
}

/// The positions in rows of less than [`SHORTEST`] elements: the keys of some rows at a time become columns.
#[inline(always)]
fn shortest_rows<T: Flipped, const OR_NAN: bool>(x: &[T], flip: T, extent: usize, out: &mut [i32]) {
    let mut keys = [T::LOWEST_KEY; SHORTEST * TURNED];
    let mut columns = [[T::LOWEST_KEY; TURNED]; SHORTEST];
    for (x, out) in x.chunks(TURNED * extent).zip(out.chunks_mut(TURNED)) {
        for (key, x) in keys.iter_mut().zip(x) {
            *key = x.key::<OR_NAN>(flip);
        }
        for (at, column) in columns.iter_mut().take(extent).enumerate() {
            for (to, keys) in column.iter_mut().zip(keys.chunks_exact(extent)) {
                *to = keys[at];
            }
        }
        let mut firsts = [-1; TURNED];
        for (some, first) in firsts.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut best = [T::LOWEST_KEY; LANES];
            for (at, column) in columns.iter().take(extent).enumerate() {
                take(column.as_chunks::<LANES>().0[some], at as i32, &mut best, first);
            }
        }
        for ((out, first), x) in out.iter_mut().zip(firsts).zip(x.chunks_exact(extent)) {
            *out = if first < 0 { first_of_unbeaten(x.iter()) } else { first };
        }
    }
}

/// The positions in `N` short columns, which begin at these places of `x`.
#[inline(always)]
fn first_of_columns<T: Flipped, const OR_NAN: bool, const N: usize>(
    (x, starts): (&[T], [usize; N]),
    flip: T,
    [inner, extent]: [usize; 2],
    out: &mut [i32; N],
) {
    let columns: [&[T]; N] = array::from_fn(|lane| &x[starts[lane]..][..(extent - 1) * inner + 1]);
    let (mut best, mut first) = ([T::LOWEST_KEY; N], [-1; N]);
    // If the compiler saw that all lanes have the same number, it would flip each element by itself, before the
    // elements become a vector.
    let flip = black_box([flip; N]);
    for at in 0..extent {
        let elements: [T; N] = array::from_fn(|lane| columns[lane][at * inner]);
        let keys = array::from_fn(|lane| elements[lane].key::<OR_NAN>(flip[lane]));
        take(keys, at as i32, &mut best, &mut first);
    }
    for (first, column) in first.iter_mut().zip(columns).filter(|(first, _)| **first < 0) {
        *first = first_of_unbeaten(column.iter().step_by(inner));
    }
    *out = first;
}

/// Where nothing has beaten the start: it does not beat itself.
fn first_of_unbeaten<'a, T: Flipped>(mut x: impl Iterator<Item = &'a T>) -> i32 {
    x.position(|x| !x.is_nan()).map_or(-1, |at| at as i32)
}

struct ColumnSearch<'a, T, const OR_NAN: bool> {
    x: &'a [T],
    flip: T,
    inner: usize,
    extent: usize,
    out: &'a mut [i32],
}

impl<T: Flipped, const OR_NAN: bool> VectorLoop for ColumnSearch<'_, T, OR_NAN> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { x, flip, inner, extent, out } = self;
        // Some narrow rows together are one.
        let together = if inner < LANES { (COLUMNS / inner).min(extent / ROWS).max(1) } else { 1 };
        let mut firsts = [0; COLUMNS];
        let firsts = &mut firsts[..if together > 1 { together * inner } else { 0 }];
        let wide = ColumnSearch::<T, OR_NAN> {
            x,
            flip,
            inner: together * inner,
            extent: extent / together,
            out: if together > 1 { &mut *firsts } else { &mut *out },
        };
        wide.run_wide();
        if together > 1 {
            first_of_some::<T, OR_NAN>((x, inner, extent), flip, firsts, out);
        }
    }
}

impl<T: Flipped, const OR_NAN: bool> ColumnSearch<'_, T, OR_NAN> {
    #[inline(always)]
    fn run_wide(self) {
        let mut best = [T::LOWEST_KEY; COLUMNS];
        let best = &mut best[..self.out.len()];
        self.out.fill(-1);
        for first in (0..self.extent).step_by(ROWS) {
            let rows = first..self.extent.min(first + ROWS);
            let (bests, last_bests) = best.as_chunks_mut::<LANES>();
            let (firsts, last_firsts) = self.out.as_chunks_mut::<LANES>();
            let tail = bests.len() * LANES;
            for (at, (best, out)) in bests.iter_mut().zip(firsts).enumerate() {
                compare::<T, OR_NAN, LANES>((&self.x[at * LANES..], self.inner), self.flip, rows.clone(), (best, out));
            }
            let (bests, last_bests) = last_bests.as_chunks_mut::<FEW>();
            let (firsts, last_firsts) = last_firsts.as_chunks_mut::<FEW>();
            for (at, (best, out)) in bests.iter_mut().zip(firsts).enumerate() {
                compare::<T, OR_NAN, FEW>(
                    (&self.x[tail + at * FEW..], self.inner),
                    self.flip,
                    rows.clone(),
                    (best, out),
                );
            }
            let tail = tail + bests.len() * FEW;
            for (at, (best, out)) in last_bests.iter_mut().zip(last_firsts).enumerate() {
                let one = (array::from_mut(best), array::from_mut(out));
                compare::<T, OR_NAN, 1>((&self.x[tail + at..], self.inner), self.flip, rows.clone(), one);
            }
        }
        for (column, out) in self.out.iter_mut().enumerate().filter(|(_, out)| **out < 0) {
            *out = first_of_unbeaten(self.x[column..].iter().step_by(self.inner).take(self.extent));
        }
    }
}

/// The positions in `extent` narrow rows, of which some together were one: `firsts` is where each of its elements was
/// best, and the last few rows were not among them.
fn first_of_some<T: Flipped, const OR_NAN: bool>(
    (x, inner, extent): (&[T], usize, usize),
    flip: T,
    firsts: &[i32],
    out: &mut [i32],
) {
    let together = firsts.len() / inner;
    for (column, out) in out.iter_mut().enumerate() {
        let value = |at: i32| x[at as usize * inner + column];
        let found = firsts.chunks_exact(inner).enumerate().filter(|(_, firsts)| firsts[column] >= 0);
        let found = found.map(|(of, firsts)| firsts[column] * together as i32 + of as i32);
        let last = (extent / together * together..extent).map(|at| at as i32);
        let last = last.filter(|&at| OR_NAN || !value(at).is_nan());
        let first = found.chain(last).reduce(|first, at| {
            let [best, x] = [first, at].map(|at| value(at).key::<OR_NAN>(flip));
            if x > best || x == best && at < first { at } else { first }
        });
        *out = first.unwrap_or(-1);
    }
}

/// Compares the best values so far of some columns, which are the first of `x`, with rows that are `inner` apart.
#[inline(always)]
fn compare<T: Flipped, const OR_NAN: bool, const N: usize>(
    (x, inner): (&[T], usize),
    flip: T,
    rows: Range<usize>,
    (best, out): (&mut [T::Key; N], &mut [i32; N]),
) {
    let (mut of, mut first) = (*best, *out);
    for row in rows {
        let x = x[row * inner..].first_chunk::<N>().expect("a row has these columns");
        take(x.map(|x| x.key::<OR_NAN>(flip)), row as i32, &mut of, &mut first);
    }
    (*best, *out) = (of, first);
}

/// Takes the keys of elements at position `at` in.
#[inline(always)]
fn take<K: Copy + PartialOrd, const N: usize>(keys: [K; N], at: i32, best: &mut [K; N], first: &mut [i32; N]) {
    let taken: [bool; N] = array::from_fn(|lane| keys[lane] > best[lane]);
    *best = array::from_fn(|lane| if taken[lane] { keys[lane] } else { best[lane] });
    *first = array::from_fn(|lane| if taken[lane] { at } else { first[lane] });
}

#[cfg(test)]
mod tests;
