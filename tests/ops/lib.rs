//! Every op through Burn's public API: one file per family, named as in `src/ops`; `cast`, `module`, `nn`, `non_zero`,
//! `transaction` and `errors` are across them. Lines of `cases!` are compared with
//! burn-flex, or with numbers that stand in the line; they are tests here and rows of `self_check`. Cases that need
//! more than a line are ordinary tests.
#![allow(clippy::approx_constant, reason = "lines by hand show digits")]
#![cfg_attr(not(test), allow(dead_code, unused_imports))] // without the ordinary tests their helpers are unused

#[macro_use]
mod compare;
#[macro_use]
mod lines;
mod case;
#[cfg(test)]
mod complete;
#[cfg(test)]
mod differences;
mod literal;
#[cfg(test)]
mod source;

mod activation;
mod arithmetic;
mod cast;
mod convolution;
mod cumulative;
#[cfg(test)]
mod errors;
mod fourier_transform;
mod gather;
mod loss;
mod matrix_multiplication;
mod memory;
mod module;
mod nn;
mod non_zero;
mod normalization;
mod pooling;
mod quantization;
mod random;
mod reduction;
mod resize;
mod sample_grid;
mod scatter_nd;
mod sort;
mod tensor_shape;
#[cfg(test)]
mod transaction;

pub use case::Case;

macro_rules! families {
    ($($family:ident)*) => {
        /// The families in the order in which `self_check` runs them: each one's name and its lines.
        pub const FAMILIES: &[(&str, fn() -> Vec<Case>)] = &[$((stringify!($family), $family::cases)),*];
    };
}

families! {
    memory arithmetic cast reduction cumulative activation normalization tensor_shape gather non_zero scatter_nd
    sort matrix_multiplication resize sample_grid module fourier_transform loss pooling convolution quantization
    nn random
}

#[test]
fn skipped_without_device() {
    let playable = cfg!(any(feature = "soft", not(target_vendor = "apple")));
    test_support::assert_skipped("skipped_without_device", playable, || burn_mpsgraph::MpsGraphDevice.name());
}
