//! The order of integers along rows.
//!
//! A position follows its number in the low bits of a key, so no two keys are equal, and their order is the one that is
//! asked for. Numbers count from the smallest one, or to the largest, so keys are as narrow as their distances allow.
//! Numbers too far apart for one key are sorted twice, first by their low bits.

use super::Kernel;
use super::call::Call;
use super::sort::row::Key;
use super::sort::wide::{Limits, Number, SIGN};
use super::sort::{CHUNK, sort_keys};
use super::threads::{self, PARALLEL_BYTES, share};
use crate::ir::{DType, TensorType};
use bytemuck::cast_slice_mut;
use serde::{Deserialize, Serialize};

/// `[x]` of i32, i64 or u64; i32 positions in its rows along the last axis, from which their elements come in order.
/// Equal elements stay in the order of their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    pub descending: bool,
}

impl Kernel for Order {
    fn run(&self, mut call: Call<'_>) {
        let x = call.inputs[0];
        let (shape, scratch) = (x.shape(), std::mem::take(&mut call.scratch));
        let rows = |limits: Limits| Rows::new(limits, shape[shape.len() - 1]);
        match x.dtype() {
            DType::I32 => {
                let x: &[i32] = x.elements();
                rows(Limits::of(x, SIGN, self.descending)).order(x, call.output_elements(), scratch);
            }
            dtype @ (DType::I64 | DType::U64) => {
                let (x, sign): (&[u64], _) = (x.elements(), if dtype == DType::I64 { SIGN } else { 0 });
                rows(Limits::of(x, sign, self.descending)).order(x, call.output_elements(), scratch);
            }
            dtype @ (DType::F32
            | DType::F16
            | DType::BF16
            | DType::I8
            | DType::I16
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::Bool) => unreachable!("{dtype:?} reached an order"),
        }
    }

    fn scratch_bytes(&self, _inputs: &[&TensorType], output: &TensorType) -> usize {
        output.elements() * (2 * size_of::<u64>() + size_of::<i32>())
    }
}

/// The rows of some numbers.
#[derive(Clone, Copy)]
struct Rows {
    limits: Limits,
    extent: usize,
    /// Bits of a position.
    places: u32,
}

impl Rows {
    fn new(limits: Limits, extent: usize) -> Self {
        Self { limits, extent, places: bits(extent as u64 - 1) }
    }

    fn order<T: Number>(&self, x: &[T], out: &mut [i32], scratch: &mut [u8]) {
        let Rows { limits, extent, places } = *self;
        let numbers = bits(limits.most());
        let (scratch, before) = scratch.split_at_mut(2 * x.len() * size_of::<u64>());
        let scratch: &mut [u64] = cast_slice_mut(scratch);
        if numbers + places <= u32::BITS {
            let scratch: &mut [u32] = &mut cast_slice_mut(scratch)[..2 * x.len()];
            return self.sort(scratch, out, |at| limits.distance(x[at]), |_, place| place);
        }
        if numbers + places <= u64::BITS {
            return self.sort(scratch, out, |at| limits.distance(x[at]), |_, place| place);
        }
        let low = u64::BITS - places;
        let before: &mut [i32] = cast_slice_mut(before);
        self.sort(scratch, before, |at| limits.distance(x[at]) & ((1 << low) - 1), |_, place| place);
        let before = &*before;
        let first = |at: usize| at / extent * extent;
        let high = |at: usize| limits.distance(x[first(at) + before[at] as usize]) >> low;
        self.sort(scratch, out, high, |at, place| before[first(at) + place as usize]);
    }

    /// Sorts places by the key that each has, and writes what `result` makes of the place that comes to each place.
    /// The scratch memory is for twice as many keys.
    fn sort<K: Key>(
        &self,
        scratch: &mut [K],
        out: &mut [i32],
        key: impl Fn(usize) -> u64 + Sync,
        result: impl Fn(usize, i32) -> i32 + Sync,
    ) {
        let Rows { extent, places, .. } = *self;
        let (keys, scratch) = scratch.split_at_mut(out.len());
        let parallel = size_of_val(keys) > PARALLEL_BYTES;
        share(parallel, CHUNK, keys, |part, keys| {
            let mut place = part * CHUNK % extent;
            for (at, to) in keys.iter_mut().enumerate() {
                *to = K::of(key(part * CHUNK + at) << places | place as u64);
                place = if place + 1 == extent { 0 } else { place + 1 };
            }
        });
        sort_keys(keys, scratch, extent, threads::count());
        let (keys, mask) = (&*keys, (1 << places) - 1);
        share(parallel, CHUNK, out, |part, out| {
            for (at, out) in out.iter_mut().enumerate() {
                let at = part * CHUNK + at;
                *out = result(at, keys[at].digit(0, mask) as i32);
            }
        });
    }
}

/// How many bits the number takes.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

#[cfg(test)]
mod tests;
