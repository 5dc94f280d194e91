//! Conversion by value between the element types of tiles.
//!
//! Rust's `as` is the rule: float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
//! conversions to a float round half to even. 16-bit floats are f32 here.

#![expect(unsafe_code, reason = "tiles behind pointers")]

use super::elementwise::math::TO_INTEGER;
use super::elementwise::tile::{IntType, TileElement, TileFn, TileLoop, TileType, int_type, pick, tile1};
use std::cmp::Ordering;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The loop that converts `from` to `to`; `None` where the bits stay.
pub fn cast(from: TileType, to: TileType) -> Option<TileFn> {
    match (from, to) {
        (TileType::F32, TileType::F32) => None,
        (TileType::F32, TileType::Int(to)) => Some(from_f32(to)),
        (TileType::Int(from), TileType::F32) => Some(int_type!(from, T => tile1(|x: T| x as f32))),
        // Cutting off does not depend on signs; extending does not depend on the target's sign.
        (TileType::Int(from), TileType::Int(to)) => match from.size().cmp(&to.size()) {
            Ordering::Equal => None,
            Ordering::Greater => Some(int_type!(bits from, T => T::resize(to))),
            Ordering::Less => Some(int_type!(from, T => T::resize(to))),
        },
    }
}

/// The loop that converts f32 to integers. Vectors convert to i32 without limits, so numbers are brought inside first,
/// where `as` would convert one at a time.
fn from_f32(to: IntType) -> TileFn {
    match to {
        IntType::I8 => tile1(|x: f32| within(x, -128.0, 127.0) as i8),
        IntType::I16 => tile1(|x: f32| within(x, -32_768.0, 32_767.0) as i16),
        IntType::I32 => tile1(|x: f32| to_i32(x)),
        IntType::I64 => pick::<ToI64>(),
        IntType::U8 => tile1(|x: f32| within(x, 0.0, 255.0) as u8),
        IntType::U16 => tile1(|x: f32| within(x, 0.0, 65_535.0) as u16),
        IntType::U32 => tile1(|x: f32| to_u32(x)),
        IntType::U64 => tile1(|x: f32| x as u64),
    }
}

/// 2^31, the first number beyond i32.
const BEYOND: f32 = 2_147_483_648.0;

/// The integer toward zero of the number that is nearest to `x` among those from `low` to `high`, both of which i32
/// holds; 0 of NaN.
#[inline(always)]
fn within(x: f32, low: f32, high: f32) -> i32 {
    let x = if x.is_nan() { 0.0 } else { x };
    let x = if x > low { x } else { low };
    let x = if x < high { x } else { high };
    // SAFETY: i32 holds it.
    unsafe { x.to_int_unchecked() }
}

/// `x as i32`
#[inline(always)]
fn to_i32(x: f32) -> i32 {
    // The largest f32 below 2^31: what is above it is beyond i32.
    let inside = within(x, -BEYOND, BEYOND.next_down());
    if x >= BEYOND { i32::MAX } else { inside }
}

/// `x as u32`
#[inline(always)]
fn to_u32(x: f32) -> u32 {
    let is_high = x >= BEYOND;
    let low = within(if is_high { x - BEYOND } else { x }, 0.0, BEYOND.next_down()) as u32;
    let number = if is_high { low | 1 << 31 } else { low };
    if x >= 2.0 * BEYOND { u32::MAX } else { number }
}

/// The loop that tests `from` against zero, for casts to bool. NaN is not zero.
pub fn truth(from: TileType) -> TileFn {
    match from {
        TileType::F32 => tile1(|x: f32| (x != 0.0) as u8),
        TileType::Int(from) => int_type!(bits from, T => tile1(|x: T| (x != 0) as u8)),
    }
}

/// f32 to i64, which vectors have for small numbers only, by [`TO_INTEGER`].
struct ToI64;

impl TileLoop for ToI64 {
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        const SMALL: f32 = (1u64 << 51) as f32;
        // SAFETY: the promise of `TileFn`.
        let (dst, src) = unsafe { (from_raw_parts_mut(dst.cast::<i64>(), n), from_raw_parts(src[0].cast::<f32>(), n)) };
        for (dst, src) in dst.chunks_mut(64).zip(src.chunks(64)) {
            if src.iter().fold(true, |all, x| all & (x.abs() < SMALL)) {
                for (to, x) in dst.iter_mut().zip(src) {
                    let bits = (x.trunc() as f64 + TO_INTEGER).to_bits();
                    *to = bits.wrapping_sub(TO_INTEGER.to_bits()).cast_signed();
                }
            } else {
                dst.iter_mut().zip(src).for_each(|(to, &x)| *to = x as i64);
            }
        }
    }
}

/// An integer that becomes an unsigned one of another size.
trait Resize: TileElement {
    fn resize(to: IntType) -> TileFn;
}

macro_rules! resize {
    ($($t:ty),*) => {$(
        impl Resize for $t {
            fn resize(to: IntType) -> TileFn {
                int_type!(bits to, R => tile1(|x: $t| x as R))
            }
        }
    )*};
}
resize!(i8, i16, i32, i64, u8, u16, u32, u64);
