//! Objective-C, as safe typed Rust: the frameworks' classes in files named after Apple's headers.
//!
//! Raw pointers stay in here. Every method is declared once, by a row of `objc_methods!` or `graph_methods!`, which the
//! contract test holds against Apple's own tables. What MPSGraph does not check, nothing here checks: `ops` does.

pub(crate) mod c_library;
pub mod contract;
#[cfg(test)]
mod exercise;
mod foundation;
pub(crate) mod gpu;
mod metal;
mod mps;
mod mpsgraph;
mod objc;
pub(crate) mod os_version;
mod symbols;

pub(crate) use foundation::ns_error::NsError;
pub(crate) use metal::{Buffer, CommandQueue, Device, Heap, Work, host_bytes};
pub(crate) use mps::MpsCommandBuffer;
pub(crate) use mpsgraph::{
    ConvolutionDescriptor, DataType, Executable, Graph, GraphDevice, Optimization, PaddingMode, ScatterMode,
    ShapedType, Tensor, TensorData, Window, is_compiling,
};
pub(crate) use objc::autoreleasepool;
