//! Metal: devices, buffers, and the command buffers whose completion tells that results are there.

pub(crate) mod host_bytes;
pub(crate) mod mtl_buffer;
pub(crate) mod mtl_command_buffer;
pub(crate) mod mtl_command_queue;
pub(crate) mod mtl_device;

pub(crate) use host_bytes::host_bytes;
pub(crate) use mtl_buffer::Buffer;
pub(crate) use mtl_command_buffer::{CommandBuffer, CommandBufferStatus};
pub(crate) use mtl_command_queue::CommandQueue;
pub(crate) use mtl_device::{Device, GpuFamily};

use super::objc::{Constant, Declaration};

pub(super) fn declarations() -> Vec<Declaration> {
    [
        mtl_buffer::declarations(),
        mtl_command_buffer::declarations(),
        mtl_command_queue::declarations(),
        mtl_device::declarations(),
    ]
    .concat()
}

pub(super) fn constants() -> Vec<Constant> {
    [CommandBufferStatus::constants(), GpuFamily::constants(), mtl_device::ResourceOptions::constants()].concat()
}
