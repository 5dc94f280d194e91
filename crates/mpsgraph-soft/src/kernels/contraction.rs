//! Sums of products of integers along the last axis, without a table of the products: rows times rows.
//!
//! Sums and products wrap, so their order and the integers' signs change no bit.

use super::Kernel;
use super::call::Call;
use super::element::Element;
use super::matmul::{MULTIPLIED, PARALLEL_PRODUCT};
use super::strided::MAX_RANK;
use super::threads::share_reads;
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};

/// Multiplications of a task.
const TASK: usize = PARALLEL_PRODUCT / 8;

/// `[x, y]`, integers of 32 or 64 bits with equal last extents and outer axes that NumPy broadcasts; the last extent of
/// the result is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contraction;

impl Kernel for Contraction {
    fn run(&self, mut call: Call<'_>) {
        let [x, y] = call.inputs else { unreachable!("a contraction has two operands") };
        let shape = &call.ty.shape;
        if call.ty.dtype.size() == 8 {
            contract::<u64>((x.elements(), x.shape()), (y.elements(), y.shape()), shape, call.output_elements());
        } else {
            contract::<u32>((x.elements(), x.shape()), (y.elements(), y.shape()), shape, call.output_elements());
        }
    }
}

/// An operand: its elements, and how far its rows are apart along each outer axis.
struct Operand<'a, T> {
    elements: &'a [T],
    steps: [usize; MAX_RANK],
}

impl<'a, T> Operand<'a, T> {
    fn new((elements, shape): (&'a [T], &[usize])) -> Self {
        let mut steps = [0; MAX_RANK];
        let mut step = shape[shape.len() - 1];
        for axis in (0..shape.len() - 1).rev() {
            steps[axis] = if shape[axis] == 1 { 0 } else { step };
            step *= shape[axis];
        }
        Self { elements, steps }
    }

    /// Where line `at` of the outer axes of `shape` but the last begins.
    fn line(&self, mut at: usize, shape: &[usize]) -> usize {
        let axes = shape.iter().zip(&self.steps).rev();
        axes.fold(0, |offset, (&extent, &step)| {
            let place = at % extent;
            at /= extent;
            offset + place * step
        })
    }
}

/// Fills `out`, of `shape` with a last extent of 1, with the products of rows of `x` and `y`.
pub fn contract<T: Element>(x: (&[T], &[usize]), y: (&[T], &[usize]), shape: &[usize], out: &mut [T]) {
    let k = x.1[x.1.len() - 1];
    let (lines, n) = (&shape[..shape.len() - 2], shape[shape.len() - 2]);
    let (x, y) = (Operand::new(x), Operand::new(y));
    let last = lines.len();
    // The one that may stay along a line comes first.
    let (x, y) = if y.steps[last] == 0 { (y, x) } else { (x, y) };
    let together = (TASK / (n * k).max(1)).max(1);
    let (parallel, read) = (MULTIPLIED.is_met(out.len() * k), together * n * k * size_of::<T>());
    share_reads(parallel, read, together * n, out, |at, out| {
        for (line, out) in out.chunks_mut(n).enumerate() {
            let line = at * together + line;
            let x = &x.elements[x.line(line, lines)..][..x.steps[last] * (n - 1) + k];
            let rows = &y.elements[y.line(line, lines)..][..y.steps[last] * (n - 1) + k];
            vectorised(Line { x, rows, k, out });
        }
    });
}

/// The results of one line: one row of `x` times each of `rows`, or as many rows times each other.
struct Line<'a, T> {
    x: &'a [T],
    rows: &'a [T],
    k: usize,
    out: &'a mut [T],
}

impl<T: Element> VectorLoop for Line<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let k = self.k;
        if self.x.len() > k {
            for ((x, row), out) in self.x.chunks_exact(k).zip(self.rows.chunks_exact(k)).zip(self.out) {
                *out = dot(x, row);
            }
            return;
        }
        for (row, out) in self.rows.chunks_exact(k).zip(self.out) {
            *out = dot(self.x, row);
        }
    }
}

/// The sum of the products. The compiler finds accumulators of its own, because sums wrap; around ours it would take
/// vectors apart.
#[inline(always)]
fn dot<T: Element>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).fold(T::ZERO, |total, (&x, &y)| total.add(x.mul(y)))
}

#[cfg(test)]
mod tests;
