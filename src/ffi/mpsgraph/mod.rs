//! MPSGraph: graphs of tensor operations, compiled into executables.
//!
//! One file per class, and one per `MPSGraph…Ops.h` header for the methods of `MPSGraph` that make operations. Names:
//! snake case of the selector's first part without the trailing `With…Tensor`. Nothing here validates: MPSGraph ends
//! the process on wrong shapes, axes and dtypes, so `ops` has checked them before.

pub(crate) mod compilation_descriptor;
pub(crate) mod data_type;
pub(crate) mod device;
pub(crate) mod executable;
pub(crate) mod graph;
pub(crate) mod random_op_descriptor;
pub(crate) mod shaped_type;
pub(crate) mod tensor;
pub(crate) mod tensor_data;

mod activation;
mod arithmetic;
mod gather;
mod matrix_multiplication;
mod memory;
mod normalization;
mod one_hot;
mod random;
mod reduction;
mod scatter_nd;
mod tensor_shape;

pub(crate) use data_type::DataType;
pub(crate) use device::GraphDevice;
pub(crate) use executable::Executable;
pub(crate) use graph::{Graph, MPSGraph};
pub(crate) use random_op_descriptor::{RandomDistribution, RandomOpDescriptor};
pub(crate) use scatter_nd::ScatterMode;
pub(crate) use shaped_type::ShapedType;
pub(crate) use tensor::{MPSGraphTensor, Tensor};
pub(crate) use tensor_data::TensorData;
pub(crate) use tensor_shape::PaddingMode;

use super::objc::{Constant, Declaration};

pub(super) fn declarations() -> Vec<Declaration> {
    [
        activation::declarations(),
        arithmetic::declarations(),
        compilation_descriptor::declarations(),
        device::declarations(),
        executable::declarations(),
        gather::declarations(),
        graph::declarations(),
        matrix_multiplication::declarations(),
        memory::declarations(),
        normalization::declarations(),
        one_hot::declarations(),
        random::declarations(),
        random_op_descriptor::declarations(),
        reduction::declarations(),
        scatter_nd::declarations(),
        shaped_type::declarations(),
        tensor::declarations(),
        tensor_data::declarations(),
        tensor_shape::declarations(),
    ]
    .concat()
}

pub(super) fn constants() -> Vec<Constant> {
    [
        compilation_descriptor::Optimization::constants(),
        DataType::constants(),
        PaddingMode::constants(),
        RandomDistribution::constants(),
        random_op_descriptor::NormalSamplingMethod::constants(),
        ScatterMode::constants(),
    ]
    .concat()
}
