//! Reductions over any set of axes.
//!
//! Axes of extent 1 are dropped and neighbours that are all reduced or all kept are merged, so few loops remain. If the
//! innermost one is reduced, results are folded from contiguous segments; if it is kept, rows are folded onto columns
//! (`fold`). Both divide long reductions in halves down to blocks, which bounds the rounding error of sums and fixes
//! the order of operations for any number of threads. A product of floats along one axis has one order, wherever the
//! axis is, so its operand need not be turned. Axes that are no neighbours are reduced one after the other if the
//! innermost loop is short (`phases`). Only what is inside of a block knows the element type (`inner`).

mod blocks;
mod fold;
mod in_order;
pub mod inner;
mod phases;
pub mod reducers;
mod total;

use super::call::Call;
use super::element::Float;
use super::elementwise::math::quotient;
use super::threads::{PARALLEL_BYTES, Worth, count, share_reads};
use super::vectorised::{VectorLoop, vectorised};
use super::{Kernel, dispatch, strided};
use crate::ir::{DType, TensorType};
use blocks::Blocks;
use bytemuck::{cast_slice, cast_slice_mut};
pub use fold::{BLOCK, fold_long, front, interleaved};
use fold::{COLUMNS, NARROWEST, RowsOfTile, Segments};
use half::f16;
use in_order::Special;
pub use in_order::{Anew, LOOK};
pub use inner::{ACCUMULATORS, in_halves};
use inner::{Inner, Starts};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
pub use total::Total;

const MAX_RANK: usize = strided::MAX_RANK;

/// Bytes that are read, which takes half as long as moving them; of fewer, cores without a common cache lose more than
/// others gain.
pub const READ: Worth = Worth { awake: PARALLEL_BYTES, woken: 2 * PARALLEL_BYTES };

/// How a reduction combines elements. Integers wrap. Sums, products and means of f16 accumulate in 16 bits, as on the
/// hardware; a caller that wants more precision casts up first. Other reductions of f16 are computed in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReduceOp {
    Sum,
    Prod,
    /// The smallest element that is not NaN; positive infinity if all elements are NaN.
    Min,
    /// The largest element that is not NaN; negative infinity if all elements are NaN.
    Max,
    /// The smallest element, or NaN if an element is NaN. The loops are for f32.
    MinNan,
    /// The largest element, or NaN if an element is NaN. The loops are for f32.
    MaxNan,
    /// Whether no element is 0. The loops are for types of one byte; of others it is first asked which elements are 0.
    And,
    /// Whether an element is not 0, with the same loops.
    Or,
    /// The sum divided by the number of elements, of f32 and f16; methods make means of integers from sums.
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
        let loops = match x.strides {
            Some(strides) => Loops::strided(x.shape(), strides, &self.axes),
            None => Some(Loops::packed(x.shape(), &self.axes)),
        };
        let loops = loops.unwrap_or_else(|| unreachable!("{self:?} cannot read {:?} {:?}", x.shape(), x.strides));
        loops.execute(self.op, x.dtype(), x.elements(), (call.output, call.scratch));
    }

    fn computes_in(&self, dtype: DType) -> DType {
        match self.op {
            ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan if dtype.is_float() => DType::F32,
            ReduceOp::And | ReduceOp::Or if dtype.size() > 1 => DType::Bool,
            ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan => dtype,
            ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or | ReduceOp::Mean => dtype,
        }
    }

    fn scratch_bytes(&self, inputs: &[&TensorType], _output: &TensorType) -> usize {
        Loops::packed(&inputs[0].shape, &self.axes).scratch_bytes(inputs[0].dtype.size())
    }
}

/// The loops of a reduction. Bool uses those that keep it 0 or 1: its sum is "or", its product "and".
fn inner(op: ReduceOp, dtype: DType) -> Inner {
    use reducers::{And, Max, MaxNan, Min, MinNan, Or, Prod, Sum};
    match op {
        ReduceOp::Sum if dtype == DType::Bool => Inner::of::<u8, Or>(),
        ReduceOp::Prod if dtype == DType::Bool => Inner::of::<u8, And>(),
        ReduceOp::Sum | ReduceOp::Mean => dispatch!(summed dtype, T => Inner::of::<T, Sum>()),
        ReduceOp::Prod => dispatch!(summed dtype, T => Inner::of::<T, Prod>()),
        ReduceOp::Min => dispatch!(compared dtype, T => Inner::of::<T, Min>()),
        ReduceOp::Max => dispatch!(compared dtype, T => Inner::of::<T, Max>()),
        ReduceOp::MinNan if dtype == DType::F32 => Inner::of::<f32, MinNan>(),
        ReduceOp::MaxNan if dtype == DType::F32 => Inner::of::<f32, MaxNan>(),
        ReduceOp::And if dtype.size() == 1 => Inner::of::<u8, And>(),
        ReduceOp::Or if dtype.size() == 1 => Inner::of::<u8, Or>(),
        ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or => {
            unreachable!("{op:?} of {dtype:?} is computed in another type")
        }
    }
}

/// The element that decides a reduction of bools wherever it stands, so that no other element need be read.
fn settling(op: ReduceOp, dtype: DType) -> Option<u8> {
    match op {
        ReduceOp::Or | ReduceOp::Sum if dtype == DType::Bool => Some(1),
        ReduceOp::And | ReduceOp::Prod if dtype == DType::Bool => Some(0),
        ReduceOp::Or | ReduceOp::Sum | ReduceOp::And | ReduceOp::Prod | ReduceOp::Mean => None,
        ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan => None,
    }
}

/// Makes means of sums of so many elements.
fn divide(dtype: DType, sums: &mut [u8], count: usize) {
    match dtype {
        DType::F32 => vectorised(Divide::<f32> { sums: cast_slice_mut(sums), count }),
        DType::F16 => vectorised(Divide::<f16> { sums: cast_slice_mut(sums), count }),
        DType::BF16 | DType::Bool => unreachable!("methods refuse means of {dtype:?}"),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            unreachable!("methods divide sums of {dtype:?}")
        }
    }
}

struct Divide<'a, T> {
    sums: &'a mut [T],
    count: usize,
}

impl<T: Float> VectorLoop for Divide<'_, T> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().for_each(|sum| *sum = T::from_f32(quotient(sum.to_f32(), self.count as f32)));
    }
}

impl Reduce {
    /// Whether an operand of this shape whose elements are so far apart needs no packed copy: its loops are those of
    /// the copy, so the order of steps is the same, and the innermost one has neighbours.
    pub fn reads(&self, shape: &[usize], strides: &[usize]) -> bool {
        Loops::strided(shape, strides, &self.axes).is_some()
    }
}

/// Reduces `x`, which is packed, over `axes`.
#[cfg(test)]
pub fn execute(op: ReduceOp, dtype: DType, (x, shape): (&[u8], &[usize]), axes: &[usize], out: &mut [u8]) {
    let loops = Loops::packed(shape, axes);
    let mut scratch = vec![u64::MAX; loops.scratch_bytes(dtype.size()) / 8];
    loops.execute(op, dtype, x, (out, cast_slice_mut(&mut scratch)));
}

/// Reduces rows of `length` elements, which begin `apart` elements one behind the other, to one result each.
pub fn rows(op: ReduceOp, dtype: DType, x: &[u8], [length, apart]: [usize; 2], out: &mut [u8]) {
    let (mut kept, mut reduced) = (Nest::EMPTY, Nest::EMPTY);
    kept.push(out.len() / dtype.size(), apart);
    reduced.push(length, 1);
    let loops = Loops { kept, reduced, segments: true, as_segments: false, count: length };
    loops.execute(op, dtype, x, (out, &mut []));
}

/// Elements from the first to the last of a shape whose elements are so far apart along each axis.
pub fn reach(shape: &[usize], strides: &[usize]) -> usize {
    1 + shape.iter().zip(strides).map(|(&extent, &stride)| (extent - 1) * stride).sum::<usize>()
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

    /// Iterations of the innermost loop.
    fn innermost(&self) -> usize {
        self.loops[self.depth - 1].0
    }

    /// Elements from the first offset to the last.
    fn reach(&self) -> usize {
        self.loops[..self.depth].iter().map(|&(extent, step)| (extent - 1) * step).sum()
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
#[derive(Clone, Copy)]
struct Loops {
    kept: Nest,
    reduced: Nest,
    /// Whether the innermost loop, of step 1, is a reduced one.
    segments: bool,
    /// Whether rows, of a single loop, are folded in the order of a segment.
    as_segments: bool,
    /// Elements reduced into one.
    count: usize,
}

impl Loops {
    /// The loops over a packed operand.
    fn packed(shape: &[usize], axes: &[usize]) -> Self {
        let mut strides = [0; MAX_RANK];
        strided::pack(shape, &mut strides[..shape.len()]);
        let strides = strides.map(isize::cast_unsigned);
        let merged = Self::merged(shape, &strides[..shape.len()], axes);
        merged.unwrap_or_else(|| unreachable!("neighbouring axes of a packed operand are one"))
    }

    /// Those over an operand whose elements are so far apart along each axis, if they are the loops of a packed copy
    /// but for their steps: no order differs. Short rows would be taken several at a time, as if they were packed.
    fn strided(shape: &[usize], strides: &[usize], axes: &[usize]) -> Option<Self> {
        let loops = Self::merged(shape, strides, axes)?;
        let innermost = if loops.segments { loops.reduced } else { loops.kept };
        let (extent, step) = *innermost.loops[..innermost.depth].last()?;
        let is_direct = match loops.phases() {
            Some([first, _]) => loops.has_packed_rows() && first.kept.innermost() > NARROWEST,
            None => step == 1 && (loops.segments || extent > NARROWEST),
        };
        (is_direct && loops.count > 1).then_some(loops)
    }

    /// `None` if neighbouring axes are not one loop that would be one of a packed operand.
    fn merged(shape: &[usize], strides: &[usize], axes: &[usize]) -> Option<Self> {
        let mut merged = [(1, 1, false); MAX_RANK];
        let mut depth = 0;
        for (axis, (&extent, &step)) in shape.iter().zip(strides).enumerate().filter(|&(_, (&extent, _))| extent != 1) {
            let reduced = axes.contains(&axis);
            if depth > 0 && merged[depth - 1].2 == reduced {
                let (before, apart, _) = merged[depth - 1];
                if apart != extent * step {
                    return None;
                }
                merged[depth - 1] = (before * extent, step, reduced);
            } else {
                merged[depth] = (extent, step, reduced);
                depth += 1;
            }
        }
        let (mut kept, mut reduced) = (Nest::EMPTY, Nest::EMPTY);
        for &(extent, step, is_reduced) in &merged[..depth] {
            if is_reduced { reduced.push(extent, step) } else { kept.push(extent, step) }
        }
        let segments = depth > 0 && merged[depth - 1].2;
        if depth == 0 {
            kept.push(1, 1);
        }
        Some(Self { kept, reduced, segments, as_segments: false, count: reduced.count() })
    }

    /// The one truth value to which all are reduced, if the first ones tell.
    fn settled_early(&self, op: ReduceOp, dtype: DType, x: &[u8]) -> Option<u8> {
        let is_one = self.segments && self.kept.count() == 1;
        settling(op, dtype).filter(|settles| is_one && x[..x.len().min(BLOCK)].contains(settles))
    }

    /// Reduces `x` to `out`, with as much scratch memory as [`scratch_bytes`](Self::scratch_bytes) says.
    fn execute(mut self, op: ReduceOp, dtype: DType, x: &[u8], (out, scratch): (&mut [u8], &mut [u8])) {
        if let Some(settled) = self.settled_early(op, dtype, x) {
            return out.fill(settled);
        }
        let inner = inner(op, dtype);
        self.as_segments = op == ReduceOp::Prod && dtype.is_float() && self.reduced.depth == 1;
        let special = Special::of(op).filter(|_| dtype == DType::F32);
        let is_among = AtomicBool::new(false);
        self.run(&inner, x, (&mut *out, scratch), &|out: &mut [u8]| {
            if op == ReduceOp::Mean {
                divide(dtype, out, self.count);
            }
            if special.is_some_and(|special| special.is_among(cast_slice(out))) {
                is_among.store(true, Relaxed);
            }
        });
        if let Some(special) = special.filter(|_| is_among.into_inner()) {
            let finish = |folded: f32| if op == ReduceOp::Mean { quotient(folded, self.count as f32) } else { folded };
            special.mend(cast_slice(x), &self, cast_slice_mut(out), finish);
        }
    }

    /// If several blocks of rows are folded, and each is little work.
    fn blocks<'a>(&self, x: &'a [u8]) -> Option<Blocks<'a>> {
        match (&self.kept.loops[..self.kept.depth], &self.reduced.loops[..self.reduced.depth]) {
            (&[(_, apart), (width, _)], &[(count, step)])
                if step == width && apart == count * width && apart <= BLOCK =>
            {
                Some(Blocks { x, count, width, as_segments: self.as_segments })
            }
            _ => None,
        }
    }

    fn run_at_once(mut self, inner: &Inner, x: &[u8], out: &mut [u8], finish: &(dyn Fn(&mut [u8]) + Sync)) {
        let size = inner.size;
        let reach = self.kept.reach() + self.reduced.reach() + 1;
        assert_eq!(x.len(), reach * size, "reduction: the operand has another size");
        assert_eq!(out.len(), self.kept.count() * size, "reduction: the result has another size");
        let parallel = READ.is_met(self.kept.count() * self.count * size);
        if self.segments {
            let (length, _) = self.reduced.pop();
            let chunk = (PARALLEL_BYTES / 4 / (self.count * size)).max(1);
            let segments = Segments { x, length, nest: self.reduced };
            share_reads(parallel, chunk * self.count * size, chunk * size, out, |at, out| {
                fold::segments(inner, &segments, (&self.kept, at * chunk), out);
                finish(out);
            });
        } else if let Some(blocks) = self.blocks(x) {
            let [read, row] = [blocks.elements(), blocks.width].map(|elements| elements * size);
            let chunk = (PARALLEL_BYTES / 4 / read).max(1);
            share_reads(parallel, chunk * read, chunk * row, out, |at, out| {
                blocks.fold(inner, at * chunk, out);
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
                    let columns = RowsOfTile { x, start: start + tile * COLUMNS, width, starts };
                    columns.fold_all(inner, self.count, self.as_segments, out);
                    finish(out);
                });
            });
        }
    }
}

#[cfg(test)]
mod tests;
