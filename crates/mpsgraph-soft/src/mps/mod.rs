//! Metal Performance Shaders: the one class of it that a graph is encoded to.

pub mod mps_command_buffer;
