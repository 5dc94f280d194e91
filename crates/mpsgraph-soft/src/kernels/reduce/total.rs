//! The reduction of all elements of a value, or of each of its columns, of which there is never more than a part in
//! memory.
//!
//! Each block of elements or rows has a result, and those are joined in halves, as [`fold_long`](super::fold_long) does
//! it with a segment that is longer than a block, and `RowsOfTile` with more rows than those of a block; so every bit
//! is that of a reduction of the value in memory.

use super::fold::{BLOCK, NARROWEST, ROWS, join_blocks};
use super::in_order::{Anew, Special};
use super::{Inner, Reduce, ReduceOp, divide, inner, quotient, settling};
use crate::ir::{DType, TensorType};
use bytemuck::{cast_slice, cast_slice_mut};
use std::ops::Range;

/// Truth values of a block that are looked at one by one: they mostly tell.
const FIRST: usize = 64;
/// Columns up to which a few rows of them stay in the second cache.
const MOST_COLUMNS: usize = 16 * 1024;

/// Such a reduction of `count` rows of `width` elements of a type.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    pub count: usize,
    op: ReduceOp,
    dtype: DType,
    width: usize,
}

impl Total {
    /// If the reduction of a packed operand is one: the rows are those of the axes in front.
    pub fn of(reduce: &Reduce, x: &TensorType) -> Option<Self> {
        let mut axes = x.shape.iter().enumerate().filter(|&(_, &extent)| extent != 1).peekable();
        let is_reduced = |&(axis, _): &(usize, &usize)| reduce.axes.contains(&axis);
        let mut count = 1;
        while let Some((_, extent)) = axes.next_if(is_reduced) {
            count *= extent;
        }
        let width = x.elements() / count.max(1);
        let total = Self { count, op: reduce.op, dtype: x.dtype, width };
        // Narrow rows, and products of floats, have another order.
        let has_order = NARROWEST < width && !(reduce.op == ReduceOp::Prod && x.dtype.is_float());
        let is_columns = has_order && width <= MOST_COLUMNS && !axes.any(|axis| is_reduced(&axis));
        // Two threads have blocks for three quarters of the time.
        let is_even = 4 * count >= 3 * count.next_multiple_of(2 * ROWS);
        (if width == 1 { count > BLOCK } else { is_columns && count > ROWS && is_even }).then_some(total)
    }

    /// Rows of a block, which has a result.
    pub fn block(&self) -> usize {
        if self.width == 1 { BLOCK } else { ROWS }
    }

    /// Rows that are reduced at a time are a multiple of so many, but the last ones.
    pub fn least(&self) -> usize {
        if self.width == 1 { BLOCK } else { 1 }
    }

    /// Bytes of a row.
    fn row(&self) -> usize {
        self.width * self.dtype.size()
    }

    /// Bytes of the results of all blocks.
    pub fn parts_bytes(&self) -> usize {
        self.count.div_ceil(self.block()) * self.row()
    }

    /// Where among the results of all blocks those are to which these rows belong.
    pub fn parts_of(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start / self.block() * self.row()..rows.end.div_ceil(self.block()) * self.row()
    }

    /// Reduces `rows` to the results of their blocks. The first ones of a block come before the others.
    pub fn fold(&self, x: &[u8], rows: Range<usize>, parts: &mut [u8]) {
        assert_eq!(x.len(), rows.len() * self.row(), "{rows:?} of {self:?}");
        assert_eq!(parts.len(), self.parts_of(&rows).len(), "results of {rows:?} of {self:?}");
        let inner = inner(self.op, self.dtype);
        if self.width == 1 {
            return self.fold_elements(&inner, x, parts);
        }
        let (mut x, mut at) = (x, rows.start);
        for part in parts.chunks_exact_mut(self.row()) {
            if at.is_multiple_of(ROWS) {
                inner.fill(part);
            }
            let next = (at + 1).next_multiple_of(ROWS).min(rows.end);
            let (some, rest) = x.split_at((next - at) * self.row());
            inner.join(part, some);
            (x, at) = (rest, next);
        }
    }

    fn fold_elements(&self, inner: &Inner, x: &[u8], parts: &mut [u8]) {
        let settles = settling(self.op, self.dtype);
        for (x, part) in x.chunks(BLOCK * inner.size).zip(parts.chunks_exact_mut(inner.size)) {
            match settles.filter(|settles| x[..x.len().min(FIRST)].contains(settles)) {
                Some(settled) => part.fill(settled),
                None => inner.segment(x, part),
            }
        }
    }

    /// Joins the results of all blocks to `out`. If elements have to explain one, returns what takes them in.
    pub fn join(&self, parts: &mut [u8], out: &mut [u8]) -> Option<Anew> {
        join_blocks(&inner(self.op, self.dtype), [self.count, self.block()], parts, self.row());
        out.copy_from_slice(&parts[..out.len()]);
        if self.op == ReduceOp::Mean {
            divide(self.dtype, out, self.count);
        }
        let special = Special::of(self.op).filter(|_| self.dtype == DType::F32)?;
        let found: &[f32] = cast_slice(out);
        special.is_among(found).then(|| Anew::of(special, found))
    }

    /// Puts what has taken all rows in order to `out`.
    pub fn finish(&self, anew: &Anew, out: &mut [u8]) {
        let mean = |folded: f32| if self.op == ReduceOp::Mean { quotient(folded, self.count as f32) } else { folded };
        anew.finish(cast_slice_mut(out), mean);
    }
}
