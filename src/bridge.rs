//! How recorded ops become work: recording per thread, programs as cache keys, compilation, binding, submission,
//! reading back. `ops` uses [`record`] of it, [`check_size`] before an op that is recorded as others, [`upload`] for
//! tables, [`join_uploaded`] and the random state; it uses one name of `ops`, `Op`; `patterns` also uses those of the
//! families that it rewrites.

mod barriers;
mod blocking;
mod cache;
mod compile;
mod config;
mod disjoint_sets;
mod division;
mod draft;
mod flush;
mod generator;
mod heaps;
mod kept;
mod leftovers;
mod log;
mod moving;
mod novelty;
mod patterns;
mod pool;
mod program;
mod record;
mod recording;
mod remembered;
mod run;
mod runtime;
mod stats;
mod submission;
mod thread;
mod ticket;
mod transfer;
mod under_way;
mod value;
mod waiting;

pub(crate) use record::{check_size, record};
pub(crate) use runtime::Runtime;
pub use stats::Stats;
pub use thread::eagerly;
pub(crate) use transfer::{join_uploaded, read, upload};
pub(crate) use value::Handle;
