//! Metal: devices, buffers, and the command buffers whose completion tells that results are there.

pub(in crate::ffi) mod claim;
pub(crate) mod host_bytes;
pub(crate) mod mtl_buffer;
pub(crate) mod mtl_command_buffer;
pub(crate) mod mtl_command_queue;
pub(crate) mod mtl_device;
pub(crate) mod mtl_heap;
pub(crate) mod work;

pub(crate) use host_bytes::host_bytes;
pub(crate) use mtl_buffer::{Buffer, HostRead};
pub(crate) use mtl_command_buffer::{CommandBuffer, CommandBufferStatus};
pub(crate) use mtl_command_queue::CommandQueue;
pub(crate) use mtl_device::Device;
pub(crate) use mtl_heap::Heap;
pub(crate) use work::Work;

use super::objc::headers;

headers! { mtl_buffer, mtl_command_buffer, mtl_device, mtl_heap }
