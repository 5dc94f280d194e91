//! Burn's activation functions, each one recorded op.

use burn_backend::Scalar;
use burn_backend::ops::ActivationOps;

use super::{FloatElement, IntElement, MpsGraph};
use crate::ops::activation;
use crate::tensor::MpsGraphTensor;

impl<F: FloatElement, I: IntElement> ActivationOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn leaky_relu(tensor: MpsGraphTensor, negative_slope: Scalar) -> MpsGraphTensor {
        activation::leaky_relu(tensor, negative_slope.into())
    }

    fn relu(tensor: MpsGraphTensor) -> MpsGraphTensor {
        activation::relu(tensor)
    }

    fn relu_backward(output: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
        activation::relu_backward(output, grad)
    }

    fn gelu(tensor: MpsGraphTensor) -> MpsGraphTensor {
        activation::gelu(tensor)
    }

    fn prelu(tensor: MpsGraphTensor, alpha: MpsGraphTensor) -> MpsGraphTensor {
        activation::prelu(tensor, alpha)
    }

    fn gelu_backward(x: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
        activation::gelu_backward(x, grad)
    }

    fn sigmoid(tensor: MpsGraphTensor) -> MpsGraphTensor {
        activation::sigmoid(tensor)
    }

    fn sigmoid_backward(output: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
        activation::sigmoid_backward(output, grad)
    }

    fn hard_sigmoid(tensor: MpsGraphTensor, alpha: Scalar, beta: Scalar) -> MpsGraphTensor {
        activation::hard_sigmoid(tensor, alpha.into(), beta.into())
    }

    fn log_sigmoid(tensor: MpsGraphTensor) -> MpsGraphTensor {
        activation::log_sigmoid(tensor)
    }

    fn softmax(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        activation::softmax(tensor, dim)
    }

    fn log_softmax(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        activation::log_softmax(tensor, dim)
    }

    fn softmin(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        activation::softmin(tensor, dim)
    }

    fn log_sigmoid_backward(x: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
        activation::log_sigmoid_backward(x, grad)
    }
}
