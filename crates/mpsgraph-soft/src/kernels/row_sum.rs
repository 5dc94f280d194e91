//! Sums of the rows of products that are not stored: those of two operands, or the squares of how far the elements of
//! one are from a number that each row has, such as its mean.
//!
//! f32 only. A row is summed in the order of [`super::reduce`], so the result has the bits of a sum of products in
//! memory.

use super::Kernel;
use super::call::Call;
use super::elementwise::math::product;
use super::reduce::{ACCUMULATORS, Anew, BLOCK, LOOK, READ, front, in_halves};
use super::threads::{MOVED, PARALLEL_BYTES, both, share_reads};
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};
use std::{array, slice};

/// What is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Terms {
    /// `[x, y]`, of one shape: `x * y`.
    Products,
    /// `[x, m]`, where `m` has one number for each row: `(x - m)^2`.
    Deviations,
}

/// Sums of rows of `x`; the result has one number for each row, so its type says what a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RowSum {
    pub terms: Terms,
}

impl Kernel for RowSum {
    fn run(&self, mut call: Call<'_>) {
        let [x, y] = call.inputs else { unreachable!("a sum of terms has two operands") };
        self.execute(x.elements(), y.elements(), call.output_elements());
    }
}

impl RowSum {
    /// Fills `out` with the sums of the rows of packed operands.
    pub fn execute(self, x: &[f32], y: &[f32], out: &mut [f32]) {
        let (length, own) = (x.len() / out.len(), y.len() / out.len());
        let chunk = (PARALLEL_BYTES / 4 / size_of_val(&x[..length])).max(1);
        let bytes = size_of_val(x);
        share_reads(READ.is_met(bytes), chunk * size_of_val(&x[..length]), chunk, out, |at, out| {
            let first = at * chunk;
            let x = &x[first * length..][..out.len() * length];
            let y = &y[first * own..][..out.len() * own];
            if length <= BLOCK {
                return rows(self.terms, x, y, out);
            }
            for (at, out) in out.iter_mut().enumerate() {
                *out = self.long(&x[at * length..][..length], &y[at * own..][..own]);
            }
        });
        // As a reduction of stored terms does it, which finds such sums anew.
        for (at, sum) in out.iter_mut().enumerate().filter(|(_, sum)| !sum.is_finite()) {
            self.in_order(&x[at * length..][..length], &y[at * own..][..own], sum);
        }
    }

    /// Puts the sum of a row in the order of its terms in place of the one that was found, if none explains that.
    fn in_order(self, x: &[f32], y: &[f32], found: &mut f32) {
        let mut anew = Anew::of_sums(slice::from_ref(found));
        let mut terms = [0.0; LOOK];
        for (x, first) in x.chunks(LOOK).zip((0..).step_by(LOOK)) {
            let terms = &mut terms[..x.len()];
            for (at, (term, &x)) in terms.iter_mut().zip(x).enumerate() {
                *term = match self.terms {
                    Terms::Products => product(x, y[first + at]),
                    Terms::Deviations => product(x - y[0], x - y[0]),
                };
            }
            if !anew.take(terms) {
                return;
            }
        }
        anew.finish(slice::from_mut(found), |sum| sum);
    }

    /// The sum of a row of any length, in halves down to blocks.
    fn long(self, x: &[f32], y: &[f32]) -> f32 {
        let mut sums = [0.0; 2];
        if x.len() <= BLOCK {
            rows(self.terms, x, y, &mut sums[..1]);
            return sums[0];
        }
        let front = front(x.len());
        let (x, y) = (
            x.split_at(front),
            match self.terms {
                Terms::Products => y.split_at(front),
                Terms::Deviations => (y, y),
            },
        );
        let [low, high] = &mut sums;
        both(MOVED.is_met(size_of_val(x.1)), &mut || *low = self.long(x.0, y.0), &mut || *high = self.long(x.1, y.1));
        sums[0] + sums[1]
    }
}

/// Sums rows of at most a block.
fn rows(terms: Terms, x: &[f32], y: &[f32], out: &mut [f32]) {
    match terms {
        Terms::Products => vectorised(Products { x, y, out }),
        Terms::Deviations => vectorised(Deviations { x, middles: y, out }),
    }
}

struct Products<'a> {
    x: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
}

impl VectorLoop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let length = self.x.len() / self.out.len();
        for ((x, y), out) in self.x.chunks_exact(length).zip(self.y.chunks_exact(length)).zip(self.out) {
            *out = sum(x, y, product);
        }
    }
}

struct Deviations<'a> {
    x: &'a [f32],
    middles: &'a [f32],
    out: &'a mut [f32],
}

impl VectorLoop for Deviations<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let length = self.x.len() / self.out.len();
        for ((x, &middle), out) in self.x.chunks_exact(length).zip(self.middles).zip(self.out) {
            *out = sum(x, x, |x, _| product(x - middle, x - middle));
        }
    }
}

/// The sum of a row of terms, as [`super::reduce`] sums a row.
#[inline(always)]
pub fn sum(x: &[f32], y: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    if x.len() < ACCUMULATORS {
        return x.iter().zip(y).fold(0.0, |sum, (&x, &y)| sum + term(x, y));
    }
    let mut sums = [0.0; ACCUMULATORS];
    let (chunks, rest) = x.as_chunks::<ACCUMULATORS>();
    let (other_chunks, other_rest) = y.as_chunks::<ACCUMULATORS>();
    for (x, y) in chunks.iter().zip(other_chunks) {
        // Added right away, the terms would not be computed in vectors.
        let terms: [f32; ACCUMULATORS] = array::from_fn(|at| term(x[at], y[at]));
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += term;
        }
    }
    for (sum, (&x, &y)) in sums.iter_mut().zip(rest.iter().zip(other_rest)) {
        *sum += term(x, y);
    }
    in_halves(sums, |a, b| a + b)
}

#[cfg(test)]
mod tests;
