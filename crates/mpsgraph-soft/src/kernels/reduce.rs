//! Reductions over any set of axes.
//!
//! Axes of extent 1 are dropped and neighbours that are all reduced or all kept are merged, so few loops remain. If the
//! innermost one is reduced, results are folded from contiguous segments; if it is kept, rows are folded onto columns
//! (`fold`). Both divide long reductions in halves down to blocks, which bounds the rounding error of sums and fixes
//! the order of operations for any number of threads. A product of floats along one axis has one order, wherever the
//! axis is, so its operand need not be turned. Only what is inside of a block knows the element type (`inner`).

mod fold;
pub mod inner;
pub mod reducers;

use super::call::Call;
use super::element::Element;
use super::threads::{PARALLEL_BYTES, Worth, count, share_reads};
use super::vectorised::{VectorLoop, vectorised};
use super::{Kernel, dispatch};
use crate::ir::DType;
use bytemuck::cast_slice_mut;
pub use fold::{BLOCK, fold_long, front, interleaved};
use fold::{COLUMNS, Columns, Segments};
pub use inner::{ACCUMULATORS, in_halves};
use inner::{Inner, Starts};
use serde::{Deserialize, Serialize};

const MAX_RANK: usize = super::strided::MAX_RANK;

/// Bytes that are read, which takes half as long as moving them; of fewer, cores without a common cache lose more than
/// others gain.
pub const READ: Worth = Worth { awake: PARALLEL_BYTES, woken: 2 * PARALLEL_BYTES };

/// How a reduction combines elements. 16-bit floats accumulate in their own width, as on the hardware, so the
/// caller casts up first; integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReduceOp {
    Sum,
    Prod,
    /// NaN is skipped; all NaN gives the infinity that starts the search.
    Min,
    Max,
    MinNan,
    MaxNan,
    And,
    Or,
    Mean,
}

/// `[x]` reduced over `axes` (sorted, distinct); reduced extents stay as 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reduce {
    pub op: ReduceOp,
    pub axes: Vec<usize>,
}

impl Kernel for Reduce {
    fn run(&self, call: Call<'_>) {
        let x = &call.inputs[0];
        execute(self.op, x.dtype(), x.parts(), &self.axes, call.output);
    }
}

/// The same reduction of elements of this type, by one of fewer loops: bool uses those that keep it 0 or 1, and
/// integers need no rules for NaN.
fn plain(op: ReduceOp, dtype: DType) -> ReduceOp {
    let (truths, floats) = (dtype == DType::Bool, dtype.is_float());
    match op {
        ReduceOp::Sum if truths => ReduceOp::Or,
        ReduceOp::Prod if truths => ReduceOp::And,
        ReduceOp::Mean if truths => unreachable!("{op:?} of bool reached a reduction"),
        ReduceOp::MinNan if !floats => ReduceOp::Min,
        ReduceOp::MaxNan if !floats => ReduceOp::Max,
        ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan => op,
        ReduceOp::And | ReduceOp::Or | ReduceOp::Mean => op,
    }
}

/// Reduces `x` over `axes`. Bool uses the reductions that keep it 0 or 1: its sum is "or", its product "and".
pub fn execute(op: ReduceOp, dtype: DType, (x, shape): (&[u8], &[usize]), axes: &[usize], out: &mut [u8]) {
    use reducers::{And, Max, MaxNan, Min, MinNan, Or, Prod, Sum};
    let op = plain(op, dtype);
    let inner = match op {
        ReduceOp::Sum | ReduceOp::Mean => dispatch!(bits dtype, T => Inner::of::<T, Sum>()),
        ReduceOp::Prod => dispatch!(bits dtype, T => Inner::of::<T, Prod>()),
        ReduceOp::Min => dispatch!(dtype, T => Inner::of::<T, Min>()),
        ReduceOp::Max => dispatch!(dtype, T => Inner::of::<T, Max>()),
        ReduceOp::And => dispatch!(bits dtype, T => Inner::of::<T, And>()),
        ReduceOp::Or => dispatch!(bits dtype, T => Inner::of::<T, Or>()),
        ReduceOp::MinNan => dispatch!(float dtype, T => Inner::of::<T, MinNan>()),
        ReduceOp::MaxNan => dispatch!(float dtype, T => Inner::of::<T, MaxNan>()),
    };
    let mut loops = Loops::new(shape, axes);
    loops.as_segments = op == ReduceOp::Prod && dtype.is_float();
    let count = loops.count;
    let finish = |out: &mut [u8]| match op {
        ReduceOp::Mean => dispatch!(dtype, T => vectorised(Divide::<T> { sums: cast_slice_mut(out), count })),
        ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Min | ReduceOp::Max => {}
        ReduceOp::And | ReduceOp::Or | ReduceOp::MinNan | ReduceOp::MaxNan => {}
    };
    loops.run(&inner, x, out, &finish);
}

/// Makes means of sums, truncated for integers.
struct Divide<'a, T> {
    sums: &'a mut [T],
    count: usize,
}

impl<T: Element> VectorLoop for Divide<'_, T> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON && size_of::<T>() < 8;

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().for_each(|sum| *sum = sum.div_count(self.count));
    }
}

/// Nested loops with their steps, outermost first.
#[derive(Clone, Copy)]
struct Nest {
    loops: [(usize, usize); MAX_RANK],
    depth: usize,
}

impl Nest {
    const EMPTY: Nest = Nest { loops: [(1, 0); MAX_RANK], depth: 0 };

    fn push(&mut self, extent: usize, step: usize) {
        self.loops[self.depth] = (extent, step);
        self.depth += 1;
    }

    /// Takes the innermost loop off.
    fn pop(&mut self) -> (usize, usize) {
        self.depth -= 1;
        self.loops[self.depth]
    }

    fn count(&self) -> usize {
        self.loops[..self.depth].iter().map(|&(extent, _)| extent).product()
    }

    /// Offset of iteration `at`.
    fn offset(&self, at: usize) -> usize {
        self.run(at)[0]
    }

    /// Offset of iteration `at`; how many iterations from it on are of the same innermost loop; and its step.
    #[inline(never)]
    fn run(&self, at: usize) -> [usize; 3] {
        let [outer @ .., (extent, step)] = &self.loops[..self.depth] else { return [0, 1, 0] };
        let (mut rest, place) = (at / extent, at % extent);
        let mut offset = place * step;
        for &(extent, step) in outer.iter().rev() {
            offset += rest % extent * step;
            rest /= extent;
        }
        [offset, extent - place, *step]
    }
}

/// A reduction's loops after merging.
struct Loops {
    kept: Nest,
    reduced: Nest,
    /// Whether the innermost loop, of step 1, is a reduced one.
    segments: bool,
    /// Whether rows of a single loop are folded in the order of a segment.
    as_segments: bool,
    /// Elements reduced into one.
    count: usize,
}

impl Loops {
    fn new(shape: &[usize], axes: &[usize]) -> Self {
        let mut merged = [(1, false); MAX_RANK];
        let mut depth = 0;
        for (axis, &extent) in shape.iter().enumerate().filter(|&(_, &extent)| extent != 1) {
            let reduced = axes.contains(&axis);
            if depth > 0 && merged[depth - 1].1 == reduced {
                merged[depth - 1].0 *= extent;
            } else {
                merged[depth] = (extent, reduced);
                depth += 1;
            }
        }
        let (mut kept, mut reduced) = (Nest::EMPTY, Nest::EMPTY);
        let mut step: usize = merged[..depth].iter().map(|&(extent, _)| extent).product();
        for &(extent, is_reduced) in &merged[..depth] {
            step /= extent;
            if is_reduced { reduced.push(extent, step) } else { kept.push(extent, step) }
        }
        let segments = depth > 0 && merged[depth - 1].1;
        if depth == 0 {
            kept.push(1, 1);
        }
        Self { kept, reduced, segments, as_segments: false, count: reduced.count() }
    }

    fn run(mut self, inner: &Inner, x: &[u8], out: &mut [u8], finish: &(dyn Fn(&mut [u8]) + Sync)) {
        let size = inner.size;
        assert_eq!(x.len(), self.kept.count() * self.count * size, "reduction: the operand has another size");
        assert_eq!(out.len(), self.kept.count() * size, "reduction: the result has another size");
        let parallel = READ.is_met(x.len());
        if self.segments {
            let (length, _) = self.reduced.pop();
            let chunk = (PARALLEL_BYTES / 4 / (self.count * size)).max(1);
            let segments = Segments { x, length, nest: self.reduced };
            share_reads(parallel, chunk * self.count * size, chunk * size, out, |at, out| {
                fold::segments(inner, &segments, (&self.kept, at * chunk), out);
                finish(out);
            });
        } else {
            let (width, _) = self.kept.pop();
            let starts = match self.reduced.loops[..self.reduced.depth] {
                [(_, step)] => Starts::Packed(step),
                _ => Starts::Nest(&self.reduced),
            };
            let read = |width: usize| width * self.count * size;
            let few = self.kept.count() < count();
            share_reads(parallel, read(width), width * size, out, |outer, out| {
                let start = self.kept.offset(outer);
                share_reads(parallel && few, read(COLUMNS), COLUMNS * size, out, |tile, out| {
                    let columns = Columns { x, start: start + tile * COLUMNS, width, starts };
                    match starts {
                        Starts::Packed(step) if self.as_segments => {
                            columns.fold_as_segments(inner, self.count, step, out)
                        }
                        Starts::Packed(_) | Starts::Nest(_) => columns.fold(inner, 0..self.count, out),
                    }
                    finish(out);
                });
            });
        }
    }
}

#[cfg(test)]
mod tests;
