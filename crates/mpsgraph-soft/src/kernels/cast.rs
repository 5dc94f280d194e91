//! Conversion by value between the lanes of elementwise tiles.
//!
//! Rust's `as` is the rule: float to integer truncates toward zero and saturates, NaN gives 0; integers wrap; what
//! becomes a float is rounded half to even. 16-bit floats are f32 here.

use super::elementwise::tile::{TileElement, TileFn, TileType, tile_type, tile1};

/// The loop that converts `from` to `to`; `None` where the bits stay.
pub fn cast(from: TileType, to: TileType) -> Option<TileFn> {
    match (from, to) {
        (TileType::F32, TileType::F32) => None,
        (TileType::F32, to) => Some(tile_type!(int to, R => tile1(|x: f32| x as R))),
        (from, TileType::F32) => Some(tile_type!(int from, T => tile1(|x: T| x as f32))),
        _ if from.size() == to.size() => None,
        // Cutting off does not depend on the sign, extending does not depend on the target's.
        _ if from.size() > to.size() => Some(tile_type!(bits from, T => T::resize(to))),
        _ => Some(tile_type!(int from, T => T::resize(to))),
    }
}

/// The loop that tests `from` against zero, for casts to bool. NaN is not zero.
pub fn truth(from: TileType) -> TileFn {
    match from {
        TileType::F32 => tile1(|x: f32| (x != 0.0) as u8),
        from => tile_type!(bits from, T => tile1(|x: T| (x != 0) as u8)),
    }
}

/// An integer that becomes an unsigned one of another size.
trait Resize: TileElement {
    fn resize(to: TileType) -> TileFn;
}

macro_rules! resize {
    ($($t:ty),*) => {$(
        impl Resize for $t {
            fn resize(to: TileType) -> TileFn {
                tile_type!(bits to, R => tile1(|x: $t| x as R))
            }
        }
    )*};
}
resize!(i8, i16, i32, i64, u8, u16, u32, u64);
