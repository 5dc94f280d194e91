//! Every op through Burn's public API against burn-flex: one file per family, named as in `src/ops`.

#[macro_use]
mod agreement;
#[macro_use]
mod sweep;
#[macro_use]
mod table;

mod activation;
mod arithmetic;
mod cast;
mod errors;
mod gather;
mod matrix_multiplication;
mod memory;
mod module;
mod non_zero;
mod normalization;
mod random;
mod reduction;
mod scatter_nd;
mod tensor_shape;
mod transaction;
#[path = "../without_device/mod.rs"]
mod without_device;
