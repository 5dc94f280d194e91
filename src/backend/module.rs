//! Burn's neural network operations.
//!
//! Embeddings, linear layers, layer normalization and attention are recorded, as is `unfold4d` without padding and
//! dilation (Burn's own composition). Convolutions, pooling, resizing, Fourier transforms and the CTC loss are not
//! implemented yet.

use burn_backend::ops::{
    AttentionModuleOptions, ConvOptions, ConvTransposeOptions, DeformConv2dBackward, DeformConvOptions,
    InterpolateOptions, MaxPool1dBackward, MaxPool1dWithIndices, MaxPool2dBackward, MaxPool2dWithIndices, ModuleOps,
};

use super::{FloatElement, IntElement, MpsGraph, not_yet};
use crate::ops::{gather, matrix_multiplication, normalization, scatter_nd};
use crate::tensor::MpsGraphTensor;

impl<F: FloatElement, I: IntElement> ModuleOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn embedding(weights: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::embedding(weights, indices)
    }

    fn embedding_backward(
        weights: MpsGraphTensor,
        output_grad: MpsGraphTensor,
        indices: MpsGraphTensor,
    ) -> MpsGraphTensor {
        scatter_nd::embedding_backward(weights, output_grad, indices)
    }

    fn linear(x: MpsGraphTensor, weight: MpsGraphTensor, bias: Option<MpsGraphTensor>) -> MpsGraphTensor {
        matrix_multiplication::linear(x, weight, bias)
    }

    fn linear_x_backward(weight: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
        matrix_multiplication::linear_x_backward(weight, output_grad)
    }

    fn linear_weight_backward(x: MpsGraphTensor, output_grad: MpsGraphTensor) -> MpsGraphTensor {
        matrix_multiplication::linear_weight_backward(x, output_grad)
    }

    fn linear_bias_backward(output_grad: MpsGraphTensor) -> MpsGraphTensor {
        matrix_multiplication::linear_bias_backward(output_grad)
    }

    fn layer_norm(
        tensor: MpsGraphTensor,
        gamma: MpsGraphTensor,
        beta: Option<MpsGraphTensor>,
        epsilon: f64,
    ) -> MpsGraphTensor {
        normalization::layer_norm(tensor, gamma, beta, epsilon)
    }

    fn attention(
        query: MpsGraphTensor,
        key: MpsGraphTensor,
        value: MpsGraphTensor,
        mask: Option<MpsGraphTensor>,
        attn_bias: Option<MpsGraphTensor>,
        options: AttentionModuleOptions,
    ) -> MpsGraphTensor {
        matrix_multiplication::attention(query, key, value, mask, attn_bias, options)
    }

    fn conv1d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv1d")
    }

    fn conv1d_x_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv1d_x_backward")
    }

    fn conv1d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv1d_weight_backward")
    }

    fn conv1d_bias_backward(_x: MpsGraphTensor, _bias: MpsGraphTensor, _output_grad: MpsGraphTensor) -> MpsGraphTensor {
        not_yet("conv1d_bias_backward")
    }

    fn conv2d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv2d")
    }

    fn conv2d_x_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv2d_x_backward")
    }

    fn conv2d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv2d_weight_backward")
    }

    fn conv2d_bias_backward(_x: MpsGraphTensor, _bias: MpsGraphTensor, _output_grad: MpsGraphTensor) -> MpsGraphTensor {
        not_yet("conv2d_bias_backward")
    }

    fn conv3d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv3d")
    }

    fn conv3d_x_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv3d_x_backward")
    }

    fn conv3d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv3d_weight_backward")
    }

    fn conv3d_bias_backward(_x: MpsGraphTensor, _bias: MpsGraphTensor, _output_grad: MpsGraphTensor) -> MpsGraphTensor {
        not_yet("conv3d_bias_backward")
    }

    fn deform_conv2d(
        _x: MpsGraphTensor,
        _offset: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _mask: Option<MpsGraphTensor>,
        _bias: Option<MpsGraphTensor>,
        _options: DeformConvOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("deform_conv2d")
    }

    fn deform_conv2d_backward(
        _x: MpsGraphTensor,
        _offset: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _mask: Option<MpsGraphTensor>,
        _bias: Option<MpsGraphTensor>,
        _output_grad: MpsGraphTensor,
        _options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Self> {
        not_yet("deform_conv2d_backward")
    }

    fn conv_transpose1d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvTransposeOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose1d")
    }

    fn conv_transpose1d_x_backward(
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose1d_x_backward")
    }

    fn conv_transpose1d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<1>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose1d_weight_backward")
    }

    fn conv_transpose1d_bias_backward(
        _x: MpsGraphTensor,
        _bias: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose1d_bias_backward")
    }

    fn conv_transpose2d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvTransposeOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose2d")
    }

    fn conv_transpose2d_x_backward(
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose2d_x_backward")
    }

    fn conv_transpose2d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<2>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose2d_weight_backward")
    }

    fn conv_transpose2d_bias_backward(
        _x: MpsGraphTensor,
        _bias: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose2d_bias_backward")
    }

    fn conv_transpose3d(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _bias: Option<MpsGraphTensor>,
        _options: ConvTransposeOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose3d")
    }

    fn conv_transpose3d_x_backward(
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose3d_x_backward")
    }

    fn conv_transpose3d_weight_backward(
        _x: MpsGraphTensor,
        _weight: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
        _options: ConvTransposeOptions<3>,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose3d_weight_backward")
    }

    fn conv_transpose3d_bias_backward(
        _x: MpsGraphTensor,
        _bias: MpsGraphTensor,
        _output_grad: MpsGraphTensor,
    ) -> MpsGraphTensor {
        not_yet("conv_transpose3d_bias_backward")
    }

    fn avg_pool1d(
        _x: MpsGraphTensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("avg_pool1d")
    }

    fn avg_pool1d_backward(
        _x: MpsGraphTensor,
        _grad: MpsGraphTensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("avg_pool1d_backward")
    }

    fn adaptive_avg_pool1d(_x: MpsGraphTensor, _output_size: usize) -> MpsGraphTensor {
        not_yet("adaptive_avg_pool1d")
    }

    fn adaptive_avg_pool1d_backward(_x: MpsGraphTensor, _grad: MpsGraphTensor) -> MpsGraphTensor {
        not_yet("adaptive_avg_pool1d_backward")
    }

    fn max_pool1d(
        _x: MpsGraphTensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("max_pool1d")
    }

    fn max_pool1d_with_indices(
        _x: MpsGraphTensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
    ) -> MaxPool1dWithIndices<Self> {
        not_yet("max_pool1d_with_indices")
    }

    fn max_pool1d_with_indices_backward(
        _x: MpsGraphTensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
        _output_grad: MpsGraphTensor,
        _indices: MpsGraphTensor,
    ) -> MaxPool1dBackward<Self> {
        not_yet("max_pool1d_with_indices_backward")
    }

    fn avg_pool2d(
        _x: MpsGraphTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("avg_pool2d")
    }

    fn avg_pool2d_backward(
        _x: MpsGraphTensor,
        _grad: MpsGraphTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("avg_pool2d_backward")
    }

    fn adaptive_avg_pool2d(_x: MpsGraphTensor, _output_size: [usize; 2]) -> MpsGraphTensor {
        not_yet("adaptive_avg_pool2d")
    }

    fn adaptive_avg_pool2d_backward(_x: MpsGraphTensor, _grad: MpsGraphTensor) -> MpsGraphTensor {
        not_yet("adaptive_avg_pool2d_backward")
    }

    fn max_pool2d(
        _x: MpsGraphTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> MpsGraphTensor {
        not_yet("max_pool2d")
    }

    fn max_pool2d_with_indices(
        _x: MpsGraphTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> MaxPool2dWithIndices<Self> {
        not_yet("max_pool2d_with_indices")
    }

    fn max_pool2d_with_indices_backward(
        _x: MpsGraphTensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
        _output_grad: MpsGraphTensor,
        _indices: MpsGraphTensor,
    ) -> MaxPool2dBackward<Self> {
        not_yet("max_pool2d_with_indices_backward")
    }

    fn interpolate(_x: MpsGraphTensor, _output_size: [usize; 2], _options: InterpolateOptions) -> MpsGraphTensor {
        not_yet("interpolate")
    }

    fn interpolate_backward(
        _x: MpsGraphTensor,
        _grad: MpsGraphTensor,
        _output_size: [usize; 2],
        _options: InterpolateOptions,
    ) -> MpsGraphTensor {
        not_yet("interpolate_backward")
    }

    fn ctc_loss(
        _log_probs: MpsGraphTensor,
        _targets: MpsGraphTensor,
        _input_lengths: MpsGraphTensor,
        _target_lengths: MpsGraphTensor,
        _blank: usize,
    ) -> MpsGraphTensor {
        not_yet("ctc_loss")
    }

    fn rfft(_signal: MpsGraphTensor, _dim: usize, _n: Option<usize>) -> (MpsGraphTensor, MpsGraphTensor) {
        not_yet("rfft")
    }

    fn irfft(
        _spectrum_re: MpsGraphTensor,
        _spectrum_im: MpsGraphTensor,
        _dim: usize,
        _n: Option<usize>,
    ) -> MpsGraphTensor {
        not_yet("irfft")
    }
}
