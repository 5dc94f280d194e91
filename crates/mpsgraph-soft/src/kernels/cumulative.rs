//! Running sums, products and extremes along an axis, inclusive, in the operand's own type: the reducers of `reduce`,
//! with every partial result kept.
//!
//! Along the last axis every step waits for the one before. Where the order of the steps changes no result (extremes,
//! and sums of integers, which wrap), elements are first joined with the few before them, which vector registers do for
//! many at a time; a result then needs one step from the one that many places before it. Sums and products of floats
//! keep their order, and products of integers take vector registers long; so of these a few rows are accumulated at the
//! same time. Along another axis, each row is combined with the row before, and threads share the columns. Only the
//! inner loops (`loops`) know the type.

mod loops;

use super::Kernel;
use super::call::{Call, Input};
use super::element::Element;
use super::reduce::fold_long;
use super::reduce::reducers::{Max, Min, Prod, Reducer, Sum};
use super::threads::{Columns, PARALLEL_BYTES, even_width, share, share_columns};
use crate::ir::DType;
use bytemuck::{bytes_of_mut, cast_slice, cast_slice_mut};
use half::f16;
use loops::{CHAINS, Keys, Loops, Plain, SHORT, Scan};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

/// From this length on, a row of which the order matters is cut in parts.
///
/// Each part begins with what the parts before it come to, and several threads share the parts. Sums of floats are
/// first accumulated part by part, and what a part comes to is where the next one begins, so that sums of positive
/// numbers never fall. Products of floats are not cut, because the part before may be 0 and the next one beyond the
/// largest number.
const LONG: usize = 4096;
/// Bytes of rows whose columns threads share. Fewer are in the cache of one core.
const SHARED: usize = 1 << 20;
/// Bytes of a row that a thread takes at a time.
const COLUMNS: RangeInclusive<usize> = 256..=1024;
/// Parts of a long row.
const PARTS: usize = 2 * CHAINS;

/// `[x]`, same shape and dtype: f32 or integers but u32 and u64; sums and products also of f16, in their own width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cumulative {
    pub running: Running,
    pub axis: usize,
}

/// What is accumulated; an extreme skips NaN unless its name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Running {
    Sum,
    Product,
    Minimum,
    Maximum,
    /// Of f32 in the order of its bits, where -0 is below 0; from a NaN on, the positive NaN of all ones.
    MinimumOrNan,
    /// Likewise.
    MaximumOrNan,
}

impl Kernel for Cumulative {
    fn run(&self, mut call: Call<'_>) {
        let (x, axis) = (&call.inputs[0], self.axis);
        match self.running {
            Running::Sum | Running::Product => self.sums(x, call.output),
            Running::Minimum | Running::Maximum => self.extremes(x, call.output),
            Running::MinimumOrNan => {
                cumulate::<i32, Keys<Min>>(x.elements(), x.shape(), axis, call.output_elements(), Order::Any);
            }
            Running::MaximumOrNan => {
                cumulate::<i32, Keys<Max>>(x.elements(), x.shape(), axis, call.output_elements(), Order::Any);
            }
        }
    }

    fn computes_in(&self, dtype: DType) -> DType {
        match self.running {
            Running::Sum | Running::Product => dtype,
            Running::Minimum | Running::Maximum if dtype.is_float() => DType::F32,
            Running::Minimum | Running::Maximum | Running::MinimumOrNan | Running::MaximumOrNan => dtype,
        }
    }
}

impl Cumulative {
    /// Whether there are loops for this integer type; nobody multiplies small ones.
    pub fn has_loops(running: Running, dtype: DType) -> bool {
        match dtype {
            DType::I32 | DType::I64 => true,
            DType::I8 | DType::I16 | DType::U8 | DType::U16 => running != Running::Product,
            DType::F32 | DType::F16 | DType::BF16 | DType::U32 | DType::U64 | DType::Bool => false,
        }
    }

    /// Sums or products. Those of small integers wrap to the same bits with and without a sign.
    fn sums(&self, x: &Input<'_>, out: &mut [u8]) {
        match x.dtype() {
            DType::F32 => self.either::<f32, Sum, Prod>(x, out),
            DType::F16 => self.either::<f16, Sum, Prod>(x, out),
            dtype @ (DType::I8 | DType::I16 | DType::U8 | DType::U16) if self.running == Running::Product => {
                unreachable!("products of {dtype:?} are computed in i32")
            }
            DType::I8 | DType::U8 => self.either::<u8, Sum, Sum>(x, out),
            DType::I16 | DType::U16 => self.either::<u16, Sum, Sum>(x, out),
            DType::I32 => self.either::<i32, Sum, Prod>(x, out),
            DType::I64 => self.either::<i64, Sum, Prod>(x, out),
            dtype @ (DType::BF16 | DType::U32 | DType::U64 | DType::Bool) => {
                unreachable!("methods refuse running sums of {dtype:?}")
            }
        }
    }

    fn extremes(&self, x: &Input<'_>, out: &mut [u8]) {
        match x.dtype() {
            DType::F32 => self.either::<f32, Min, Max>(x, out),
            DType::I8 => self.either::<i8, Min, Max>(x, out),
            DType::I16 => self.either::<i16, Min, Max>(x, out),
            DType::I32 => self.either::<i32, Min, Max>(x, out),
            DType::I64 => self.either::<i64, Min, Max>(x, out),
            DType::U8 => self.either::<u8, Min, Max>(x, out),
            DType::U16 => self.either::<u16, Min, Max>(x, out),
            dtype @ (DType::F16 | DType::BF16 | DType::U32 | DType::U64 | DType::Bool) => {
                unreachable!("methods refuse running extremes of {dtype:?}, or these compute in f32")
            }
        }
    }

    /// By the first reducer, of sums and minima, or by the second, of products and maxima.
    fn either<T: Element, A: Reducer<T>, B: Reducer<T>>(&self, x: &Input<'_>, out: &mut [u8]) {
        let order = self.running.order(x.dtype().is_float());
        let (x, shape, out) = (x.elements(), x.shape(), cast_slice_mut(out));
        match self.running {
            Running::Sum | Running::Minimum => cumulate::<T, Plain<A>>(x, shape, self.axis, out, order),
            Running::Product | Running::Maximum => cumulate::<T, Plain<B>>(x, shape, self.axis, out, order),
            Running::MinimumOrNan | Running::MaximumOrNan => unreachable!("{:?} is of keys", self.running),
        }
    }
}

impl Running {
    fn order(self, floats: bool) -> Order {
        match self {
            Running::Minimum | Running::Maximum | Running::MinimumOrNan | Running::MaximumOrNan => Order::Any,
            Running::Sum if floats => Order::Blocks,
            Running::Product if floats => Order::Strict,
            Running::Sum => Order::Any,
            // Of integers in any order, but vector registers multiply them three times as slowly as a few rows at the
            // same time do.
            Running::Product => Order::Parts,
        }
    }
}

/// In which order elements may be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// In any that keeps neighbours together: the result is the same.
    Any,
    /// One after the other; parts of a long row may be accumulated behind what the parts before them come to.
    Parts,
    /// One after the other; blocks of a long row may be accumulated on their own, if no result is infinite: in order
    /// all behind it would be infinite or NaN.
    Blocks,
    /// One after the other.
    Strict,
}

fn cumulate<T: Element, S: Scan<T>>(x: &[T], shape: &[usize], axis: usize, out: &mut [T], order: Order) {
    Loops::of::<T, S>().run(cast_slice(x), shape, axis, cast_slice_mut(out), order);
}

impl Loops {
    fn run(&self, x: &[u8], shape: &[usize], axis: usize, out: &mut [u8], order: Order) {
        let inner: usize = shape[axis + 1..].iter().product();
        let block = shape[axis] * inner * self.size;
        let is_cut = self.is_plain
            && inner == 1
            && match order {
                Order::Any => block > PARALLEL_BYTES,
                // Whether or not there are threads for the parts: the sums shall not depend on that.
                Order::Parts | Order::Blocks => shape[axis] >= LONG,
                Order::Strict => false,
            };
        if inner > 1 && block > SHARED {
            return self.columns(x, inner * self.size, block, out);
        }
        let together = if inner == 1 && !is_cut { CHAINS * block } else { block };
        // What is accumulated together is one task, or as much of it as makes a task worth its cost.
        let chunk = together * (PARALLEL_BYTES / 4 / together).max(1);
        share(x.len() > PARALLEL_BYTES, chunk, out, |at, out| {
            let x = &x[at * chunk..][..out.len()];
            if inner > 1 {
                let row = inner * self.size;
                (self.rows)(x, [row, shape[axis]], Columns::all(out, row));
            } else if is_cut {
                for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
                    if order == Order::Blocks { self.blocks(x, out) } else { self.long_row(x, out, order) }
                }
            } else if order == Order::Any && shape[axis] >= SHORT {
                (self.windows)(x, shape[axis], &self.start[..self.size], out);
            } else {
                self.short_rows(x, block, out);
            }
        });
    }

    /// Blocks of rows of so many bytes, some columns after the other, which several threads share.
    fn columns(&self, x: &[u8], row: usize, block: usize, out: &mut [u8]) {
        let width = even_width(row, 1, COLUMNS);
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            share_columns(row, width, out, &|first, out| (self.rows)(&x[first..], [row, block / row], out));
        }
    }

    /// One row, cut in parts.
    fn long_row(&self, x: &[u8], out: &mut [u8], order: Order) {
        let size = self.size;
        let part = x.len() / size / PARTS * size;
        let mut before = [0u64; PARTS];
        let before: &mut [u8] = &mut cast_slice_mut(&mut before)[..PARTS * size];
        before[..size].copy_from_slice(&self.start[..size]);
        for at in 1..PARTS {
            let (done, next) = before.split_at_mut(at * size);
            let (last, next) = (&done[(at - 1) * size..], &mut next[..size]);
            let mut own = 0u64;
            let own = &mut bytes_of_mut(&mut own)[..size];
            fold_long(&self.reduction, &x[(at - 1) * part..at * part], own);
            next.copy_from_slice(last);
            self.reduction.step(next, own);
        }
        let before = &*before;
        let (x, rest) = x.split_at(part * PARTS);
        let (out, out_rest) = out.split_at_mut(x.len());
        let together = if order == Order::Any { 1 } else { CHAINS };
        share(x.len() > PARALLEL_BYTES, together * part, out, |at, out| {
            let x = &x[at * together * part..][..out.len()];
            let before = &before[at * together * size..][..together * size];
            if order == Order::Any {
                (self.windows)(x, part / size, before, out);
            } else {
                (self.chains)(x, part / size, before, out);
            }
        });
        (self.in_order)(rest, &out[out.len() - size..], out_rest);
    }

    /// One row whose blocks are accumulated on their own, as many at the same time as there are chains.
    fn blocks(&self, x: &[u8], out: &mut [u8]) {
        let size = self.size;
        let groups = x.len() / size / LONG;
        let block = x.len() / size / (CHAINS * groups) * size;
        let whole = CHAINS * groups * block;
        let parallel = x.len() > PARALLEL_BYTES;
        share(parallel, CHAINS * block, &mut out[..whole], |at, out| {
            self.short_rows(&x[at * CHAINS * block..][..out.len()], block, out);
        });
        if !(self.ends)(&mut out[..whole], block / size) {
            return (self.in_order)(x, &self.start[..size], out);
        }
        // Each piece begins with the last result of a block.
        let are_finite = AtomicBool::new(true);
        share(parallel, block, &mut out[block - size..whole], |_, out| {
            if !(self.behind)(out) {
                are_finite.store(false, Ordering::Relaxed);
            }
        });
        if !are_finite.into_inner() {
            return (self.in_order)(x, &self.start[..size], out);
        }
        let (results, rest) = out.split_at_mut(whole);
        (self.in_order)(&x[whole..], &results[whole - size..], rest);
    }

    /// Rows of so many bytes, as many at the same time as there are chains, and the last few one after the other.
    fn short_rows(&self, x: &[u8], row: usize, out: &mut [u8]) {
        let size = self.size;
        let whole = x.len() / (CHAINS * row) * (CHAINS * row);
        let mut before = [0u64; CHAINS];
        let before: &mut [u8] = &mut cast_slice_mut(&mut before)[..CHAINS * size];
        before.chunks_exact_mut(size).for_each(|before| before.copy_from_slice(&self.start[..size]));
        (self.chains)(&x[..whole], row / size, before, &mut out[..whole]);
        for (x, out) in x[whole..].chunks(row).zip(out[whole..].chunks_mut(row)) {
            (self.in_order)(x, &self.start[..size], out);
        }
    }
}

#[cfg(test)]
mod tests;
