//! Choice by a bool tile: moves bits, so one loop per element size.

use super::tile::{TileFn, TileType, int_type, tile3};

/// The loop of `predicate ? on true : on false` for elements of this type.
pub fn select(ty: TileType) -> TileFn {
    int_type!(bits ty, T => tile3(|p: u8, a: T, b: T| if p != 0 { a } else { b }))
}
