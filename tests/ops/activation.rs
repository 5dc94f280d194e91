//! Activation functions and their gradients.

mod edges;
mod functions;
mod gradients;
mod mistakes;
mod softmax;

modules! { functions gradients softmax }
