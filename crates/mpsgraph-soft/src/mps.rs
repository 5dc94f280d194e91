//! Metal Performance Shaders: only the class to which a graph is encoded.

pub mod mps_command_buffer;
