//! Sums of products of integers along the last axis, without a table of the products: rows times rows.
//!
//! Sums and products wrap, so their order and the integers' signs change no bit.

use super::Kernel;
use super::call::Call;
use super::element::Element;
use super::matmul::{PARALLEL_PRODUCT, are_shared};
use super::strided::MAX_RANK;
use super::threads::share_reads;
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};

/// Products that are summed side by side.
const LANES: usize = 8;
/// Rows that share the loads of the row that they are multiplied with.
const ROWS: usize = 4;
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
    // The one that stays along a line is loaded once for several rows of the other.
    let (x, y) = if y.steps[last] == 0 { (y, x) } else { (x, y) };
    let together = (TASK / (n * k).max(1)).max(1);
    let (parallel, read) = (are_shared(out.len() * k), together * n * k * size_of::<T>());
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
                [*out] = dots(x, [row]);
            }
            return;
        }
        for (rows, out) in self.rows.chunks(ROWS * k).zip(self.out.chunks_mut(ROWS)) {
            if let Ok(out) = <&mut [T; ROWS]>::try_from(&mut *out) {
                *out = dots(self.x, std::array::from_fn(|at| &rows[at * k..][..k]));
            } else {
                for (row, out) in rows.chunks_exact(k).zip(out) {
                    [*out] = dots(self.x, [row]);
                }
            }
        }
    }
}

/// `x` times each row, all of one length.
#[inline(always)]
fn dots<T: Element, const N: usize>(x: &[T], rows: [&[T]; N]) -> [T; N] {
    let mut sums = [[T::ZERO; LANES]; N];
    let (chunks, rest) = x.as_chunks::<LANES>();
    let parts = rows.map(|row| &row.as_chunks::<LANES>().0[..chunks.len()]);
    for (at, x) in chunks.iter().enumerate() {
        for (sums, part) in sums.iter_mut().zip(&parts) {
            for (sum, (&x, &y)) in sums.iter_mut().zip(x.iter().zip(&part[at])) {
                *sum = sum.add(x.mul(y));
            }
        }
    }
    let end = x.len() - rest.len();
    std::array::from_fn(|at| {
        let whole = sums[at].iter().fold(T::ZERO, |total, &sum| total.add(sum));
        rest.iter().zip(&rows[at][end..]).fold(whole, |total, (&x, &y)| total.add(x.mul(y)))
    })
}

#[cfg(test)]
mod tests;
