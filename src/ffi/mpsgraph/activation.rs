//! `MPSGraphActivationOps.h`: activation functions and their gradients. Floats only.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphActivationOps.h";

    /// `max(x, 0)`.
    fn relu(x) = "reLUWithTensor:name:", since (11, 0);

    /// `incoming` where `source` > 0, else 0.
    fn relu_gradient(incoming, source) = "reLUGradientWithIncomingGradient:sourceTensor:name:", since (11, 0);

    /// `x` where it is positive, else `alpha * x`.
    fn leaky_relu(x, alpha: f64) = "leakyReLUWithTensor:alpha:name:", since (12, 0);

    /// `x` where it is positive, else `alpha * x`; `alpha` broadcasts.
    fn leaky_relu_with_alpha_tensor(x, alpha) = "leakyReLUWithTensor:alphaTensor:name:", since (12, 0);

    /// Gradient of [`leaky_relu_with_alpha_tensor`](Self::leaky_relu_with_alpha_tensor) for its input `source`.
    fn leaky_relu_gradient(incoming, source, alpha)
        = "leakyReLUGradientWithIncomingGradient:sourceTensor:alphaTensor:name:", since (12, 0);

    /// `1 / (1 + exp(-x))`.
    fn sigmoid(x) = "sigmoidWithTensor:name:", since (11, 0);

    /// Gradient of [`sigmoid`](Self::sigmoid) for its *input* `source`.
    fn sigmoid_gradient(incoming, source) = "sigmoidGradientWithIncomingGradient:sourceTensor:name:", since (11, 0);

    /// Softmax along one axis.
    fn soft_max(x, axis: isize) = "softMaxWithTensor:axis:name:", since (11, 0);

    /// Gradient of [`soft_max`](Self::soft_max) for its input `source`.
    fn soft_max_gradient(incoming, source, axis: isize)
        = "softMaxGradientWithIncomingGradient:sourceTensor:axis:name:", since (11, 0);
}
