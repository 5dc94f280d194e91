//! Conversion by value between the element types of tiles.
//!
//! Rust's `as` is the rule: float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
//! conversions to a float round half to even. 16-bit floats are f32 here.

use super::elementwise::tile::{IntType, TileElement, TileFn, TileType, int_type, tile1};
use std::cmp::Ordering;

/// The loop that converts `from` to `to`; `None` where the bits stay.
pub fn cast(from: TileType, to: TileType) -> Option<TileFn> {
    match (from, to) {
        (TileType::F32, TileType::F32) => None,
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
