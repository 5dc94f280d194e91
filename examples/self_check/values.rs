//! Tensors on the device and the numbers they are made of.

use burn::tensor::{Bool, DType, Int, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

pub type B = MpsGraph;

pub const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

pub const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

pub fn floats<const D: usize>(values: &[f64], shape: [usize; D], dtype: DType) -> Tensor<B, D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&MpsGraphDevice, dtype))
}

/// f32.
pub fn f32s<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<B, D> {
    floats(values, shape, DType::F32)
}

pub fn ints<const D: usize>(values: &[i64], shape: [usize; D], dtype: DType) -> Tensor<B, D, Int> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&MpsGraphDevice, dtype))
}

pub fn bools<const D: usize>(values: &[bool], shape: [usize; D]) -> Tensor<B, D, Bool> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &MpsGraphDevice)
}

/// Pseudo-random multiples of 1/128 in [-1, 1), which every float dtype holds exactly.
pub fn noise(count: usize, salt: u64) -> Vec<f64> {
    words(count, salt).map(|word| f64::from((word >> 56) as i32 - 128) / 128.0).collect()
}

/// Pseudo-random numbers in `0..end`.
pub fn choices(count: usize, end: usize, salt: u64) -> Vec<usize> {
    words(count, salt).map(|word| ((word >> 16) % end as u64) as usize).collect()
}

/// Pseudo-random integers that need all bits of a signed dtype.
pub fn wide_integers(count: usize, salt: u64, dtype: DType) -> Vec<i64> {
    let shift = 64 - 8 * dtype.size() as u32;
    words(count, salt).map(|word| word.cast_signed() >> shift).collect()
}

fn words(count: usize, salt: u64) -> impl Iterator<Item = u64> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
    .take(count)
}

/// `values` as i128, for references.
pub fn exact(values: &[i64]) -> Vec<i128> {
    values.iter().copied().map(i128::from).collect()
}

/// The low bits of `x` as a number of `dtype`.
pub fn wrapped(x: i128, dtype: DType) -> i128 {
    let bits = 8 * dtype.size() as u32;
    let low = x & ((1 << bits) - 1);
    if dtype.is_int() && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

/// `x` as the float dtype holds it.
pub fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f32(x as f32).to_f64(),
        DType::BF16 => half::bf16::from_f32(x as f32).to_f64(),
        _ => f64::from(x as f32),
    }
}

/// All coordinates of a shape in row-major order.
pub fn coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = shape.iter().product();
    (0..count)
        .map(|mut position| {
            let mut at = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                at[axis] = position % shape[axis];
                position /= shape[axis];
            }
            at
        })
        .collect()
}

/// The row-major position of a coordinate; extents of 1 take any coordinate, as broadcasting has it.
pub fn position(shape: &[usize], at: &[usize]) -> usize {
    shape.iter().zip(at).fold(0, |position, (&extent, &at)| position * extent + if extent == 1 { 0 } else { at })
}
