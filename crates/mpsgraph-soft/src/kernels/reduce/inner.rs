//! The loops over elements, one pair for each reducer and element type, behind a type that names neither.
//!
//! All that is around them works on bytes, so it is compiled once.

use super::Nest;
use super::reducers::Reducer;
use crate::kernels::element::Element;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use bytemuck::{bytes_of, cast_slice, cast_slice_mut, from_bytes, from_bytes_mut};
use std::array;
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of an operand beyond which it comes from memory or the third cache, as a rule. From there one stream of
/// neighbouring rows is read up to 1.6 times as fast as four.
const STREAMED_BYTES: usize = 2 << 20;

/// Elements of rows so short that four of them are about one stream.
const SHORT: usize = 128;

/// Accumulators of a segment: enough to hide the latency of an addition in any register width.
pub const ACCUMULATORS: usize = 32;

/// A reducer of elements of one type, on their bytes.
#[derive(Clone, Copy)]
pub struct Inner {
    /// Bytes of an element.
    pub size: usize,
    /// The result of reducing nothing, in the first of these bytes.
    start: [u8; 8],
    step: fn(&mut [u8], &[u8]),
    segments: fn(&Segments<'_>, &mut [u8]),
    rows: fn(&Rows<'_>, Range<usize>, &mut [u8]),
}

impl Inner {
    /// The loops of this reducer.
    pub fn of<T: Element, R: Reducer<T>>() -> Self {
        let mut start = [0; 8];
        start[..size_of::<T>()].copy_from_slice(bytes_of(&R::START));
        Self {
            size: size_of::<T>(),
            start,
            step: |accumulator, x| {
                let accumulator: &mut T = from_bytes_mut(accumulator);
                *accumulator = R::step(*accumulator, *from_bytes(x));
            },
            segments: |segments, out| {
                vectorised(EachSegment::<T, R> { segments, out: cast_slice_mut(out), reducer: PhantomData });
            },
            rows: |rows, some, out| {
                vectorised(EachRow::<T, R> { rows, some, out: cast_slice_mut(out), reducer: PhantomData });
            },
        }
    }

    /// Folds segments, one for each element of `out`.
    pub(super) fn segments(&self, segments: &Segments<'_>, out: &mut [u8]) {
        (self.segments)(segments, out);
    }

    /// Folds one segment into one element.
    pub fn segment(&self, x: &[u8], out: &mut [u8]) {
        self.segments(&Segments { x, length: x.len() / self.size, kept: &Nest::EMPTY, first: 0 }, out);
    }

    /// Takes some of the rows in.
    pub(super) fn rows(&self, rows: &Rows<'_>, some: Range<usize>, accumulators: &mut [u8]) {
        (self.rows)(rows, some, accumulators);
    }

    /// Takes one partial result in.
    pub fn step(&self, accumulator: &mut [u8], x: &[u8]) {
        (self.step)(accumulator, x);
    }

    /// Takes neighbouring rows of partial results in, or of elements.
    pub(super) fn join(&self, accumulators: &mut [u8], rows: &[u8]) {
        let [count, width] = [rows.len() / accumulators.len(), accumulators.len() / self.size];
        self.rows(&Rows::of_one(rows, 0, Starts::Packed(width), width), 0..count, accumulators);
    }

    /// Sets every element to the result of reducing nothing.
    pub fn fill(&self, out: &mut [u8]) {
        let [a, b, c, d, e, f, g, h] = self.start;
        match self.size {
            1 => out.fill(a),
            2 => cast_slice_mut(out).fill(u16::from_ne_bytes([a, b])),
            4 => cast_slice_mut(out).fill(u32::from_ne_bytes([a, b, c, d])),
            _ => cast_slice_mut(out).fill(u64::from_ne_bytes([a, b, c, d, e, f, g, h])),
        }
    }
}

/// One segment of `length` elements for each result from `first` on, where the kept loops begin it.
pub(super) struct Segments<'a> {
    pub(super) x: &'a [u8],
    pub(super) length: usize,
    pub(super) kept: &'a Nest,
    pub(super) first: usize,
}

struct EachSegment<'a, T, R> {
    segments: &'a Segments<'a>,
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for EachSegment<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let &Segments { x, length, kept, first } = self.segments;
        let x: &[T] = cast_slice(x);
        let (mut at, mut rest) = (first, self.out);
        while !rest.is_empty() {
            let [start, count, step] = kept.run(at);
            let (out, behind) = rest.split_at_mut(count.min(rest.len()));
            (at, rest) = (at + out.len(), behind);
            let x = &x[start..];
            match length {
                2 if step == 2 => neighbours::<T, R, 2>(x, out),
                3 if step == 3 => neighbours::<T, R, 3>(x, out),
                4 if step == 4 => neighbours::<T, R, 4>(x, out),
                _ => {
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = fold::<T, R>(&x[i * step..], length);
                    }
                }
            }
        }
    }
}

/// The results of segments of `N` elements, one behind the other: a loop without branches, which vectorises.
#[inline(always)]
fn neighbours<T: Element, R: Reducer<T>, const N: usize>(x: &[T], out: &mut [T]) {
    for (out, x) in out.iter_mut().zip(x.as_chunks::<N>().0) {
        *out = x.iter().fold(R::START, |acc, &x| R::step(acc, x));
    }
}

/// Folds the segment of `length` elements at the beginning of `x`.
#[inline(always)]
pub fn fold<T: Element, R: Reducer<T>>(x: &[T], length: usize) -> T {
    // In any order the compiler finds accumulators of its own; around ours it would take vectors apart.
    let segment = &x[..length];
    if T::ANY_ORDER || length < ACCUMULATORS {
        return segment.iter().fold(R::START, |acc, &x| R::step(acc, x));
    }
    if R::KEEPS_NAN {
        return fold_extremes::<T, R>(segment);
    }
    let mut accumulators = [R::START; ACCUMULATORS];
    let (chunks, rest) = segment.as_chunks::<ACCUMULATORS>();
    for chunk in chunks {
        for (acc, &x) in accumulators.iter_mut().zip(chunk) {
            *acc = R::step(*acc, x);
        }
    }
    if !rest.is_empty() {
        let last = padded::<T, R>(&x[length - rest.len()..], rest.len());
        for (acc, x) in accumulators.iter_mut().zip(last) {
            *acc = R::step(*acc, x);
        }
    }
    in_halves(accumulators, R::step)
}

/// The first `count` elements of `x`, and behind them what changes no accumulator. Reads a whole chunk if there is one,
/// because to copy a few takes longer.
#[inline(always)]
fn padded<T: Element, R: Reducer<T>>(x: &[T], count: usize) -> [T; ACCUMULATORS] {
    // A product with a 1 that the compiler knows is none, and without it the vectors come apart.
    let start = if R::START == T::ONE { black_box(R::START) } else { R::START };
    let Some(chunk) = x.first_chunk::<ACCUMULATORS>() else {
        let mut elements = [start; ACCUMULATORS];
        elements[..count].copy_from_slice(&x[..count]);
        return elements;
    };
    let mut elements = *chunk;
    for (at, element) in elements.iter_mut().enumerate() {
        *element = if at < count { *element } else { start };
    }
    elements
}

/// Folds at least a chunk in any order, and notes beside that whether there is a NaN: once for both chunks of a pair.
/// An extreme stays what it is if elements are taken in twice.
#[inline(always)]
fn fold_extremes<T: Element, R: Reducer<T>>(x: &[T]) -> T {
    let (mut accumulators, mut noted) = ([R::START; ACCUMULATORS], [T::ZERO; ACCUMULATORS]);
    let mut take = |low: &[T], high: &[T]| {
        for at in 0..ACCUMULATORS {
            let (a, b) = (low[at], high[at]);
            accumulators[at] = R::step_of_numbers(accumulators[at], R::step_of_numbers(a, b));
            noted[at] = noted[at].or_nan_of([a, b]);
        }
    };
    let mut pairs = x.chunks_exact(2 * ACCUMULATORS);
    for pair in &mut pairs {
        let (low, high) = pair.split_at(ACCUMULATORS);
        take(low, high);
    }
    let rest = pairs.remainder();
    if !rest.is_empty() {
        let last = &x[x.len() - ACCUMULATORS..];
        take(if rest.len() > ACCUMULATORS { &rest[..ACCUMULATORS] } else { last }, last);
    }
    in_halves(accumulators, R::step_of_numbers).or_nan(in_halves(noted, |a, b| a.or_nan_of([a, b])))
}

/// Joins accumulators, the first half with the second. Each step has an array of its own: of a loop over one array, the
/// compiler makes the pairs of the last steps the vectors of the loop before.
#[inline(always)]
pub fn in_halves<T: Copy>(all: [T; ACCUMULATORS], join: impl Fn(T, T) -> T) -> T {
    let all: [T; 16] = array::from_fn(|at| join(all[at], all[at + 16]));
    let all: [T; 8] = array::from_fn(|at| join(all[at], all[at + 8]));
    let all: [T; 4] = array::from_fn(|at| join(all[at], all[at + 4]));
    let all: [T; 2] = array::from_fn(|at| join(all[at], all[at + 2]));
    join(all[0], all[1])
}

/// Rows that begin at element `start` and what `starts` adds to that, of one block or several.
pub(super) struct Rows<'a> {
    pub(super) x: &'a [u8],
    pub(super) start: usize,
    pub(super) starts: Starts<'a>,
    /// Elements of a row, and from one block to the next.
    pub(super) width: usize,
    pub(super) block: usize,
}

impl<'a> Rows<'a> {
    /// Rows of so many elements of one block.
    pub(super) fn of_one(x: &'a [u8], start: usize, starts: Starts<'a>, width: usize) -> Self {
        Self { x, start, starts, width, block: 0 }
    }
}

/// Where rows begin.
#[derive(Clone, Copy)]
pub(super) enum Starts<'a> {
    /// One row of so many elements behind the other.
    Packed(usize),
    /// As these loops step.
    Nest(&'a Nest),
}

struct EachRow<'a, T, R> {
    rows: &'a Rows<'a>,
    some: Range<usize>,
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for EachRow<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let &Rows { x, mut start, starts, width, block } = self.rows;
        let x: &[T] = cast_slice(x);
        // Four rows for each time the accumulators are loaded and stored.
        let together = size_of_val(x) <= STREAMED_BYTES || width <= SHORT;
        for out in self.out.chunks_exact_mut(width) {
            let row = |at: usize| {
                let offset = match starts {
                    Starts::Packed(step) => at * step,
                    Starts::Nest(nest) => nest.offset(at),
                };
                &x[start + offset..][..width]
            };
            let mut at = self.some.start;
            while together && at + 4 <= self.some.end {
                let [a, b, c, d] = array::from_fn(|i| row(at + i));
                for i in 0..width {
                    let mut acc = R::step(out[i], a[i]);
                    acc = R::step(acc, b[i]);
                    acc = R::step(acc, c[i]);
                    out[i] = R::step(acc, d[i]);
                }
                at += 4;
            }
            for at in at..self.some.end {
                for (acc, &x) in out.iter_mut().zip(row(at)) {
                    *acc = R::step(*acc, x);
                }
            }
            start += block;
        }
    }
}
