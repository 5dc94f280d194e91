//! Running sums, products and extremes along an axis, inclusive, in the operand's own type: the reducers of `reduce`,
//! with every partial result kept.
//!
//! Along the last axis every step waits for the one before, so a few rows are accumulated at the same time. A long row
//! is cut in as many parts, each of which begins with what the parts before it come to; products are not, because the
//! part before may be 0 and the next one beyond the largest number. Along another axis, each row is combined with the
//! row before.

use super::Kernel;
use super::call::{Call, Input};
use super::element::Element;
use super::reduce::fold_long;
use super::reduce::reducers::{Max, Min, Prod, Reducer, Sum};
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use crate::ir::DType;
use half::f16;
use std::marker::PhantomData;

/// Rows along the last axis that are accumulated at the same time. Twice as many streams of memory are as many as the
/// first cache has ways, if all begin at the same place in a page.
const CHAINS: usize = 4;
/// From this length on, a row is cut in parts.
const LONG: usize = 4096;

/// `[x]`, same shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cumulative {
    pub running: Running,
    pub axis: usize,
}

/// What is accumulated; an extreme skips NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Running {
    Sum,
    Product,
    Minimum,
    Maximum,
}

impl Kernel for Cumulative {
    fn run(&self, mut call: Call<'_>) {
        let (x, axis) = (&call.inputs[0], self.axis);
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
    fn cumulate<T: Element>(self, x: &Input<'_>, axis: usize, out: &mut [T]) {
        let (x, shape, may_cut) = (x.elements(), x.shape(), self.may_be_cut());
        match self {
            Running::Sum => cumulate::<T, Sum>(x, shape, axis, out, may_cut),
            Running::Product => cumulate::<T, Prod>(x, shape, axis, out, may_cut),
            Running::Minimum => cumulate::<T, Min>(x, shape, axis, out, may_cut),
            Running::Maximum => cumulate::<T, Max>(x, shape, axis, out, may_cut),
        }
    }

    /// Whether parts of a row may be accumulated on their own.
    fn may_be_cut(self) -> bool {
        match self {
            Running::Sum | Running::Minimum | Running::Maximum => true,
            Running::Product => false,
        }
    }
}

fn cumulate<T: Element, R: Reducer<T>>(x: &[T], shape: &[usize], axis: usize, out: &mut [T], may_cut: bool) {
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    let is_cut = may_cut && inner == 1 && block >= LONG;
    let together = if inner == 1 && !is_cut { CHAINS * block } else { block };
    // What is accumulated together is one task, or as much of it as makes a task worth its cost.
    let chunk = together * (PARALLEL_BYTES / 4 / (together * size_of::<T>())).max(1);
    share(size_of_val(x) > PARALLEL_BYTES, chunk, out, |at, out| {
        let x = &x[at * chunk..][..out.len()];
        if inner > 1 {
            for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
                vectorised(Rows::<T, R> { x, inner, out, reducer: PhantomData });
            }
        } else if is_cut {
            for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
                long_row::<T, R>(x, out);
            }
        } else {
            for (x, out) in x.chunks(together).zip(out.chunks_mut(together)) {
                short_rows::<T, R>(x, block, out);
            }
        }
    });
}

/// One row, cut in parts.
fn long_row<T: Element, R: Reducer<T>>(x: &[T], out: &mut [T]) {
    let part = x.len() / CHAINS;
    let mut before = [R::START; CHAINS];
    for at in 1..CHAINS {
        before[at] = R::step(before[at - 1], fold_long::<T, R>(&x[(at - 1) * part..at * part]));
    }
    let (x, rest) = x.split_at(part * CHAINS);
    let (out, out_rest) = out.split_at_mut(x.len());
    vectorised(Chains::<T, R> { x, before, out, reducer: PhantomData });
    let mut before = out[out.len() - 1];
    for (&x, out) in rest.iter().zip(out_rest) {
        before = R::step(before, x);
        *out = before;
    }
}

/// As many rows as are accumulated at the same time, or the last few.
fn short_rows<T: Element, R: Reducer<T>>(x: &[T], length: usize, out: &mut [T]) {
    if x.len() == CHAINS * length {
        let before = [R::START; CHAINS];
        return vectorised(Chains::<T, R> { x, before, out, reducer: PhantomData });
    }
    for (x, out) in x.chunks(length).zip(out.chunks_mut(length)) {
        let mut before = R::START;
        for (&x, out) in x.iter().zip(out) {
            before = R::step(before, x);
            *out = before;
        }
    }
}

/// Runs of elements of one length, one after the other, and what comes before each of them.
struct Chains<'a, T, R> {
    x: &'a [T],
    before: [T; CHAINS],
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Chains<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let (length, mut before, mut rest) = (self.x.len() / CHAINS, self.before, self.out);
        let x: [&[T]; CHAINS] = std::array::from_fn(|chain| &self.x[chain * length..][..length]);
        let out: [&mut [T]; CHAINS] = std::array::from_fn(|_| {
            let (chain, behind) = std::mem::take(&mut rest).split_at_mut(length);
            rest = behind;
            chain
        });
        for at in 0..length {
            for chain in 0..CHAINS {
                before[chain] = R::step(before[chain], x[chain][at]);
                out[chain][at] = before[chain];
            }
        }
    }
}

/// Rows of `inner` elements.
struct Rows<'a, T, R> {
    x: &'a [T],
    inner: usize,
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Rows<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let (x, inner) = (self.x, self.inner);
        for (out, &x) in self.out[..inner].iter_mut().zip(x) {
            *out = R::step(R::START, x);
        }
        for start in (inner..x.len()).step_by(inner) {
            let (done, rest) = self.out.split_at_mut(start);
            let before = &done[start - inner..];
            for ((out, &before), &x) in rest[..inner].iter_mut().zip(before).zip(&x[start..]) {
                *out = R::step(before, x);
            }
        }
    }
}

#[cfg(test)]
mod tests;
