//! A [Burn](https://burn.dev) backend for Apple GPUs that records operations and runs them as whole MPSGraph
//! executables, by Objective-C messages and without a binding crate.
//!
#![cfg_attr(burn_line = "0.21", doc = "A model needs `type B = MpsGraph;` (or `Autodiff<MpsGraph>`) and nothing else.")]
#![cfg_attr(burn_line = "0.22", doc = "The README says how Burn's device comes to be [`MpsGraphDevice`].")]
//!
//! On systems that are not Apple's the same code drives `mpsgraph-soft`, a software implementation of the classes it
//! talks to.
//!
//! - **Errors.** Operations of Burn panic with the text of an [`Error`] if their input is wrong or asks for what this
//!   backend does not have, before anything runs. What the device reports is an `Err` of [`MpsGraphDevice::sync`] and
//!   of every read that depends on it.
//! - **Threads.** Every thread may use every tensor. Each records by itself; what another one has recorded is submitted
//!   when it is needed.
//! - **Settings.** [`MpsGraphDevice`] has limits for memory and waits, and counters ([`Stats`]). Environment variables
//!   that begin with `BURN_MPSGRAPH_` are read at the first use: `BURN_MPSGRAPH_LOG=1` writes what is compiled and why.
//!   `ARCHITECTURE.md` of the repository lists them.
//! - **Features.** `soft` lets `mpsgraph-soft` answer on Apple's systems too.
#![cfg_attr(burn_line = "0.22", doc = "  `remote` gives a device of Burn for this backend without a patch.")]
//!
//! The README says what works, what differs from Burn's other backends, how fast it is, and what to do if something
//! goes wrong.
#![deny(unsafe_code)]
#![warn(clippy::allow_attributes_without_reason)]
#![warn(clippy::wildcard_enum_match_arm)]
#![warn(missing_docs)]

mod backend;
mod bridge;
mod burn;
mod device;
mod dtype;
mod error;
#[expect(unsafe_code, reason = "the one room for raw pointers: every block in it says why it holds")]
mod ffi;
mod lock;
mod lowering;
mod ops;
mod tables;
mod tensor;
mod tensor_type;

pub use bridge::{Stats, eagerly};
pub use burn::public::*;
pub use device::MpsGraphDevice;
pub use error::Error;
pub use tensor::MpsGraphTensor;
pub use tensor::quantized::MpsGraphQuantizedTensor;

#[doc(hidden)]
pub mod contract {
    //! The Objective-C declarations, for the test that holds them against Apple's tables.
    pub use crate::ffi::contract::*;
}

/// The README's example, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))]
struct Readme;

#[test]
fn skipped_without_device() {
    test_support::assert_skipped("skipped_without_device", cfg!(soft_runtime), || MpsGraphDevice.name());
}
