//! Metal through messages: the device, buffers, queues, command buffers and `MPSCommandBuffer`.
//!
//! Only what a test gives a command buffer to do is handed over in Rust, since a graph is what would do it
//! otherwise. The counters and faults belong to the whole process, so the tests run one after the other.

pub mod buffer;
pub mod command_buffer;
pub mod device;
pub mod faults;
pub mod handlers;
pub mod heap;
pub mod in_flight;
pub mod latency;
pub mod messages;
pub mod misuse;
pub mod mps_command_buffer;
pub mod pools;
