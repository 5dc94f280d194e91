//! A transposed convolution is the gradient of a plain one for its input. So its own gradient for its input is the
//! output of the plain one.

use burn_backend::ops::ConvTransposeOptions;
use burn_backend::{DType, Shape, Slice, TensorMetadata};

use super::extents::{Convolution, SPATIAL};
use super::{begin, check_bias, check_grad, finish, name, wide};
use crate::bridge::check_size;
use crate::error::invalid;
use crate::ops::arithmetic::cast;
use crate::ops::{memory, tensor_shape};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The transposed convolution of `x (batch, inputs, …)` with `weight (inputs, outputs of a group, …)`, plus `bias
/// (outputs)`.
pub(crate) fn conv_transpose<const N: usize>(
    x: MpsGraphTensor,
    weight: MpsGraphTensor,
    bias: Option<MpsGraphTensor>,
    options: ConvTransposeOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>(["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]);
    let (_call, dtype) = begin(name, &[Some(&x), Some(&weight), bias.as_ref()]);
    let (convolution, rest) = Convolution::of_transposed(name, [&x.shape, &weight.shape], &options);
    let shape = output_shape::<N>(&convolution, rest);
    check_size(name, &TensorType::new(DType::F32, shape.clone()));
    check_bias(name, bias.as_ref(), convolution.channels[0]);
    let output = with_zeros(convolution.input_gradient(wide(x), wide(weight)), rest);
    finish(output.with_shape(shape), bias, dtype)
}

/// Gradient of [`conv_transpose`] for its input.
pub(crate) fn conv_transpose_x_backward<const N: usize>(
    weight: MpsGraphTensor,
    output_grad: MpsGraphTensor,
    options: ConvTransposeOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>(["conv_transpose1d_x_backward", "conv_transpose2d_x_backward", "conv_transpose3d_x_backward"]);
    let (_call, dtype) = begin(name, &[Some(&weight), Some(&output_grad)]);
    let x = input_shape(name, [&weight.shape, &output_grad.shape], &options);
    let (convolution, rest) = Convolution::of_transposed(name, [&x, &weight.shape], &options);
    check_grad(name, &output_grad, &output_shape::<N>(&convolution, rest));
    let grad = convolution.output(seen::<N>(&convolution, wide(output_grad), rest), wide(weight));
    cast(grad.with_shape(x), dtype)
}

/// Gradient of [`conv_transpose`] for its weight.
pub(crate) fn conv_transpose_weight_backward<const N: usize>(
    x: MpsGraphTensor,
    weight: MpsGraphTensor,
    output_grad: MpsGraphTensor,
    options: ConvTransposeOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>([
        "conv_transpose1d_weight_backward",
        "conv_transpose2d_weight_backward",
        "conv_transpose3d_weight_backward",
    ]);
    let (_call, dtype) = begin(name, &[Some(&x), Some(&weight), Some(&output_grad)]);
    let (convolution, rest) = Convolution::of_transposed(name, [&x.shape, &weight.shape], &options);
    check_grad(name, &output_grad, &output_shape::<N>(&convolution, rest));
    let shape = weight.shape();
    drop(weight);
    let seen = seen::<N>(&convolution, wide(output_grad), rest);
    let grad = convolution.weights_gradient(wide(x), seen);
    cast(grad.with_shape(shape), dtype)
}

/// A gradient for an input, and so many zeros behind it along each dimension.
pub(super) fn with_zeros(mut grad: MpsGraphTensor, rest: [usize; SPATIAL]) -> MpsGraphTensor {
    for (axis, &zeros) in rest.iter().enumerate().filter(|(_, zeros)| **zeros > 0) {
        let mut shape = grad.shape();
        shape[2 + axis] = zeros;
        let zeros = memory::zeros(shape, grad.dtype());
        grad = tensor_shape::cat(vec![grad, zeros], 2 + axis);
    }
    grad
}

/// Shape of the transposed convolution's output.
fn output_shape<const N: usize>(convolution: &Convolution, rest: [usize; SPATIAL]) -> Shape {
    let mut shape = convolution.input_shape(N);
    for (extent, rest) in shape[2..].iter_mut().zip(&rest[SPATIAL - N..]) {
        *extent += rest;
    }
    shape
}

/// The part of the output's gradient that the filter has met.
fn seen<const N: usize>(convolution: &Convolution, grad: MpsGraphTensor, rest: [usize; SPATIAL]) -> MpsGraphTensor {
    if rest == [0; SPATIAL] {
        return grad;
    }
    let slices: Vec<Slice> =
        convolution.input_shape(N).iter().map(|&extent| Slice::new(0, Some(extent as isize), 1)).collect();
    tensor_shape::slice(grad, &slices)
}

/// Shape of the input, of which a gradient of this shape came.
fn input_shape<const N: usize>(
    name: &'static str,
    [weight, grad]: [&Shape; 2],
    options: &ConvTransposeOptions<N>,
) -> Shape {
    let wrong = |rule: &str| -> ! {
        invalid(name, format!("weight {:?}, output gradient {:?}, {options:?}: {rule}", &weight[..], &grad[..]))
    };
    if [weight, grad].iter().any(|shape| shape.num_dims() != N + 2) || options.stride.contains(&0) {
        wrong("a dimension for each of the filter's and two more, and strides of 1 or more");
    }
    let mut shape = Shape::new([grad[0], weight[0]]);
    for at in 0..N {
        let reach = options.dilation[at] * weight[2 + at].saturating_sub(1) + 1;
        let Some(steps) = (grad[2 + at] + 2 * options.padding[at]).checked_sub(reach + options.padding_out[at]) else {
            wrong("the gradient has fewer elements than the output of one input element");
        };
        shape.push(steps / options.stride[at] + 1);
    }
    shape
}
