//! Metal on the CPU: the device, its buffers, and command queues that run encoded work in commit order.
//!
//! Each `mtl_*.rs` holds one class (Apple has them as protocols only). They build on modules without messages: `job` is
//! what one command buffer runs, `work` what is encoded on it, `worker` runs the jobs of a queue in order, `completion`
//! calls completed handlers, `execution` that of an executable, `allocation` is a buffer's memory, `in_use` knows which
//! work uses it, `memory` how much the process may use, `command_buffer_error` is why work failed, `label` what tools
//! call an object. `counters` and `fault` are for tests.

pub mod allocation;
mod command_buffer_error;
mod completion;
pub mod counters;
pub(crate) mod execution;
pub mod fault;
mod in_use;
pub(crate) mod job;
mod label;
mod memory;
pub mod mtl_buffer;
pub mod mtl_command_buffer;
pub mod mtl_command_queue;
pub mod mtl_device;
pub mod mtl_heap;
pub mod mtl_heap_descriptor;
pub(crate) mod work;
mod worker;
