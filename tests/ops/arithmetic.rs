//! Elementwise operations, one file per topic as in `src/ops/arithmetic`.

mod binary;
mod bool;
mod broadcasting;
mod comparison;
mod cross;
mod integer;
mod integer_edges;
mod mistakes;
mod power;
mod selection;
mod unary;
mod unary_edges;

modules! { binary bool broadcasting comparison cross integer power selection unary }
