//! Running sums, products and extremes along an axis, inclusive, in the operand's own type: the reducers of `reduce`,
//! with every partial result kept.
//!
//! Along the last axis every step waits for the one before. Where the order of the steps changes no result (extremes,
//! and integers that wrap), elements are first joined with the few before them, which vector registers do for many at a
//! time; a result then needs one step from the one that many places before it. Sums and products of floats keep their
//! order, so a few rows are accumulated at the same time.
//!
//! A long row is cut in parts, each of which begins with what the parts before it come to, and which several threads
//! share; products of floats are not, because the part before may be 0 and the next one beyond the largest number.
//! Along another axis, each row is combined with the row before.

mod loops;

use super::Kernel;
use super::call::{Call, Input};
use super::element::Element;
use super::reduce::fold_long;
use super::reduce::reducers::{Max, Min, Prod, Reducer, Sum};
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::vectorised;
use crate::ir::DType;
use half::f16;
use loops::{CHAINS, Chains, Keys, Plain, Rows, SHORT, Scan, Windows, in_order};
use std::marker::PhantomData;

/// From this length on, a row of which the order matters is cut in parts.
const LONG: usize = 4096;
/// Parts of a long row.
const PARTS: usize = 2 * CHAINS;

/// `[x]`, same shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulative {
    pub running: Running,
    pub axis: usize,
}

/// What is accumulated; an extreme skips NaN unless its name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Running {
    Sum,
    Product,
    Minimum,
    Maximum,
    /// Of f32 in the order of its bits, where -0 is below 0; from a NaN on, NaN.
    MinimumOrNan,
    /// Likewise.
    MaximumOrNan,
}

impl Kernel for Cumulative {
    fn run(&self, mut call: Call<'_>) {
        let (x, axis) = (&call.inputs[0], self.axis);
        match self.running {
            Running::MinimumOrNan => {
                return cumulate::<i32, Keys<Min>>(x.elements(), x.shape(), axis, call.output_elements(), Order::Any);
            }
            Running::MaximumOrNan => {
                return cumulate::<i32, Keys<Max>>(x.elements(), x.shape(), axis, call.output_elements(), Order::Any);
            }
            Running::Sum | Running::Product | Running::Minimum | Running::Maximum => {}
        }
        match x.dtype() {
            DType::F32 => self.running.cumulate::<f32>(x, axis, call.output_elements()),
            DType::F16 => self.running.cumulate::<f16>(x, axis, call.output_elements()),
            DType::I32 => self.running.cumulate::<i32>(x, axis, call.output_elements()),
            DType::I64 => self.running.cumulate::<i64>(x, axis, call.output_elements()),
            dtype @ (DType::BF16
            | DType::I8
            | DType::I16
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool) => unreachable!("methods refuse running sums of {dtype:?}"),
        }
    }
}

impl Running {
    /// Of the elements themselves.
    fn cumulate<T: Element>(self, x: &Input<'_>, axis: usize, out: &mut [T]) {
        let (order, x, shape) = (self.order(x.dtype().is_float()), x.elements(), x.shape());
        match self {
            Running::Sum => cumulate::<T, Plain<Sum>>(x, shape, axis, out, order),
            Running::Product => cumulate::<T, Plain<Prod>>(x, shape, axis, out, order),
            Running::Minimum => cumulate::<T, Plain<Min>>(x, shape, axis, out, order),
            Running::Maximum => cumulate::<T, Plain<Max>>(x, shape, axis, out, order),
            Running::MinimumOrNan | Running::MaximumOrNan => unreachable!("{self:?} is of keys"),
        }
    }

    fn order(self, floats: bool) -> Order {
        match self {
            Running::Minimum | Running::Maximum | Running::MinimumOrNan | Running::MaximumOrNan => Order::Any,
            Running::Sum | Running::Product if !floats => Order::Any,
            Running::Sum => Order::Parts,
            Running::Product => Order::Strict,
        }
    }
}

/// In which order elements may be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// In any that keeps neighbours together: the result is the same.
    Any,
    /// One after the other; parts of a long row may be accumulated on their own.
    Parts,
    /// One after the other.
    Strict,
}

fn cumulate<T: Element, S: Scan<T>>(x: &[T], shape: &[usize], axis: usize, out: &mut [T], order: Order) {
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    let is_cut = S::IS_PLAIN
        && inner == 1
        && match order {
            Order::Any => block * size_of::<T>() > PARALLEL_BYTES,
            // Whether or not there are threads for the parts: the sums shall not depend on that.
            Order::Parts => block >= LONG,
            Order::Strict => false,
        };
    let together = if inner == 1 && !is_cut { CHAINS * block } else { block };
    // What is accumulated together is one task, or as much of it as makes a task worth its cost.
    let chunk = together * (PARALLEL_BYTES / 4 / (together * size_of::<T>())).max(1);
    share(size_of_val(x) > PARALLEL_BYTES, chunk, out, |at, out| {
        let x = &x[at * chunk..][..out.len()];
        let (before, scan) = (S::Reducer::START, PhantomData);
        if inner > 1 {
            for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
                vectorised(Rows::<T, S> { x, inner, out, scan });
            }
        } else if is_cut {
            for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
                long_row::<T, S>(x, out, order);
            }
        } else if order == Order::Any && block >= SHORT {
            vectorised(Windows::<T, S> { x, length: block, before, out, scan });
        } else {
            for (x, out) in x.chunks(together).zip(out.chunks_mut(together)) {
                short_rows::<T, S>(x, block, out);
            }
        }
    });
}

/// One row, cut in parts.
fn long_row<T: Element, S: Scan<T>>(x: &[T], out: &mut [T], order: Order) {
    let part = x.len() / PARTS;
    let mut before = [S::Reducer::START; PARTS];
    for at in 1..PARTS {
        let own = fold_long::<T, S::Reducer>(&x[(at - 1) * part..at * part]);
        before[at] = S::Reducer::step(before[at - 1], own);
    }
    let (x, rest) = x.split_at(part * PARTS);
    let (out, out_rest) = out.split_at_mut(x.len());
    let together = if order == Order::Any { 1 } else { CHAINS };
    share(size_of_val(x) > PARALLEL_BYTES, together * part, out, |at, out| {
        let x = &x[at * together * part..][..out.len()];
        let (first, scan) = (at * together, PhantomData);
        if order == Order::Any {
            vectorised(Windows::<T, S> { x, length: part, before: before[first], out, scan });
        } else {
            let before = std::array::from_fn(|chain| before[first + chain]);
            vectorised(Chains::<T, S> { x, before, out, scan });
        }
    });
    in_order::<T, S>(rest, out[out.len() - 1], out_rest);
}

/// As many rows as are accumulated at the same time, or the last few.
fn short_rows<T: Element, S: Scan<T>>(x: &[T], length: usize, out: &mut [T]) {
    let before = S::Reducer::START;
    if x.len() == CHAINS * length {
        return vectorised(Chains::<T, S> { x, before: [before; CHAINS], out, scan: PhantomData });
    }
    for (x, out) in x.chunks(length).zip(out.chunks_mut(length)) {
        in_order::<T, S>(x, before, out);
    }
}

#[cfg(test)]
mod tests;
