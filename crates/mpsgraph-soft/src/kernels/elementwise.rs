//! Fused elementwise loops: a [`FusedLoop`] of operations on tiles of a hundred to some thousand elements.
//!
//! One pass over memory runs every operation of a group on one tile after the other, so that intermediate values stay
//! in the nearest cache. A tile holds elements of one [`TileType`]: 16-bit floats are f32 there, rounded to their own
//! precision after each operation, bool is a byte. Each operation is a [`TileFn`], an auto-vectorised loop over slices;
//! which element function it repeats is decided when the loop is built ([`float`], [`int`], [`select`],
//! [`super::cast`]), so running costs one indirect call per operation and tile. Basic operations also come in pairs and
//! convert 16-bit floats themselves ([`pairs`], [`half_floats`]), which saves passes over tiles. A value depends
//! neither on its place in a tile nor on the operations that it was fused with.

#![expect(unsafe_code, reason = "tiles behind pointers, and vector instructions")]

pub(super) mod block_loop;
mod f16c;
pub mod float;
pub mod fused_loop;
mod half_blocks;
mod half_floats;
mod half_loops;
pub mod int;
mod inverse;
pub mod load;
pub mod loop_builder;
pub mod math;
mod pairs;
pub mod recipe;
pub mod registers;
pub mod round;
pub mod run;
pub mod select;
mod single_numbers;
mod stepped;
pub mod tile;
mod uses;

pub use fused_loop::FusedLoop;
pub use loop_builder::{LoopBuilder, Register};
pub use tile::{TileFn, TileType};

#[cfg(test)]
mod tests;
