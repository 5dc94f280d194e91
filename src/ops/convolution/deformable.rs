//! Deformable convolutions, whose taps meet the image at places of their own, and all their gradients.
//!
//! MPSGraph has none. The samples that all taps meet are read into columns ([`samples`]), and a matrix product with the
//! weights sums them. All is computed in f32 and rounded once.
//!
//! Channels that share offsets and weights are neighbours, so they are read and written together: a *bundle*. A row of
//! the columns is one bundle at one tap, and the rows' order is (weight group, image, output pixel, bundle of the
//! group, tap), so each weight group has a matrix of its own without another copy. Weight groups that share all their
//! offsets are sampled as one, so that neighbours and distances are computed once for all their channels, and then
//! taken apart.

mod corners;
mod layout;
mod operands;
mod samples;

use burn_backend::ops::DeformConvOptions;
use burn_backend::{DType, Shape, TensorMetadata};

use self::layout::Layout;
pub(super) use self::samples::DeformableOp;
use super::{begin, bias_backward, check_bias, check_grad, finish, wide};
use crate::ops::arithmetic::cast;
use crate::ops::matrix_multiplication::matmul;
use crate::ops::{memory, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// The gradients of [`deform_conv2d`].
pub(crate) struct Gradients {
    pub x: MpsGraphTensor,
    pub offset: MpsGraphTensor,
    pub weight: MpsGraphTensor,
    pub mask: Option<MpsGraphTensor>,
    pub bias: Option<MpsGraphTensor>,
}

/// `x (batch, inputs, height, width)` convolved with `weight (outputs, inputs of a weight group, kernel height, kernel
/// width)`, plus `bias (outputs)`. Each tap of each output pixel meets the image at its usual place plus y and x of
/// `offset (batch, offset groups * taps * 2, rows, columns)`, between pixels by bilinear interpolation; pixels outside
/// are 0. What it meets is multiplied with `mask (batch, offset groups * taps, rows, columns)`.
pub(crate) fn deform_conv2d(
    x: MpsGraphTensor,
    offset: MpsGraphTensor,
    weight: MpsGraphTensor,
    mask: Option<MpsGraphTensor>,
    bias: Option<MpsGraphTensor>,
    options: DeformConvOptions<2>,
) -> MpsGraphTensor {
    const NAME: &str = "deform_conv2d";
    let operands = [Some(&x), Some(&offset), Some(&weight), mask.as_ref(), bias.as_ref()];
    let (_call, dtype) = begin(NAME, &operands);
    let layout = Layout::of(NAME, [&x, &offset, &weight], mask.as_ref(), &options);
    let shape = layout.output_shape();
    check_bias(NAME, bias.as_ref(), shape[1]);
    if has_no_products([&x.shape, &weight.shape, &shape]) {
        return finish(memory::zeros(shape, DType::F32), bias, dtype);
    }
    let sampled = layout.of_samples();
    let places = sampled.places(wide(offset), mask.map(wide));
    let columns = layout.apart(sampled.columns(&sampled.pixels(wide(x)), &places));
    let product = matmul(layout.matrices(wide(weight)), tensor_shape::transpose(columns));
    finish(layout.images(product), bias, dtype)
}

/// Gradients of [`deform_conv2d`] for all its operands.
pub(crate) fn deform_conv2d_backward(
    x: MpsGraphTensor,
    offset: MpsGraphTensor,
    weight: MpsGraphTensor,
    mask: Option<MpsGraphTensor>,
    bias: Option<MpsGraphTensor>,
    output_grad: MpsGraphTensor,
    options: DeformConvOptions<2>,
) -> Gradients {
    const NAME: &str = "deform_conv2d_backward";
    let operands = [Some(&x), Some(&offset), Some(&weight), mask.as_ref(), bias.as_ref(), Some(&output_grad)];
    let (_call, dtype) = begin(NAME, &operands);
    let layout = Layout::of(NAME, [&x, &offset, &weight], mask.as_ref(), &options);
    let shape = layout.output_shape();
    check_bias(NAME, bias.as_ref(), shape[1]);
    check_grad(NAME, &output_grad, &shape);
    let bias = bias.map(|bias| bias_backward(NAME, bias, output_grad.clone()));
    if has_no_products([&x.shape, &weight.shape, &shape]) {
        let zeros = |tensor: MpsGraphTensor| memory::zeros(tensor.shape(), dtype);
        return Gradients { x: zeros(x), offset: zeros(offset), weight: zeros(weight), mask: mask.map(zeros), bias };
    }
    let rounded = |grad: MpsGraphTensor| cast(grad, dtype);
    let sampled = layout.of_samples();
    let places = sampled.places(wide(offset), mask.map(wide));
    let pixels = sampled.pixels(wide(x));
    let grad = layout.by_weight_group(wide(output_grad));
    let weight_grad = layout.weight_of(matmul(grad.clone(), layout.apart(sampled.columns(&pixels, &places))));
    let columns_grad = layout.together(matmul(tensor_shape::transpose(grad), layout.matrices(wide(weight))));
    let (offset, mask) = sampled.places_gradient(&columns_grad, &pixels, &places);
    let pixels_grad = sampled.pixels_gradient(&columns_grad, &places);
    Gradients {
        x: rounded(sampled.images_of_pixels(pixels_grad)),
        offset: rounded(offset),
        weight: rounded(weight_grad),
        mask: mask.map(rounded),
        bias,
    }
}

/// Whether there is nothing to multiply: neither output nor gradients depend on the operands, the bias apart.
fn has_no_products(shapes: [&Shape; 3]) -> bool {
    shapes.into_iter().any(|shape| shape.num_elements() == 0)
}
