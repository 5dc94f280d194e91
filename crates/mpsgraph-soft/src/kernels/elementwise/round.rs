//! Between 16-bit floats in memory and f32 in tiles, and the rounding after each operation.
//!
//! bf16 is the upper half of an f32 and vectorises as integer code. f16 goes through the processor's conversions, or
//! through `half` where it has none that are known here.

use super::f16c;
use super::tile::{TileFn, tile1};
use crate::ir::DType;
use crate::kernels::element::bf16_bits;
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// A float that a tile holds as f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfFloat {
    F16,
    BF16,
}

/// Which of them values of `dtype` are.
pub fn half_float(dtype: DType) -> Option<HalfFloat> {
    match dtype {
        DType::F16 => Some(HalfFloat::F16),
        DType::BF16 => Some(HalfFloat::BF16),
        DType::F32 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => None,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => None,
    }
}

/// From memory to a tile; `None` where they are the same.
pub fn widen(dtype: DType) -> Option<TileFn> {
    Some(match half_float(dtype)? {
        HalfFloat::F16 => f16c::loops().map_or(f16_to_f32, |[widen, ..]| widen),
        HalfFloat::BF16 => tile1(|x: u16| f32::from_bits((x as u32) << 16)),
    })
}

/// From a tile to memory, rounding half to even; `None` where they are the same.
pub fn narrow(dtype: DType) -> Option<TileFn> {
    Some(match half_float(dtype)? {
        HalfFloat::F16 => f16c::loops().map_or(f32_to_f16, |[_, narrow, _]| narrow),
        HalfFloat::BF16 => tile1(|x: f32| (bf16_bits(x) >> 16) as u16),
    })
}

/// Rounds a tile to what `dtype` can hold; `None` where that is everything.
pub fn round(dtype: DType) -> Option<TileFn> {
    Some(match half_float(dtype)? {
        HalfFloat::F16 => f16c::loops().map_or(round_f16, |[.., round]| round),
        HalfFloat::BF16 => tile1(|x: f32| f32::from_bits(bf16_bits(x))),
    })
}

unsafe fn f16_to_f32(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the promise of `TileFn`.
    let (dst, src) = unsafe { (from_raw_parts_mut(dst.cast(), n), from_raw_parts(src[0].cast::<f16>(), n)) };
    src.convert_to_f32_slice(dst);
}

unsafe fn f32_to_f16(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the promise of `TileFn`.
    let (dst, src) = unsafe { (from_raw_parts_mut(dst.cast::<f16>(), n), from_raw_parts(src[0].cast(), n)) };
    dst.convert_from_f32_slice(src);
}

unsafe fn round_f16(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the promise of `TileFn`.
    let (dst, src) = unsafe { (from_raw_parts_mut(dst.cast::<f32>(), n), from_raw_parts(src[0].cast::<f32>(), n)) };
    let mut narrow = [f16::ZERO; 128];
    for (dst, src) in dst.chunks_mut(narrow.len()).zip(src.chunks(narrow.len())) {
        let narrow = &mut narrow[..src.len()];
        narrow.convert_from_f32_slice(src);
        narrow.convert_to_f32_slice(dst);
    }
}
