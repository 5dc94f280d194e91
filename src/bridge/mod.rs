//! How recorded ops become work: recording per thread, programs as cache keys, compilation, binding, submission,
//! reading back. [`record`] is all that `ops` sees of it, [`Lowering`] all that a lowering sees.

mod cache;
mod compile;
mod config;
mod flush;
mod generator;
mod pool;
mod program;
mod recording;
mod runtime;
mod scalar;
mod stats;
mod submission;
mod transfer;
mod value;

pub(crate) use compile::{Lowering, Operand};
pub use recording::eagerly;
pub(crate) use recording::record;
pub(crate) use runtime::Runtime;
pub(crate) use scalar::ScalarInput;
pub use stats::Stats;
pub(crate) use transfer::{read, upload};
pub(crate) use value::Handle;
