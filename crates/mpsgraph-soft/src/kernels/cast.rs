//! Conversion by value between the element types of tiles.
//!
//! Rust's `as` is the rule: float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
//! conversions to a float round half to even. 16-bit floats are f32 here.

#![expect(unsafe_code, reason = "tiles behind pointers")]

use super::elementwise::tile::{IntType, TileElement, TileFn, TileLoop, TileType, int_type, pick, tile1};
use std::cmp::Ordering;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The loop that converts `from` to `to`; `None` where the bits stay.
pub fn cast(from: TileType, to: TileType) -> Option<TileFn> {
    match (from, to) {
        (TileType::F32, TileType::F32) => None,
        (TileType::F32, TileType::Int(IntType::I64)) => Some(pick::<ToI64>()),
        (TileType::F32, TileType::Int(to)) => Some(int_type!(to, R => tile1(|x: f32| x as R))),
        (TileType::Int(from), TileType::F32) => Some(int_type!(from, T => tile1(|x: T| x as f32))),
        // Cutting off does not depend on signs; extending does not depend on the target's sign.
        (TileType::Int(from), TileType::Int(to)) => match from.size().cmp(&to.size()) {
            Ordering::Equal => None,
            Ordering::Greater => Some(int_type!(bits from, T => T::resize(to))),
            Ordering::Less => Some(int_type!(from, T => T::resize(to))),
        },
    }
}

/// The loop that tests `from` against zero, for casts to bool. NaN is not zero.
pub fn truth(from: TileType) -> TileFn {
    match from {
        TileType::F32 => tile1(|x: f32| (x != 0.0) as u8),
        TileType::Int(from) => int_type!(bits from, T => tile1(|x: T| (x != 0) as u8)),
    }
}

/// f32 to i64, which vectors have for small numbers only: adding 1.5 * 2^52 leaves the integer in the low bits of an
/// f64.
struct ToI64;

impl TileLoop for ToI64 {
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        const MIDDLE: f64 = 6_755_399_441_055_744.0;
        const SMALL: f32 = (1u64 << 51) as f32;
        // SAFETY: the promise of `TileFn`.
        let (dst, src) = unsafe { (from_raw_parts_mut(dst.cast::<i64>(), n), from_raw_parts(src[0].cast::<f32>(), n)) };
        for (dst, src) in dst.chunks_mut(64).zip(src.chunks(64)) {
            if src.iter().fold(true, |all, x| all & (x.abs() < SMALL)) {
                for (to, x) in dst.iter_mut().zip(src) {
                    let bits = (x.trunc() as f64 + MIDDLE).to_bits();
                    *to = bits.wrapping_sub(MIDDLE.to_bits()).cast_signed();
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
