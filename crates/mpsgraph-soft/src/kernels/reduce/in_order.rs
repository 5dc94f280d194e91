//! Results of f32 that the order of the steps made infinite, 0 or NaN.
//!
//! Each accumulator takes every so manieth element. One of them may overflow, or come to 0, where a sum or product of
//! one element after the other does not: 2, 0.5, 2, 0.5 and so on has the product 1. Such a result is found anew in the
//! order of the elements, unless an element explains it: one that is 0, infinite or NaN, too.

use super::super::threads::{PARALLEL_BYTES, share_reads};
use super::super::vectorised::{VectorLoop, vectorised};
use super::{Loops, READ, ReduceOp};
use smallvec::{SmallVec, smallvec};

/// Numbers that are looked at before it is asked what was found.
pub const LOOK: usize = 64;
/// Columns that are folded together.
const TOGETHER: usize = 128;
/// Factors after which a product of numbers below 1 often is 0.
const FIRST: usize = 128;

/// What makes a result one that an element has to explain, by being such a number itself.
#[derive(Clone, Copy)]
pub(super) enum Special {
    /// Infinity or NaN, of sums.
    NotFinite,
    /// These and 0, of products.
    OrZero,
}

impl Special {
    /// The results of `op` that an element has to explain; `None` if the order of the steps changes no result.
    pub(super) fn of(op: ReduceOp) -> Option<Self> {
        match op {
            ReduceOp::Sum | ReduceOp::Mean => Some(Special::NotFinite),
            ReduceOp::Prod => Some(Special::OrZero),
            ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or => None,
        }
    }

    #[inline(always)]
    fn has(self, x: f32) -> bool {
        match self {
            Special::NotFinite => !x.is_finite(),
            Special::OrZero => !x.is_finite() | (x == 0.0),
        }
    }

    /// Whether one of the numbers is such a number.
    pub(super) fn is_among(self, numbers: &[f32]) -> bool {
        holds_for_some(numbers, |x| self.has(x))
    }

    /// The result of nothing.
    fn start(self) -> f32 {
        match self {
            Special::NotFinite => 0.0,
            Special::OrZero => 1.0,
        }
    }

    /// Takes an element in.
    #[inline(always)]
    fn step(self, folded: f32, x: f32) -> f32 {
        match self {
            Special::NotFinite => folded + x,
            Special::OrZero => folded * x,
        }
    }

    /// Finds results anew that no element explains; `finish` makes them of sums or products. Neighbouring columns are
    /// taken together.
    pub(super) fn mend(self, x: &[f32], loops: &Loops, out: &mut [f32], finish: impl Fn(f32) -> f32 + Sync) {
        if loops.segments {
            let bytes = size_of::<f32>() * loops.count;
            let chunk = (PARALLEL_BYTES / 4 / bytes).max(1);
            return share_reads(READ.is_met(size_of_val(x)), chunk * bytes, chunk, out, |at, out| {
                let blocks = out.chunks_mut(LOOK).enumerate();
                for (block, results) in blocks.filter(|(_, results)| self.is_among(results)) {
                    self.mend_rows(x, loops, at * chunk + block * LOOK, results, &finish);
                }
            });
        }
        let width = loops.kept.innermost();
        let bytes = size_of::<f32>() * loops.count;
        for (outer, row) in out.chunks_mut(width).enumerate() {
            share_reads(READ.is_met(width * bytes), TOGETHER * bytes, TOGETHER, row, |at, results| {
                if self.is_among(results) {
                    let x = &x[loops.kept.offset(outer * width + at * TOGETHER)..];
                    self.fold_columns(x, loops, results, &finish);
                }
            });
        }
    }

    /// Results of rows, of which `first` is the first one's number.
    fn mend_rows(self, x: &[f32], loops: &Loops, first: usize, results: &mut [f32], finish: &impl Fn(f32) -> f32) {
        let [_, several, apart] = loops.reduced.run(0);
        let is_packed = [several, apart] == [loops.count, 1];
        let mut done = 0;
        while done < results.len() {
            let [start, several, apart] = loops.kept.run(first + done);
            let several = several.min(results.len() - done);
            let results = &mut results[done..][..several];
            for (at, result) in results.iter_mut().enumerate().filter(|(_, result)| self.has(**result)) {
                let x = &x[start + at * apart..];
                let folded =
                    if is_packed { self.fold_packed(&x[..loops.count], *result) } else { self.fold(x, loops, *result) };
                *result = folded.map_or(*result, finish);
            }
            done += several;
        }
    }

    /// Folds neighbours in order; `None` if there is a reason for the result that was found. Products of many elements
    /// often come to 0 within the first ones.
    fn fold_packed(self, x: &[f32], found: f32) -> Option<f32> {
        let first = match self {
            Special::NotFinite => 0,
            Special::OrZero => x.len().min(FIRST),
        };
        let mut anew = Anew::of(self, &[found]);
        let (first, rest) = x.split_at(first);
        let is_found = anew.take(first) && !is_explained(rest, found) && anew.take(rest);
        is_found.then(|| anew.folded[0])
    }

    /// Folds the elements of the result that begins with `x` in order; `None` as soon as there is a reason for the
    /// result that was found.
    fn fold(self, x: &[f32], loops: &Loops, found: f32) -> Option<f32> {
        let mut anew = Anew::of(self, &[found]);
        let mut some = [0.0; LOOK];
        let mut at = 0;
        while at < loops.count {
            let [start, several, apart] = loops.reduced.run(at);
            let some = &mut some[..several.min(LOOK)];
            some.iter_mut().zip(x[start..].iter().step_by(apart.max(1))).for_each(|(some, x)| *some = *x);
            if !anew.take(some) {
                return None;
            }
            at += some.len();
        }
        Some(anew.folded[0])
    }

    /// Likewise of a few neighbouring results, the first of which begins with `x`.
    fn fold_columns(self, x: &[f32], loops: &Loops, results: &mut [f32], finish: impl Fn(f32) -> f32) {
        let mut anew = Anew::of(self, results);
        if vectorised(EachRow { x, loops, anew: &mut anew }) {
            anew.finish(results, finish);
        }
    }
}

/// Whether a number is a reason for the infinity, 0 or NaN that was found. The number is an element, or what the first
/// elements come to in order: whatever follows, it stays infinite, 0 or NaN, and only its sign may change. So signs are
/// not compared; that of the result comes from all elements anyway.
#[inline(always)]
fn explains(x: f32, found: f32) -> bool {
    (x.abs() == found.abs()) | (x.is_nan() & found.is_nan())
}

/// Whether one of the numbers is such a reason.
fn is_explained(numbers: &[f32], found: f32) -> bool {
    holds_for_some(numbers, |x| explains(x, found))
}

#[inline(always)]
fn holds_for_some(numbers: &[f32], holds: impl Fn(f32) -> bool) -> bool {
    numbers.chunks(LOOK).any(|some| some.iter().fold(false, |is, &x| is | holds(x)))
}

/// The rows of neighbouring columns, the first of which begins with `x`, until there is a reason for all results.
struct EachRow<'a> {
    x: &'a [f32],
    loops: &'a Loops,
    anew: &'a mut Anew,
}

impl VectorLoop for EachRow<'_> {
    /// Whether there is no reason for some result.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { x, loops, anew } = self;
        let width = anew.found.len();
        for at in 0..loops.count {
            if !anew.take_row(&x[loops.reduced.offset(at)..][..width]) {
                return false;
            }
        }
        true
    }
}

/// Results that are found anew, those of neighbouring columns.
pub struct Anew {
    special: Special,
    /// What the other order gave.
    found: SmallVec<[f32; TOGETHER]>,
    folded: SmallVec<[f32; TOGETHER]>,
    /// All bits where there is a reason for what was found, of the size of the numbers so that they share vectors.
    explained: SmallVec<[u32; TOGETHER]>,
}

impl Anew {
    /// Of sums that are infinite or NaN.
    pub fn of_sums(found: &[f32]) -> Self {
        Self::of(Special::NotFinite, found)
    }

    pub(super) fn of(special: Special, found: &[f32]) -> Self {
        Self {
            special,
            found: found.into(),
            folded: smallvec![special.start(); found.len()],
            explained: found.iter().map(|&found| bits(!special.has(found))).collect(),
        }
    }

    /// Takes the next rows in; `false` as soon as there is a reason for all results that were found.
    pub fn take(&mut self, x: &[f32]) -> bool {
        match (&mut self.folded[..], &self.found[..]) {
            ([folded], &[found]) => x.chunks(LOOK).all(|some| {
                *folded = some.iter().fold(*folded, |folded, &x| self.special.step(folded, x));
                !is_explained(some, found) && !explains(*folded, found)
            }),
            _ => x.chunks_exact(self.found.len()).all(|row| self.take_row(row)),
        }
    }

    /// Takes the next row in, with `false` likewise.
    #[inline(always)]
    pub fn take_row(&mut self, row: &[f32]) -> bool {
        // Each is a loop of its own, without a choice for each element.
        match self.special {
            Special::NotFinite => self.take_row_of(Special::NotFinite, row),
            Special::OrZero => self.take_row_of(Special::OrZero, row),
        }
    }

    #[inline(always)]
    fn take_row_of(&mut self, special: Special, row: &[f32]) -> bool {
        let columns = self.folded.iter_mut().zip(&mut self.explained).zip(row.iter().zip(&self.found));
        let mut all = u32::MAX;
        for ((folded, explained), (&x, &found)) in columns {
            *folded = special.step(*folded, x);
            *explained |= bits(explains(x, found) | explains(*folded, found));
            all &= *explained;
        }
        all == 0
    }

    /// Puts what the elements in order come to where nothing explains what was found; `finish` makes results of sums or
    /// products.
    pub fn finish(&self, results: &mut [f32], finish: impl Fn(f32) -> f32) {
        for (at, result) in results.iter_mut().enumerate().filter(|(at, _)| self.explained[*at] == 0) {
            *result = finish(self.folded[at]);
        }
    }
}

/// All bits or none.
#[inline(always)]
fn bits(all: bool) -> u32 {
    if all { u32::MAX } else { 0 }
}
