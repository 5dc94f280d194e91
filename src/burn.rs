//! What differs between the lines of Burn that these sources serve: a file for each line, chosen by the cfg `burn_line`
//! that the build script sets. No other file knows which Burn it is built for, but for lines of the crate's
//! documentation.
//!
//! A trait has one `impl`, so what only one line has of a trait is a macro of items: `float_items!` stands in the
//! `impl` of `FloatTensorOps`, and so on. Everything else is plain functions and `impl`s with the same names in every
//! line.

#[cfg(burn_line = "0.21")]
mod v0_21;
#[cfg(burn_line = "0.22")]
mod v0_22;

#[cfg(burn_line = "0.21")]
pub(crate) use v0_21::*;
#[cfg(burn_line = "0.22")]
pub(crate) use v0_22::*;

/// What the crate shows its users.
pub mod public {
    #[cfg(burn_line = "0.21")]
    pub use super::v0_21::public::*;
    #[cfg(burn_line = "0.22")]
    pub use super::v0_22::public::*;
}
