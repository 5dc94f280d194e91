//! Convolutions of one, two and three dimensions, transposed and deformable ones, and all their gradients.
//!
//! Each but the deformable ([`deformable`]) is one of three of a plain convolution ([`Convolution`]): the output, the
//! gradient for the input, or that for the weights. A transposed convolution is the gradient for the input (MPSGraph's
//! own form is wrong for strides that differ, as tillahoffmann/jax-mps found). Missing dimensions have one element; the
//! depth is turned into channels ([`depth`]), so that MPSGraph sees images only: in three dimensions it has been
//! silently wrong (pytorch/pytorch#197114, macOS 26.2).
//!
//! 16-bit floats are computed in f32, bias included, and rounded once: nothing is published of how MPSGraph sums them.

mod channels;
mod deformable;
mod depth;
mod extents;
mod filter;
mod transposed;

use burn_backend::ops::ConvOptions;
use burn_backend::{DType, Shape, TensorMetadata};
use smallvec::SmallVec;

pub(crate) use deformable::{deform_conv2d, deform_conv2d_backward};
pub(crate) use transposed::{conv_transpose, conv_transpose_weight_backward, conv_transpose_x_backward};

use self::deformable::DeformableOp;
use self::extents::{Convolution, SPATIAL};
use self::transposed::with_zeros;
use super::arithmetic::{self, BinaryOp, cast};
use super::{Operation, memory, reduction};
use crate::bridge::{check_size, record};
use crate::error::{Call, invalid};
use crate::ffi::{self, ConvolutionDescriptor, Window};
use crate::lowering::conversion::computed_in;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A recorded part of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ConvolutionOp {
    Image(ImageOp),
    Deformable(DeformableOp),
}

/// A convolution of images of f32, or a gradient of it. All shapes are (batch or outputs, channels, height, width).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ImageOp {
    wanted: Wanted,
    /// Along height and width.
    windows: [Window; 2],
    groups: usize,
}

/// What of a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    /// Of `[input, weights]`.
    Output,
    /// Of `[output gradient, weights]`.
    InputGradient,
    /// Of `[output gradient, input]`.
    WeightsGradient,
}

impl Operation for ConvolutionOp {
    fn name(&self) -> &'static str {
        match self {
            ConvolutionOp::Image(op) => op.name(),
            ConvolutionOp::Deformable(op) => op.name(),
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        match self {
            ConvolutionOp::Image(op) => op.lower(cx, inputs, output),
            ConvolutionOp::Deformable(op) => op.lower(cx, inputs, output),
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reads_packed(&self) -> bool {
        match self {
            ConvolutionOp::Image(_) => true,
            ConvolutionOp::Deformable(_) => false,
        }
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        match self {
            ConvolutionOp::Image(_) => Reshapes::Nothing,
            ConvolutionOp::Deformable(_) => Reshapes::AnyShape,
        }
    }

    /// By one report level 1 permutes the channels of convolutions.
    fn fits_level_1(&self) -> bool {
        false
    }
}

impl ImageOp {
    fn name(&self) -> &'static str {
        match self.wanted {
            Wanted::Output => "convolution",
            Wanted::InputGradient => "convolution_input_gradient",
            Wanted::WeightsGradient => "convolution_weights_gradient",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let graph = cx.graph();
        let descriptor = ConvolutionDescriptor::new(self.windows, self.groups);
        let [a, b] = [&inputs[0].tensor, &inputs[1].tensor];
        match self.wanted {
            Wanted::Output => graph.convolution_2d(a, b, &descriptor),
            Wanted::InputGradient => graph.convolution_2d_data_gradient(a, b, &output.shape, &descriptor),
            Wanted::WeightsGradient => graph.convolution_2d_weights_gradient(a, b, &output.shape, &descriptor),
        }
    }
}

/// Burn's name of a method in `N` dimensions.
fn name<const N: usize>(names: [&'static str; SPATIAL]) -> &'static str {
    names[N - 1]
}

/// `x (batch, inputs, …)` convolved with `weight (outputs, inputs of a group, …)`, plus `bias (outputs)`.
pub(crate) fn conv<const N: usize>(
    x: MpsGraphTensor,
    weight: MpsGraphTensor,
    bias: Option<MpsGraphTensor>,
    options: ConvOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>(["conv1d", "conv2d", "conv3d"]);
    let (_call, dtype) = begin(name, &[Some(&x), Some(&weight), bias.as_ref()]);
    let convolution = Convolution::of(name, [&x, &weight], &options);
    let shape = convolution.output_shape(N);
    check_size(name, &TensorType::new(DType::F32, shape.clone()));
    check_bias(name, bias.as_ref(), shape[1]);
    let output = convolution.output(wide(x), wide(weight));
    finish(output.with_shape(shape), bias, dtype)
}

/// Gradient of [`conv`] for its input.
pub(crate) fn conv_x_backward<const N: usize>(
    x: MpsGraphTensor,
    weight: MpsGraphTensor,
    output_grad: MpsGraphTensor,
    options: ConvOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>(["conv1d_x_backward", "conv2d_x_backward", "conv3d_x_backward"]);
    let (_call, dtype) = begin(name, &[Some(&x), Some(&weight), Some(&output_grad)]);
    let convolution = Convolution::of(name, [&x, &weight], &options);
    check_grad(name, &output_grad, &convolution.output_shape(N));
    let shape = x.shape();
    drop(x);
    let (convolution, rest) = convolution.of_input_gradient();
    let grad = with_zeros(convolution.input_gradient(wide(output_grad), wide(weight)), rest);
    cast(grad.with_shape(shape), dtype)
}

/// Gradient of [`conv`] for its weight.
pub(crate) fn conv_weight_backward<const N: usize>(
    x: MpsGraphTensor,
    weight: MpsGraphTensor,
    output_grad: MpsGraphTensor,
    options: ConvOptions<N>,
) -> MpsGraphTensor {
    let name = name::<N>(["conv1d_weight_backward", "conv2d_weight_backward", "conv3d_weight_backward"]);
    let (_call, dtype) = begin(name, &[Some(&x), Some(&weight), Some(&output_grad)]);
    let convolution = Convolution::of(name, [&x, &weight], &options);
    check_grad(name, &output_grad, &convolution.output_shape(N));
    let shape = weight.shape();
    drop(weight);
    let grad = convolution.weights_gradient(wide(output_grad), wide(x));
    cast(grad.with_shape(shape), dtype)
}

/// Gradient of any convolution for its bias: the sums of each channel.
pub(crate) fn bias_backward(name: &'static str, bias: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
    let (_call, dtype) = begin(name, &[Some(&bias), Some(&output_grad)]);
    if output_grad.rank() < 3 || bias.shape[..] != [output_grad.shape[1]] {
        invalid(
            name,
            format!("bias {:?}, output gradient {:?}: one number for each channel", bias.dims(), output_grad.dims()),
        );
    }
    let [batch, channels] = [output_grad.shape[0], output_grad.shape[1]];
    let positions = output_grad.shape[2..].iter().product();
    let grad = wide(output_grad).with_shape(Shape::new([batch, channels, positions]));
    let samples = reduction::sum_dim(grad, 2).with_shape(Shape::new([batch, channels]));
    let sums = if batch == 1 { samples } else { reduction::sum_dim(samples, 0) };
    cast(sums.with_shape(bias.shape()), dtype)
}

/// Begins a call on these tensors, and tells the float dtype that all have.
fn begin(name: &'static str, tensors: &[Option<&MpsGraphTensor>]) -> (Call, DType) {
    let operands: SmallVec<[_; 6]> = tensors.iter().flatten().map(|tensor| tensor.typed()).collect();
    let call = Call::begin(name, operands.iter().copied());
    let (dtype, _) = operands[0];
    if !dtype.is_float() || operands.iter().any(|(other, _)| *other != dtype) {
        invalid(name, format!("operands {operands:?}: all must be the same float dtype, so cast them"));
    }
    (call, dtype)
}

/// The dtype in which convolutions are computed.
fn wide(tensor: MpsGraphTensor) -> MpsGraphTensor {
    let dtype = computed_in(tensor.dtype());
    cast(tensor, dtype)
}

fn check_bias(name: &'static str, bias: Option<&MpsGraphTensor>, channels: usize) {
    if let Some(bias) = bias
        && bias.shape[..] != [channels]
    {
        invalid(
            name,
            format!("bias of shape {:?} for {channels} output channels: it must be [{channels}]", bias.dims()),
        );
    }
}

fn check_grad(name: &'static str, grad: &MpsGraphTensor, shape: &Shape) {
    if grad.shape != *shape {
        invalid(
            name,
            format!("output gradient of shape {:?}: it must have the output's, {:?}", grad.dims(), &shape[..]),
        );
    }
}

/// Adds the bias of each channel and rounds to `dtype`.
fn finish(output: MpsGraphTensor, bias: Option<MpsGraphTensor>, dtype: DType) -> MpsGraphTensor {
    let Some(bias) = bias else { return cast(output, dtype) };
    let mut shape = vec![1; output.rank()];
    shape[1] = output.shape[1];
    cast(arithmetic::binary(BinaryOp::Add, output, wide(bias).with_shape(shape.into())), dtype)
}

/// The sum of what parts of a convolution come to, if there are any.
fn sum(parts: impl Iterator<Item = MpsGraphTensor>) -> Option<MpsGraphTensor> {
    parts.reduce(|sum, part| arithmetic::binary(BinaryOp::Add, sum, part))
}

/// Records one node, or answers what has no elements or sums none.
fn node(op: ImageOp, [a, b]: [&MpsGraphTensor; 2], shape: [usize; 4]) -> MpsGraphTensor {
    let output = TensorType::new(DType::F32, shape.into());
    if [&a.shape, &b.shape, &output.shape].iter().any(|shape| shape.num_elements() == 0) {
        return memory::zeros(output.shape, DType::F32);
    }
    record(ConvolutionOp::Image(op).into(), &[a, b], &[], output)
}
