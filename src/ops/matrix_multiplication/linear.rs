//! Linear layers and their gradients, as products of two matrices for inputs of every rank.

use burn_backend::TensorMetadata;

use super::matmul;
use crate::error::invalid;
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::{reduction, tensor_shape};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::shape;

/// `x (…, inputs)` times `weight (inputs, outputs)`, plus `bias (outputs)`.
pub(crate) fn linear(x: MpsGraphTensor, weight: MpsGraphTensor, bias: Option<MpsGraphTensor>) -> MpsGraphTensor {
    let product = matmul(x, weight);
    let Some(bias) = bias else { return product };
    let rank = product.rank();
    let outputs = product.shape[rank - 1];
    if bias.shape.as_slice() != [outputs] {
        invalid("linear", format!("bias of shape {:?} for {outputs} outputs", bias.shape));
    }
    let mut row = shape(&product.shape);
    row.fill(1);
    row[rank - 1] = outputs;
    arithmetic::binary(BinaryOp::Add, product, bias.with_shape(row))
}

/// Gradient of [`linear`] for its input.
pub(crate) fn linear_x_backward(weight: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
    matmul(output_grad, tensor_shape::transpose(weight))
}

/// Gradient of [`linear`] for its weight: one product over all positions of the batch.
pub(crate) fn linear_weight_backward(x: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
    let [x, output_grad] = [x, output_grad].map(|tensor| positions("linear_weight_backward", tensor));
    matmul(tensor_shape::transpose(x), output_grad)
}

/// Gradient of [`linear`] for its bias.
pub(crate) fn linear_bias_backward(output_grad: MpsGraphTensor) -> MpsGraphTensor {
    let grad = positions("linear_bias_backward", output_grad);
    let outputs = grad.shape[1];
    reduction::sum_dim(grad, 0).with_shape([outputs].into())
}

/// All but the last axis as one.
fn positions(name: &'static str, tensor: MpsGraphTensor) -> MpsGraphTensor {
    let rank = tensor.rank();
    if rank == 0 {
        invalid(name, "a tensor without axes");
    }
    let shape = [tensor.shape[..rank - 1].iter().product(), tensor.shape[rank - 1]];
    tensor.with_shape(shape.into())
}
