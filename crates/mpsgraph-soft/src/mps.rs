//! Metal Performance Shaders: only the class to which a graph is encoded.

#![forbid(unsafe_code)]

pub mod mps_command_buffer;
