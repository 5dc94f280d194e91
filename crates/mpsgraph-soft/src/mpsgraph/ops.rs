//! The operations of `MPSGraph`, in files named for Apple's headers: selectors, and Apple's rule for shapes and types.
//!
//! burn-mpsgraph does not send all of them. The others are neighbours of those that it sends, with rules of their own
//! that the tests hold: `floorModuloWithPrimaryTensor:…`, `reLUWithTensor:name:` and its gradient, `gatherNDWith…` and
//! others. Who thinks of sending one meets here what is known against it.

pub mod activation;
pub mod arithmetic;
pub mod convolution;
pub mod cumulative;
pub(crate) mod elementwise;
pub mod gather;
pub mod matrix_multiplication;
pub mod memory;
pub mod normalization;
pub mod random;
pub mod reduction;
pub mod scatter_nd;
pub mod sort;
pub mod tensor_shape;

use crate::objc::Method;

/// The methods of all headers.
pub(crate) const FAMILIES: &[&[Method]] = &[
    activation::METHODS,
    arithmetic::METHODS,
    convolution::METHODS,
    cumulative::METHODS,
    gather::METHODS,
    matrix_multiplication::METHODS,
    memory::METHODS,
    normalization::METHODS,
    random::METHODS,
    reduction::METHODS,
    scatter_nd::METHODS,
    sort::METHODS,
    tensor_shape::METHODS,
    tensor_shape::cast::METHODS,
    tensor_shape::concat::METHODS,
    tensor_shape::pad::METHODS,
    tensor_shape::slice::METHODS,
];
