//! Objective-C, as safe typed Rust: the frameworks' classes in files named after Apple's headers.
//!
//! Raw pointers stay in here. Every method is declared once, by a row of `objc_methods!` or `graph_methods!`, which the
//! contract test holds against Apple's own tables. What MPSGraph does not check, nothing here checks: `ops` does.

// A header is declared as a whole family at a time, and the contract test covers all of it, used or not.
#![allow(dead_code)]

pub mod contract;
#[cfg(test)]
mod exercise;
mod foundation;
mod metal;
mod mps;
mod mpsgraph;
mod objc;
pub(crate) mod os_version;
mod symbols;

// What `ops` does not use yet is part of the surface all the same.
#[allow(unused_imports)]
pub(crate) use metal::{Buffer, CommandBuffer, CommandBufferStatus, CommandQueue, Device, GpuFamily, host_bytes};
pub(crate) use mps::MpsCommandBuffer;
#[allow(unused_imports)]
pub(crate) use mpsgraph::random_op_descriptor::NormalSamplingMethod;
#[allow(unused_imports)]
pub(crate) use mpsgraph::{
    DataType, Executable, Graph, GraphDevice, PaddingMode, RandomDistribution, RandomOpDescriptor, ScatterMode,
    ShapedType, Tensor, TensorData,
};
pub(crate) use objc::autoreleasepool;
