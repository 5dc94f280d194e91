//! `MPSGraphRandomOps.h`: random numbers by Philox, a counter-based generator.
//!
//! Only with the state as an operand: a seed would be a constant of the graph. The state is i32 \[7\], the counter in
//! words 1 to 4 and the key behind it. Rank 4 at most: draw flat and reshape.

use super::Tensor;
use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphRandomOps.h";

    /// Uniform numbers in [0, 1), and the state after them.
    fn random_uniform(shape: &[usize], state) -> (Tensor, Tensor)
        = "randomUniformTensorWithShape:stateTensor:name:", since (11, 0);
}

/// The numbers are not documented. This checks in which range they are, and that a state gives the same ones again.
#[cfg(test)]
pub(super) fn exercise() {
    use super::{DataType, Graph};

    fn count(graph: &Graph, truths: &Tensor) -> Tensor {
        graph.reduction_sum(&graph.cast(truths, DataType::I32), &[0, 1])
    }

    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let state = cases.integers(&[7], &[1, 5, 0, 0, 0, 6, 7]);
        let (uniform, next) = graph.random_uniform(&[4, 8], &state);
        let [zero, one] = [0.0, 1.0].map(|value| graph.constant_with_scalar(value, &[1], DataType::F32));
        let inside =
            graph.logical_and(&graph.greater_than_or_equal_to(&uniform, &zero), &graph.less_than(&uniform, &one));
        cases.gives(count(&graph, &inside), &[1, 1], &[32.0]);
        let (again, _) = graph.random_uniform(&[4, 8], &state);
        let same = graph.equal(&uniform, &again);
        cases.gives(count(&graph, &same), &[1, 1], &[32.0]);
        let (others, _) = graph.random_uniform(&[4, 8], &next);
        let same = count(&graph, &graph.equal(&uniform, &others));
        let all = graph.constant_with_scalar(32.0, &[1], DataType::I32);
        cases.gives(graph.less_than(&same, &all), &[1, 1], &[1.0]);
    });
}
