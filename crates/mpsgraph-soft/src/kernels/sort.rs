//! Sorting along an axis.
//!
//! Elements become unsigned keys of the same width in the order that is asked for. Equal keys are equal bits, so
//! stability does not matter. Rows are sorted side by side, short ones many at a time (`network`), one long row in
//! pieces (`row`), and the keys become elements again. An axis that is not the last one is made the last on the way.

mod network;
pub mod row;
pub mod wide;

use super::Kernel;
use super::call::Call;
use super::movement::copy_flat;
use super::strided::{Strided, copy_bytes};
use super::threads::{self, PARALLEL_BYTES, both, share};
use super::vectorised::vectorised;
use crate::ir::{DType, TensorType};
use bytemuck::cast_slice_mut;
use network::Network;
use row::Key;
use serde::{Deserialize, Serialize};
use wide::{Limits, SIGN};

/// Elements whose keys are made at a time.
pub const CHUNK: usize = 16 * 1024;

/// `[x]` of f32, f16, i32, i64 or u64, with each row along `axis` in order. Floats are ordered by sign and then by
/// magnitude: -NaN is the lowest, -0 is below 0, NaN is the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sort {
    pub axis: usize,
    pub descending: bool,
}

impl Kernel for Sort {
    fn run(&self, call: Call<'_>) {
        let x = &call.inputs[0];
        let dtype = x.dtype();
        match dtype {
            DType::F16 => self.sort::<u16>(x.parts(), dtype, call.output, call.scratch),
            DType::F32 | DType::I32 => self.sort::<u32>(x.parts(), dtype, call.output, call.scratch),
            DType::I64 | DType::U64 => self.sort::<u64>(x.parts(), dtype, call.output, call.scratch),
            DType::BF16 | DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::U32 | DType::Bool => {
                unreachable!("{dtype:?} reached a sort")
            }
        }
    }

    fn scratch_bytes(&self, _inputs: &[&TensorType], output: &TensorType) -> usize {
        let is_last = output.shape[self.axis + 1..].iter().all(|&extent| extent == 1);
        output.bytes() * if is_last { 1 } else { 2 }
    }
}

impl Sort {
    fn sort<K: Key>(&self, (x, shape): (&[u8], &[usize]), dtype: DType, out: &mut [u8], scratch: &mut [u8]) {
        let extent = shape[self.axis];
        let inner: usize = shape[self.axis + 1..].iter().product();
        if inner == 1 {
            copy_flat(x, out);
            return self.sort_rows::<K>(dtype, extent, cast_slice_mut(out), cast_slice_mut(scratch));
        }
        let turned = [x.len() / size_of::<K>() / (extent * inner), inner, extent];
        let [packed, apart] = [[inner * extent, extent, 1], [inner * extent, 1, inner]].map(|each| each.map(as_stride));
        let (rows, scratch) = scratch.split_at_mut(x.len());
        copy_bytes(size_of::<K>(), &turned, (x, Strided::new(&apart)), (&mut *rows, Strided::new(&packed)));
        self.sort_rows::<K>(dtype, extent, cast_slice_mut(rows), cast_slice_mut(scratch));
        copy_bytes(size_of::<K>(), &turned, (rows, Strided::new(&packed)), (out, Strided::new(&apart)));
    }

    /// Sorts rows of `extent` elements, given by their bits.
    fn sort_rows<K: Key>(&self, dtype: DType, extent: usize, bits: &mut [K], scratch: &mut [K]) {
        if dtype.size() == size_of::<u64>() {
            let sign = if dtype == DType::I64 { SIGN } else { 0 };
            return self.sort_wide(sign, extent, cast_slice_mut(bits), cast_slice_mut(scratch));
        }
        let floats = dtype.is_float();
        let parallel = size_of_val(bits) > PARALLEL_BYTES;
        let turn = if self.descending { !K::ZERO } else { K::ZERO };
        share(parallel, CHUNK, bits, |_, bits| {
            for bits in bits {
                *bits = if floats { float_key(*bits) } else { *bits ^ K::SIGN } ^ turn;
            }
        });
        sort_keys(bits, scratch, extent, threads::count());
        share(parallel, CHUNK, bits, |_, keys| {
            for key in keys {
                let forward = *key ^ turn;
                *key = if floats { float_bits(forward) } else { forward ^ K::SIGN };
            }
        });
    }

    /// Sorts rows of 64-bit integers, by 32 bits if they are near each other.
    fn sort_wide(&self, sign: u64, extent: usize, numbers: &mut [u64], scratch: &mut [u64]) {
        let limits = Limits::of(numbers, sign, self.descending);
        let parallel = size_of_val(numbers) > PARALLEL_BYTES;
        if limits.most() > u32::MAX.into() {
            share(parallel, CHUNK, numbers, |_, part| part.iter_mut().for_each(|x| *x = limits.distance(*x)));
            sort_keys(numbers, scratch, extent, threads::count());
            return share(parallel, CHUNK, numbers, |_, part| part.iter_mut().for_each(|x| *x = limits.number(*x)));
        }
        let scratch: &mut [u32] = cast_slice_mut(scratch);
        let (keys, scratch) = scratch.split_at_mut(numbers.len());
        share(parallel, CHUNK, keys, |part, keys| {
            keys.iter_mut().zip(&numbers[part * CHUNK..]).for_each(|(key, x)| *key = limits.distance(*x) as u32);
        });
        sort_keys(keys, scratch, extent, threads::count());
        let keys = &*keys;
        share(parallel, CHUNK, numbers, |part, numbers| {
            numbers.iter_mut().zip(&keys[part * CHUNK..]).for_each(|(x, key)| *x = limits.number((*key).into()));
        });
    }
}

fn as_stride(step: usize) -> isize {
    step as isize
}

/// Negative numbers count down.
fn float_key<K: Key>(bits: K) -> K {
    if bits & K::SIGN == K::ZERO { bits ^ K::SIGN } else { !bits }
}

/// The inverse of [`float_key`].
fn float_bits<K: Key>(key: K) -> K {
    if key & K::SIGN == K::ZERO { !key } else { key ^ K::SIGN }
}

/// Sorts rows of `extent` keys on this many threads.
pub fn sort_keys<K: Key>(keys: &mut [K], scratch: &mut [K], extent: usize, threads: usize) {
    let (rows, bytes) = (keys.len() / extent, size_of_val(keys));
    if rows > 1 && bytes > PARALLEL_BYTES {
        let (low, high) = keys.split_at_mut(rows / 2 * extent);
        let (low_scratch, high_scratch) = scratch.split_at_mut(low.len());
        let threads = threads.div_ceil(2);
        return both(true, &mut || sort_keys(low, low_scratch, extent, threads), &mut || {
            sort_keys(high, high_scratch, extent, threads);
        });
    }
    // AVX2 has no instruction for the lesser of two numbers of 64 bits: rows of those are sorted one by one.
    if extent <= network::LONGEST && rows > network::FEW && K::BITS <= 32 {
        return vectorised(Network { keys, extent });
    }
    for (row, scratch) in keys.chunks_mut(extent).zip(scratch.chunks_mut(extent)) {
        row::sort(row, scratch, extent, threads);
    }
}

#[cfg(test)]
mod tests;
