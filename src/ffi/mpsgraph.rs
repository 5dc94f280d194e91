//! MPSGraph: graphs of tensor operations, compiled into executables.
//!
//! One file per class, and one per `MPSGraph…Ops.h` header for the methods of `MPSGraph` that make operations. Names:
//! snake case of the selector's first part without the trailing `With…Tensor`. Nothing here validates: MPSGraph ends
//! the process on wrong shapes, axes and dtypes, so `ops` has checked them before.

pub(crate) mod compilation_descriptor;
pub(crate) mod convolution_2d_op_descriptor;
pub(crate) mod data_type;
pub(crate) mod device;
pub(crate) mod executable;
pub(crate) mod graph;
pub(crate) mod shaped_type;
pub(crate) mod tensor;
pub(crate) mod tensor_data;

mod activation;
mod arithmetic;
mod convolution;
mod cumulative;
mod gather;
mod matrix_multiplication;
mod memory;
mod random;
mod reduction;
mod scatter_nd;
mod sort;
mod tensor_shape;

pub(crate) use compilation_descriptor::Optimization;
pub(crate) use convolution_2d_op_descriptor::{ConvolutionDescriptor, Window};
pub(crate) use data_type::DataType;
pub(crate) use device::GraphDevice;
pub(crate) use executable::Executable;
pub(crate) use graph::{Graph, MPSGraph, is_compiling};
pub(crate) use scatter_nd::ScatterMode;
pub(crate) use shaped_type::ShapedType;
pub(crate) use tensor::{MPSGraphTensor, Tensor};
pub(crate) use tensor_data::TensorData;
pub(crate) use tensor_shape::PaddingMode;

use super::objc::headers;

headers! {
    activation, arithmetic, compilation_descriptor, convolution, convolution_2d_op_descriptor, cumulative, device,
    executable, gather, graph, matrix_multiplication, memory, random, reduction, scatter_nd, shaped_type, sort, tensor,
    tensor_data, tensor_shape
}
