//! Every op through Burn's public API against burn-flex: one file per family, named as in `src/ops`.

#[macro_use]
mod agreement;
#[macro_use]
mod sweep;

mod activation;
mod arithmetic;
mod cast;
mod memory;
mod random;
mod reduction;
