//! Burn's activation functions, each one recorded op.

use burn_backend::Scalar;
use burn_backend::ops::ActivationOps;

use super::{FloatElement, IntElement, MpsGraph};
use crate::ops::activation;
use crate::tensor::MpsGraphTensor as Tensor;

impl<F: FloatElement, I: IntElement> ActivationOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn leaky_relu(tensor: Tensor, negative_slope: Scalar) -> Tensor {
        activation::leaky_relu(tensor, negative_slope.into())
    }

    fn relu(tensor: Tensor) -> Tensor {
        activation::relu(tensor)
    }

    fn relu_backward(output: Tensor, grad: Tensor) -> Tensor {
        activation::relu_backward(output, grad)
    }

    fn gelu(tensor: Tensor) -> Tensor {
        activation::gelu(tensor)
    }

    fn prelu(tensor: Tensor, alpha: Tensor) -> Tensor {
        activation::prelu(tensor, alpha)
    }

    fn gelu_backward(x: Tensor, grad: Tensor) -> Tensor {
        activation::gelu_backward(x, grad)
    }

    fn sigmoid(tensor: Tensor) -> Tensor {
        activation::sigmoid(tensor)
    }

    fn sigmoid_backward(output: Tensor, grad: Tensor) -> Tensor {
        activation::sigmoid_backward(output, grad)
    }

    fn hard_sigmoid(tensor: Tensor, alpha: Scalar, beta: Scalar) -> Tensor {
        activation::hard_sigmoid(tensor, alpha.into(), beta.into())
    }

    fn log_sigmoid(tensor: Tensor) -> Tensor {
        activation::log_sigmoid(tensor)
    }

    fn softmax(tensor: Tensor, dim: usize) -> Tensor {
        activation::softmax(tensor, dim)
    }

    fn log_softmax(tensor: Tensor, dim: usize) -> Tensor {
        activation::log_softmax(tensor, dim)
    }

    fn softmin(tensor: Tensor, dim: usize) -> Tensor {
        activation::softmin(tensor, dim)
    }

    fn log_sigmoid_backward(x: Tensor, grad: Tensor) -> Tensor {
        activation::log_sigmoid_backward(x, grad)
    }
}
