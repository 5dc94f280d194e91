//! `MPSGraphRandomOps.h`: random numbers by Philox, a counter-based generator.
//!
//! Only with the state as an operand: a seed would be a constant of the graph. The state is i32 \[7\], the counter in
//! words 1 to 4 and the key behind it. Rank 4 at most: draw flat and reshape.

use super::Tensor;
use super::random_op_descriptor::MPSGraphRandomOpDescriptor;
use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphRandomOps.h";

    /// Random numbers, and the state after them.
    fn random(shape: &[usize], descriptor: &MPSGraphRandomOpDescriptor, state) -> (Tensor, Tensor)
        = "randomTensorWithShape:descriptor:stateTensor:name:", since (11, 0);

    /// Uniform numbers in [0, 1), and the state after them.
    fn random_uniform(shape: &[usize], state) -> (Tensor, Tensor)
        = "randomUniformTensorWithShape:stateTensor:name:", since (11, 0);

    /// A state tensor, a constant of the graph.
    fn random_philox_state(counter_low: usize, counter_high: usize, key: usize)
        = "randomPhiloxStateTensorWithCounterLow:counterHigh:key:name:", since (11, 0);
}
