//! Choice by a bool tile: moves bits, so one loop per element size.

use super::tile::{TileFn, tile3};

/// The loop of `predicate ? on true : on false` for elements of `size` bytes.
pub fn select(size: usize) -> TileFn {
    match size {
        1 => tile3(|p: u8, a: u8, b: u8| if p != 0 { a } else { b }),
        2 => tile3(|p: u8, a: u16, b: u16| if p != 0 { a } else { b }),
        4 => tile3(|p: u8, a: u32, b: u32| if p != 0 { a } else { b }),
        8 => tile3(|p: u8, a: u64, b: u64| if p != 0 { a } else { b }),
        other => unreachable!("no lane has {other} bytes"),
    }
}
