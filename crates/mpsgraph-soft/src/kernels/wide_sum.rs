//! Sums of small integers as i64, without a copy of the integers as i64.
//!
//! Sums wrap, so that no order of the steps changes a bit.

use super::Kernel;
use super::call::Call;
use super::reduce::READ;
use super::threads::{PARALLEL_BYTES, share_reads};
use super::vectorised::{VectorLoop, vectorised};
use crate::ir::DType;
use bytemuck::{Pod, cast_slice};
use serde::{Deserialize, Serialize};

/// Parts of a single long row.
const PARTS: usize = 64;

/// `[x]`, integers of at most 32 bits. Sums of its rows as i64; the result has one number for each row, so its type
/// says what a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WideSum;

impl Kernel for WideSum {
    fn run(&self, mut call: Call<'_>) {
        let x = &call.inputs[0];
        execute(x.dtype(), x.elements(), call.output_elements());
    }
}

/// Fills `out` with the sums of the rows of `x`.
pub fn execute(dtype: DType, x: &[u8], out: &mut [i64]) {
    let sums: fn(&[u8], &mut [i64]) = match dtype {
        DType::I8 => sums::<i8>,
        DType::I16 => sums::<i16>,
        DType::I32 => sums::<i32>,
        DType::U8 => sums::<u8>,
        DType::U16 => sums::<u16>,
        DType::U32 => sums::<u32>,
        DType::I64 | DType::U64 | DType::Bool | DType::F32 | DType::F16 | DType::BF16 => {
            unreachable!("{dtype:?} reached sums of small integers")
        }
    };
    let row = x.len() / out.len();
    let parallel = READ.is_met(x.len());
    if let ([sum], true) = (&mut *out, parallel) {
        let mut parts = [0; PARTS];
        let each = (x.len() / dtype.size()).div_ceil(PARTS) * dtype.size();
        let count = x.len().div_ceil(each);
        share_reads(true, each, 1, &mut parts[..count], |at, part| {
            sums(&x[at * each..x.len().min((at + 1) * each)], part);
        });
        *sum = parts.iter().fold(0, |sum: i64, &part| sum.wrapping_add(part));
        return;
    }
    let chunk = (PARALLEL_BYTES / 4 / row).max(1);
    share_reads(parallel, chunk * row, chunk, out, |at, out| {
        sums(&x[at * chunk * row..][..out.len() * row], out);
    });
}

fn sums<T: Pod + Into<i64>>(x: &[u8], out: &mut [i64]) {
    vectorised(Rows::<T> { x: cast_slice(x), out });
}

struct Rows<'a, T> {
    x: &'a [T],
    out: &'a mut [i64],
}

impl<T: Pod + Into<i64>> VectorLoop for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let length = self.x.len() / self.out.len();
        for (x, out) in self.x.chunks_exact(length).zip(self.out) {
            *out = x.iter().fold(0, |sum: i64, &x| sum.wrapping_add(x.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::execute;
    use crate::ir::DType;
    use bytemuck::cast_slice;

    /// Rows of numbers that include the least and the largest of the type.
    macro_rules! check {
        ($($t:ident $dtype:ident)*) => {$(
            for (rows, length) in [(1, 1), (3, 1), (5, 33), (700, 300), (1, 100_001), (1, 300_000), (2, 70_001)] {
                let x: Vec<$t> = (0..rows * length)
                    .map(|at| [$t::MAX, $t::MIN, $t::MAX, (at * 37 % 101) as $t][at % 4])
                    .collect();
                let mut out = vec![7; rows];
                execute(DType::$dtype, cast_slice(&x), &mut out);
                let expected = x.chunks(length).map(|row| row.iter().map(|&x| i64::from(x)).sum::<i64>());
                assert!(out.iter().copied().eq(expected), "{rows} rows of {length} {}", stringify!($t));
            }
        )*};
    }

    #[test]
    fn rows_of_every_small_type() {
        check!(i8 I8 i16 I16 i32 I32 u8 U8 u16 U16 u32 U32);
    }
}
