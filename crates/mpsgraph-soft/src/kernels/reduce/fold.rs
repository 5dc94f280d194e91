//! The two inner loops of reductions: contiguous segments to one value, and rows onto columns.
//!
//! A segment is folded into 32 accumulators, enough to hide the latency of an addition in any register width; more
//! than a block is divided in halves. Rows are folded onto a tile of accumulators that stays in the first cache.

use super::Nest;
use super::reducers::Reducer;
use crate::kernels::element::Element;
use crate::kernels::threads::both;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::marker::PhantomData;
use std::ops::Range;

/// Accumulators of a segment.
const ACCUMULATORS: usize = 32;
/// Elements that are folded without halving.
const BLOCK: usize = 4096;
/// Rows that are folded without halving.
const ROWS: usize = 128;
/// Widest tile.
pub const COLUMNS: usize = 1024;

/// The segments of one result: `length` elements at each offset of `nest`.
pub struct Segments<'a, T> {
    /// The whole operand.
    pub x: &'a [T],
    /// Elements of a segment.
    pub length: usize,
    /// The reduced loops around a segment.
    pub nest: Nest,
}

/// Reduces the segments of result `first + i`, where the kept loops begin them, into `out[i]`.
pub fn segments<T: Element, R: Reducer<T>>(
    parts: &Segments<T>,
    (kept, first): (&Nest, usize),
    count: usize,
    out: &mut [T],
) {
    if parts.nest.depth == 0 && parts.length <= BLOCK {
        let (x, length) = (parts.x, parts.length);
        return vectorised(Short::<T, R> { x, length, kept, first, out, reducer: PhantomData });
    }
    let several = parts.nest.count();
    for (i, out) in out.iter_mut().enumerate() {
        let start = kept.offset(first + i);
        *out = R::finish(parts.fold::<R>(start, 0..several), count);
    }
}

impl<T: Element> Segments<'_, T> {
    /// Folds some of the segments.
    fn fold<R: Reducer<T>>(&self, start: usize, some: Range<usize>) -> T {
        let Range { start: first, end } = some;
        if end - first == 1 {
            return fold_long::<T, R>(&self.x[start + self.nest.offset(first)..][..self.length]);
        }
        let middle = first + (end - first) / 2;
        let bytes = (end - first) * self.length * size_of::<T>();
        let (mut low, mut high) = (R::START, R::START);
        both(bytes / 2, &mut || low = self.fold::<R>(start, first..middle), &mut || {
            high = self.fold::<R>(start, middle..end)
        });
        R::step(low, high)
    }
}

/// Folds a segment of any length.
pub fn fold_long<T: Element, R: Reducer<T>>(x: &[T]) -> T {
    if x.len() <= BLOCK {
        return vectorised(Block::<T, R> { x, reducer: PhantomData });
    }
    let (front, back) = x.split_at((x.len() / 2).next_multiple_of(BLOCK));
    let (mut low, mut high) = (R::START, R::START);
    both(size_of_val(x) / 2, &mut || low = fold_long::<T, R>(front), &mut || high = fold_long::<T, R>(back));
    R::step(low, high)
}

/// Folds a segment of up to a block.
#[inline(always)]
fn fold_block<T: Element, R: Reducer<T>>(x: &[T]) -> T {
    if x.len() < ACCUMULATORS {
        return x.iter().fold(R::START, |acc, &x| R::step(acc, x));
    }
    let mut accumulators = [R::START; ACCUMULATORS];
    let (chunks, rest) = x.as_chunks::<ACCUMULATORS>();
    for chunk in chunks {
        for (acc, &x) in accumulators.iter_mut().zip(chunk) {
            *acc = R::step(*acc, x);
        }
    }
    for (acc, &x) in accumulators.iter_mut().zip(rest) {
        *acc = R::step(*acc, x);
    }
    let mut width = ACCUMULATORS / 2;
    while width > 0 {
        for at in 0..width {
            accumulators[at] = R::step(accumulators[at], accumulators[at + width]);
        }
        width /= 2;
    }
    accumulators[0]
}

struct Block<'a, T, R> {
    x: &'a [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Block<'_, T, R> {
    type Output = T;
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) -> T {
        fold_block::<T, R>(self.x)
    }
}

/// Results of one short segment each.
struct Short<'a, T, R> {
    x: &'a [T],
    length: usize,
    kept: &'a Nest,
    first: usize,
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Short<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            let x = &self.x[self.kept.offset(self.first + i)..][..self.length];
            *out = R::finish(fold_block::<T, R>(x), x.len());
        }
    }
}

/// The rows of one tile of results.
pub struct Columns<'a, T> {
    /// The whole operand.
    pub x: &'a [T],
    /// Where the tile's first row begins.
    pub start: usize,
    /// Elements of a whole row, of which the tile may be a part.
    pub width: usize,
    /// The reduced loops around a row.
    pub nest: Nest,
}

/// Reduces the rows onto the tile `out`, of at most `COLUMNS` elements.
pub fn columns<T: Element, R: Reducer<T>>(rows: &Columns<T>, count: usize, out: &mut [T]) {
    rows.fold::<R>(0..count, out);
    out.iter_mut().for_each(|x| *x = R::finish(*x, count));
}

impl<T: Element> Columns<'_, T> {
    /// Folds some of the rows into `out` and ignores its old contents.
    fn fold<R: Reducer<T>>(&self, rows: Range<usize>, out: &mut [T]) {
        let count = rows.end - rows.start;
        // Rows much shorter than a tile are taken several at a time, as one row of a wider tile.
        let several = COLUMNS / 4 / out.len();
        let contiguous = self.nest.depth == 1 && self.width == out.len();
        if contiguous && several > 1 && count > several {
            return self.fold_narrow::<R>(rows, out, several);
        }
        if count <= ROWS {
            out.fill(R::START);
            return vectorised(Rows::<T, R> { columns: self, rows, out, reducer: PhantomData });
        }
        let mut other = [R::START; COLUMNS];
        let other = &mut other[..out.len()];
        let middle = rows.start + (count / 2).next_multiple_of(ROWS);
        let bytes = count * out.len() * size_of::<T>();
        both(bytes / 2, &mut || self.fold::<R>(rows.start..middle, out), &mut || {
            self.fold::<R>(middle..rows.end, other)
        });
        for (low, &high) in out.iter_mut().zip(&*other) {
            *low = R::step(*low, high);
        }
    }

    /// Folds contiguous rows `several` at a time.
    fn fold_narrow<R: Reducer<T>>(&self, rows: Range<usize>, out: &mut [T], several: usize) {
        let width = out.len();
        let wide = several * width;
        let steps = (rows.end - rows.start) / several;
        let start = self.start + rows.start * width;
        let mut nest = Nest::EMPTY;
        nest.push(steps, wide);
        let columns = Columns { x: self.x, start, width: wide, nest };
        let mut wide_out = [R::START; COLUMNS / 4];
        columns.fold::<R>(0..steps, &mut wide_out[..wide]);
        let rest = &self.x[start + steps * wide..self.start + rows.end * width];
        out.copy_from_slice(&wide_out[..width]);
        for part in wide_out[width..wide].chunks(width) {
            out.iter_mut().zip(part).for_each(|(acc, &x)| *acc = R::step(*acc, x));
        }
        for row in rest.chunks(width) {
            for (acc, &x) in out.iter_mut().zip(row) {
                *acc = R::step(*acc, x);
            }
        }
    }
}

struct Rows<'a, T, R> {
    columns: &'a Columns<'a, T>,
    rows: Range<usize>,
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Rows<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let width = self.out.len();
        let row = |at| &self.columns.x[self.columns.start + self.columns.nest.offset(at)..][..width];
        let mut at = self.rows.start;
        // Four rows for each time the accumulators are loaded and stored.
        while at + 4 <= self.rows.end {
            let [a, b, c, d] = std::array::from_fn(|i| row(at + i));
            for i in 0..width {
                let mut acc = R::step(self.out[i], a[i]);
                acc = R::step(acc, b[i]);
                acc = R::step(acc, c[i]);
                self.out[i] = R::step(acc, d[i]);
            }
            at += 4;
        }
        for at in at..self.rows.end {
            let x = row(at);
            for (acc, &x) in self.out.iter_mut().zip(x) {
                *acc = R::step(*acc, x);
            }
        }
    }
}
