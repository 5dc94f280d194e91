//! Metal on the CPU: the device, its buffers, and command queues that run encoded work in commit order.
//!
//! `mtl_*.rs` hold one class each (Apple offers them as protocols only). Under them, free of Objective-C:
//! `job` is what one command buffer runs, `worker` the order in which a queue runs jobs, `allocation` a buffer's
//! memory, `in_use` who is using it. `counters` and `fault` are for tests.

pub mod allocation;
pub mod command_buffer_error;
pub mod counters;
pub mod fault;
pub mod in_use;
pub mod job;
mod label;
pub mod mtl_buffer;
pub mod mtl_command_buffer;
pub mod mtl_command_queue;
pub mod mtl_device;
pub mod worker;
