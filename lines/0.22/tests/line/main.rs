//! The backend behind Burn 0.22, held against burn-flex 0.22.

mod device;
mod indexing;
mod methods;
mod modules;
mod program;
mod reductions;
