//! How recorded ops become work: recording per thread, programs as cache keys, compilation, binding, submission,
//! reading back. `ops` uses [`record`] of it and nothing else; it uses one name of `ops`, `Op`.

mod cache;
mod compile;
mod config;
mod flush;
mod generator;
mod pool;
mod program;
mod recording;
mod run;
mod runtime;
mod stats;
mod submission;
mod transfer;
mod value;

pub use recording::eagerly;
pub(crate) use recording::record;
pub(crate) use runtime::Runtime;
pub use stats::Stats;
pub(crate) use transfer::{read, upload};
pub(crate) use value::Handle;
