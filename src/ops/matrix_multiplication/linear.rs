//! Linear layers and their gradients, as products of two matrices for inputs of every rank.

use burn_backend::TensorMetadata;

use super::parts::is_far;
use super::{MatrixMultiplicationOp, matmul, scalars};
use crate::bridge::record;
use crate::error::{Call, invalid};
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::{reduction, tensor_shape};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{TensorType, shape};

/// `x (…, inputs)` times `weight (inputs, outputs)`, plus `bias (outputs)`.
pub(crate) fn linear(x: MpsGraphTensor, weight: MpsGraphTensor, bias: Option<MpsGraphTensor>) -> MpsGraphTensor {
    let operands = [&x, &weight].into_iter().chain(bias.as_ref());
    let _call = Call::begin("linear", operands.map(MpsGraphTensor::typed));
    let Some(bias) = bias else { return matmul(x, weight) };
    if is_one_op(&x, &weight, &bias) {
        return one_op(x, &weight, &bias);
    }
    let product = matmul(x, weight);
    let rank = product.rank();
    let outputs = product.shape[rank - 1];
    if bias.shape.as_slice() != [outputs] {
        invalid("linear", format!("bias of shape {:?} for {outputs} outputs: it must be [{outputs}]", bias.dims()));
    }
    let mut row = shape(&product.shape);
    row.fill(1);
    row[rank - 1] = outputs;
    arithmetic::binary(BinaryOp::Add, product, bias.with_shape(row))
}

/// Whether the operands are those of a [`MatrixMultiplicationOp::Linear`].
fn is_one_op(x: &MpsGraphTensor, weight: &MpsGraphTensor, bias: &MpsGraphTensor) -> bool {
    let (&[inputs, outputs], &[ref before @ .., own]) = (weight.dims(), x.dims()) else { return false };
    let positions: usize = before.iter().product();
    let fits = !before.is_empty() && own == inputs && bias.dims() == [outputs];
    let is_float = x.dtype().is_float() && weight.dtype() == x.dtype() && bias.dtype() == x.dtype();
    let is_empty = [positions, inputs, outputs].contains(&0);
    fits && is_float && !is_empty && !is_far([&[positions, inputs], weight.dims()])
}

/// Records a linear layer as one op.
fn one_op(x: MpsGraphTensor, weight: &MpsGraphTensor, bias: &MpsGraphTensor) -> MpsGraphTensor {
    let outputs = bias.shape[0];
    let mut result = shape(&x.shape);
    result[x.rank() - 1] = outputs;
    let x = positions("linear", x);
    let own = TensorType::new(x.dtype(), shape(&[x.shape[0], outputs]));
    let scalars = scalars([x.dims(), weight.dims()]);
    record(MatrixMultiplicationOp::Linear.into(), &[&x, weight, bias], scalars, own).with_shape(result)
}

/// Gradient of [`linear`] for its input.
pub(crate) fn linear_x_backward(weight: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
    let _call = Call::begin("linear_x_backward", [weight.typed(), output_grad.typed()]);
    matmul(output_grad, tensor_shape::transpose(weight))
}

/// Gradient of [`linear`] for its weight: one product over all positions of the batch.
pub(crate) fn linear_weight_backward(x: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
    const NAME: &str = "linear_weight_backward";
    let _call = Call::begin(NAME, [x.typed(), output_grad.typed()]);
    let [of_x, of_grad] = [&x, &output_grad].map(|tensor| tensor.dims().split_last().map(|(_, before)| before));
    if of_x != of_grad {
        let rule = "they must have the same positions, which are all axes but the last";
        invalid(NAME, format!("x {:?}, output gradient {:?}: {rule}", x.dims(), output_grad.dims()));
    }
    let [x, output_grad] = [x, output_grad].map(|tensor| positions(NAME, tensor));
    matmul(tensor_shape::transpose(x), output_grad)
}

/// Gradient of [`linear`] for its bias.
pub(crate) fn linear_bias_backward(output_grad: MpsGraphTensor) -> MpsGraphTensor {
    let _call = Call::begin("linear_bias_backward", [output_grad.typed()]);
    let grad = positions("linear_bias_backward", output_grad);
    let outputs = grad.shape[1];
    reduction::sum_dim(grad, 0).with_shape([outputs].into())
}

/// All but the last axis as one.
fn positions(name: &'static str, tensor: MpsGraphTensor) -> MpsGraphTensor {
    let rank = tensor.rank();
    if rank == 0 {
        invalid(name, "shape []; it takes one axis at least, that of the features");
    }
    let extents = [tensor.shape[..rank - 1].iter().product(), tensor.shape[rank - 1]];
    tensor.with_shape(shape(&extents))
}
