//! MPSGraph: graphs that are built by messages, compiled, and encoded to command buffers.
//!
//! A message to a graph checks what Apple demands of an operation and appends nodes of [`crate::ir`] ([`builder`],
//! [`ops`]); compiling turns them into a plan ([`compile`]), and an executable gives the plan's runs to a command
//! buffer. On a Mac, MPSGraph aborts on most of what is refused here, later and without saying where, or computes
//! something else; each violation's message says which.

pub(crate) mod accepts;
pub(crate) mod builder;
pub mod compilation_descriptor;
pub(crate) mod compile;
pub mod convolution_2d_op_descriptor;
pub mod counters;
pub mod device;
pub mod dtype;
pub mod executable;
pub mod executable_execution_descriptor;
pub mod graph;
pub mod graph_object;
pub mod graph_type;
pub mod hold;
pub mod operation;
pub mod ops;
pub mod random_op_descriptor;
pub(crate) mod shape;
pub mod shaped_type;
pub mod tensor;
pub mod tensor_data;
