//! Metal Performance Shaders, of which MPSGraph wants one class: its command buffer.

pub(crate) mod mps_command_buffer;

pub(crate) use mps_command_buffer::MpsCommandBuffer;

use super::objc::headers;

headers! { mps_command_buffer }
