//! The backend behind Burn 0.22, held against burn-flex 0.22. `defaults` is the check of the 0.21 line, with a list of
//! its own.

mod captured;
mod defaults;
mod device;
mod indexing;
mod methods;
mod modules;
mod program;
mod quantized;
mod reductions;
mod streams;
mod tensors;
