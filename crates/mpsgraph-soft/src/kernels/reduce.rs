//! Reductions over any set of axes.
//!
//! Axes of extent 1 are dropped and neighbours that are all reduced or all kept are merged, so few loops remain. If the
//! innermost one is reduced, results are folded from contiguous segments; if it is kept, rows are folded onto columns
//! (`fold`). Both divide long reductions in halves down to blocks, which bounds the rounding error of sums and fixes
//! the order of operations for any number of threads.

mod fold;
pub mod reducers;

use super::call::Call;
use super::element::Element;
use super::threads::{PARALLEL_BYTES, share};
use super::{Kernel, dispatch};
use crate::ir::DType;
use bytemuck::{cast_slice, cast_slice_mut};
pub use fold::fold_long;
use fold::{COLUMNS, Columns, Segments};
use reducers::Reducer;

const MAX_RANK: usize = super::strided::MAX_RANK;

/// Reductions of more bytes than this are shared between threads: reading takes half as long as moving.
const READ_BYTES: usize = 2 * PARALLEL_BYTES;

/// How a reduction combines elements. 16-bit floats accumulate in their own width, as on the hardware, so the
/// caller casts up first; integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    use reducers::{And, Max, MaxNan, Mean, Min, MinNan, Or, Prod, Sum};
    let op = plain(op, dtype);
    let dtype = match op {
        // Reductions that depend on bits only need no code for signed types.
        ReduceOp::Sum | ReduceOp::Prod | ReduceOp::And | ReduceOp::Or => dtype.unsigned(),
        ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::Mean => dtype,
    };
    let loops = Loops::new(shape, axes);
    match op {
        ReduceOp::Sum => dispatch!(dtype, T => loops.run::<T, Sum>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::Prod => dispatch!(dtype, T => loops.run::<T, Prod>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::Min => dispatch!(dtype, T => loops.run::<T, Min>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::Max => dispatch!(dtype, T => loops.run::<T, Max>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::And => dispatch!(dtype, T => loops.run::<T, And>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::Or => dispatch!(dtype, T => loops.run::<T, Or>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::Mean => dispatch!(dtype, T => loops.run::<T, Mean>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::MinNan => dispatch!(float dtype, T => loops.run::<T, MinNan>(cast_slice(x), cast_slice_mut(out))),
        ReduceOp::MaxNan => dispatch!(float dtype, T => loops.run::<T, MaxNan>(cast_slice(x), cast_slice_mut(out))),
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
    #[inline]
    fn offset(&self, at: usize) -> usize {
        match self.loops[..self.depth] {
            [] => 0,
            [(_, step)] => at * step,
            [ref outer @ .., (extent, step)] => {
                let (mut rest, mut offset) = (at / extent, at % extent * step);
                for &(extent, step) in outer.iter().rev() {
                    offset += rest % extent * step;
                    rest /= extent;
                }
                offset
            }
        }
    }
}

/// A reduction's loops after merging.
struct Loops {
    kept: Nest,
    reduced: Nest,
    /// Whether the innermost loop, of step 1, is a reduced one.
    segments: bool,
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
        Self { kept, reduced, segments, count: reduced.count() }
    }

    fn run<T: Element, R: Reducer<T>>(mut self, x: &[T], out: &mut [T]) {
        assert_eq!(x.len(), self.kept.count() * self.count, "reduction: the operand has another size");
        assert_eq!(out.len(), self.kept.count(), "reduction: the result has another size");
        let parallel = size_of_val(x) > READ_BYTES;
        if self.segments {
            let (length, _) = self.reduced.pop();
            let chunk = (PARALLEL_BYTES / 4 / (self.count * size_of::<T>())).max(1);
            let segments = Segments { x, length, nest: self.reduced };
            share(parallel, chunk, out, |at, out| {
                fold::segments::<T, R>(&segments, (&self.kept, at * chunk), self.count, out);
            });
        } else {
            let (width, _) = self.kept.pop();
            share(parallel, width, out, |outer, out| {
                let start = self.kept.offset(outer);
                share(parallel, COLUMNS, out, |tile, out| {
                    let columns = Columns { x, start: start + tile * COLUMNS, width, nest: self.reduced };
                    fold::columns::<T, R>(&columns, self.count, out);
                });
            });
        }
    }
}

#[cfg(test)]
mod tests;
