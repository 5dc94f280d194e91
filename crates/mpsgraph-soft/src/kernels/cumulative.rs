//! Running sums, products and extremes along an axis, inclusive, in the operand's own type: the reducers of `reduce`,
//! with every partial result kept.
//!
//! Along the last axis, blocks of a few elements are accumulated inside by doubling, which vectorises, and the result
//! before the block is taken into all of it: so one step per block waits for the one before. Along another axis, rows
//! take in the rows before.

use super::Kernel;
use super::call::{Call, Input};
use super::element::Element;
use super::reduce::reducers::{Max, Min, Prod, Reducer, Sum};
use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use crate::ir::DType;
use half::f16;
use std::marker::PhantomData;

/// Elements that are accumulated at a time along the last axis.
const BLOCK: usize = 16;

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
        let (x, shape) = (x.elements(), x.shape());
        match self {
            Running::Sum => cumulate::<T, Sum>(x, shape, axis, out),
            Running::Product => cumulate::<T, Prod>(x, shape, axis, out),
            Running::Minimum => cumulate::<T, Min>(x, shape, axis, out),
            Running::Maximum => cumulate::<T, Max>(x, shape, axis, out),
        }
    }
}

fn cumulate<T: Element, R: Reducer<T>>(x: &[T], shape: &[usize], axis: usize, out: &mut [T]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    // One block of rows per task, or the blocks that make a task worth its cost.
    let chunk = block * (PARALLEL_BYTES / 4 / (block * size_of::<T>())).max(1);
    share(size_of_val(x) > PARALLEL_BYTES, chunk, out, |at, out| {
        let x = &x[at * chunk..][..out.len()];
        for (x, out) in x.chunks(block).zip(out.chunks_mut(block)) {
            if inner == 1 {
                vectorised(Segment::<T, R> { x, out, reducer: PhantomData });
            } else {
                vectorised(Rows::<T, R> { x, inner, out, reducer: PhantomData });
            }
        }
    });
}

/// Consecutive elements.
struct Segment<'a, T, R> {
    x: &'a [T],
    out: &'a mut [T],
    reducer: PhantomData<R>,
}

impl<T: Element, R: Reducer<T>> VectorLoop for Segment<'_, T, R> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let (blocks, rest) = self.x.as_chunks::<BLOCK>();
        let (out_blocks, out_rest) = self.out.as_chunks_mut::<BLOCK>();
        let mut before = R::START;
        for (x, out) in blocks.iter().zip(out_blocks) {
            // Through the start, which an element that is skipped leaves as it is.
            let mut block = x.map(|x| R::step(R::START, x));
            for distance in [1, 2, 4, 8] {
                let last = block;
                for i in distance..BLOCK {
                    block[i] = R::step(last[i - distance], last[i]);
                }
            }
            for (out, x) in out.iter_mut().zip(block) {
                *out = R::step(before, x);
            }
            before = out[BLOCK - 1];
        }
        for (&x, out) in rest.iter().zip(out_rest) {
            before = R::step(before, x);
            *out = before;
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
