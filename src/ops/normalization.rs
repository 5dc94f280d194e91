//! Normalization over the last axis, composed of recorded ops. 16-bit floats are normalized in f32.

use burn_backend::{DType, TensorMetadata};

use super::arithmetic::{self, BinaryOp, UnaryOp};
use super::reduction;
use crate::error::invalid;
use crate::lowering::scalar::ScalarInput;
use crate::tensor::MpsGraphTensor;

/// `(x - mean) / sqrt(variance + epsilon) * gamma + beta` over the last axis, with the population variance. `gamma` and
/// `beta` have that axis alone and the dtype of `tensor`.
pub(crate) fn layer_norm(
    tensor: MpsGraphTensor,
    gamma: MpsGraphTensor,
    beta: Option<MpsGraphTensor>,
    epsilon: f64,
) -> MpsGraphTensor {
    let (dtype, shape) = (tensor.dtype(), tensor.shape.clone());
    let fits =
        |affine: &MpsGraphTensor| affine.dtype() == dtype && affine.shape.as_slice() == &shape[shape.len() - 1..];
    if shape.is_empty() || !fits(&gamma) || !beta.as_ref().is_none_or(fits) {
        let given = [Some(&gamma), beta.as_ref()].map(|affine| affine.map(|affine| (affine.dtype(), &affine.shape)));
        invalid("layer_norm", format!("{dtype:?} {shape:?} with gamma and beta {given:?}"));
    }
    if shape.num_elements() == 0 {
        return tensor;
    }
    let last = shape.len() - 1;
    let mut row = vec![1; shape.len()];
    row[last] = shape[last];
    let affine = |affine: MpsGraphTensor| arithmetic::cast(affine.with_shape(row.clone().into()), DType::F32);

    let x = arithmetic::cast(tensor, DType::F32);
    let mean = reduction::mean_dim(x.clone(), last);
    let centered = arithmetic::binary(BinaryOp::Sub, x, mean);
    let squares = arithmetic::binary(BinaryOp::Mul, centered.clone(), centered.clone());
    let variance = reduction::mean_dim(squares, last);
    let shifted = arithmetic::binary_scalar(BinaryOp::Add, variance, ScalarInput::Float(epsilon));
    // A quotient for each row, not for each element.
    let scale = arithmetic::unary(UnaryOp::Recip, arithmetic::unary(UnaryOp::Sqrt, shifted));
    let normalized = arithmetic::binary(BinaryOp::Mul, centered, scale);
    let scaled = arithmetic::binary(BinaryOp::Mul, normalized, affine(gamma));
    let moved = match beta {
        Some(beta) => arithmetic::binary(BinaryOp::Add, scaled, affine(beta)),
        None => scaled,
    };
    arithmetic::cast(moved, dtype)
}
