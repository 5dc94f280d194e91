//! MPSGraph through messages: every family of operations with numbers worked out by hand, what is refused, and the
//! way from a graph to results in buffers.
//!
//! Compiling is the whole process's business, so the tests run one after the other.

pub mod activation;
pub mod arithmetic;
pub mod compile;
pub mod convolution;
pub mod cumulative;
pub mod dtypes;
pub mod encode;
mod every_method;
pub mod gather;
pub mod limits;
pub mod matrix_multiplication;
pub mod memory;
pub mod messages;
pub mod newer;
pub mod objects;
pub mod package;
pub mod random;
pub mod reduction;
pub mod scatter_nd;
pub mod selectors;
pub mod session;
pub mod sort;
pub mod speed;
pub mod systems;
pub mod tensor_shape;
