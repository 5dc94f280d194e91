//! `MPSGraphActivationOps.h`: activation functions. Floats only.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphActivationOps.h";

    /// `1 / (1 + exp(-x))`.
    fn sigmoid(x) = "sigmoidWithTensor:name:", since (11, 0);

    /// Softmax along one axis.
    fn soft_max(x, axis: isize) = "softMaxWithTensor:axis:name:", since (11, 0);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let x = cases.floats(&[3], &[-1.0, 0.5, 2.0]);
        cases.gives(graph.sigmoid(&x), &[3], &[0.268_941_42, 0.622_459_33, 0.880_797_08]);
        // Softmax of (0, ln 3) is (1/4, 3/4).
        let logits = cases.floats(&[2, 1], &[0.0, 3.0_f32.ln()]);
        cases.gives(graph.soft_max(&logits, 0), &[2, 1], &[0.25, 0.75]);
        cases.gives(graph.soft_max(&logits, -1), &[2, 1], &[1.0, 1.0]);
    });
}
