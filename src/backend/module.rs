//! Burn's neural network operations: what each one is, is in `ops`. `unfold4d` without padding and dilation is Burn's
//! own composition of recorded ops.

use burn_backend::ops::{
    AttentionModuleOptions, ConvOptions, ConvTransposeOptions, DeformConv2dBackward, DeformConvOptions,
    InterpolateOptions, MaxPool1dBackward, MaxPool1dWithIndices, MaxPool2dBackward, MaxPool2dWithIndices, ModuleOps,
};

use super::{FloatElement, IntElement, MpsGraph, not_yet};
use crate::ops::{fourier_transform, gather, loss, matrix_multiplication, normalization, scatter_nd};
use crate::tensor::MpsGraphTensor as Tensor;

impl<F: FloatElement, I: IntElement> ModuleOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn embedding(weights: Tensor, indices: Tensor) -> Tensor {
        gather::embedding(weights, indices)
    }

    fn embedding_backward(weights: Tensor, output_grad: Tensor, indices: Tensor) -> Tensor {
        scatter_nd::embedding_backward(weights, output_grad, indices)
    }

    fn linear(x: Tensor, weight: Tensor, bias: Option<Tensor>) -> Tensor {
        matrix_multiplication::linear(x, weight, bias)
    }

    fn linear_x_backward(weight: Tensor, output_grad: Tensor) -> Tensor {
        matrix_multiplication::linear_x_backward(weight, output_grad)
    }

    fn linear_weight_backward(x: Tensor, output_grad: Tensor) -> Tensor {
        matrix_multiplication::linear_weight_backward(x, output_grad)
    }

    fn linear_bias_backward(output_grad: Tensor) -> Tensor {
        matrix_multiplication::linear_bias_backward(output_grad)
    }

    fn layer_norm(tensor: Tensor, gamma: Tensor, beta: Option<Tensor>, epsilon: f64) -> Tensor {
        normalization::layer_norm(tensor, gamma, beta, epsilon)
    }

    fn attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Option<Tensor>,
        attn_bias: Option<Tensor>,
        options: AttentionModuleOptions,
    ) -> Tensor {
        matrix_multiplication::attention(query, key, value, mask, attn_bias, options)
    }

    fn conv1d(_x: Tensor, _weight: Tensor, _bias: Option<Tensor>, _options: ConvOptions<1>) -> Tensor {
        not_yet("conv1d")
    }

    fn conv1d_x_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<1>) -> Tensor {
        not_yet("conv1d_x_backward")
    }

    fn conv1d_weight_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<1>) -> Tensor {
        not_yet("conv1d_weight_backward")
    }

    fn conv1d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv1d_bias_backward")
    }

    fn conv2d(_x: Tensor, _weight: Tensor, _bias: Option<Tensor>, _options: ConvOptions<2>) -> Tensor {
        not_yet("conv2d")
    }

    fn conv2d_x_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<2>) -> Tensor {
        not_yet("conv2d_x_backward")
    }

    fn conv2d_weight_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<2>) -> Tensor {
        not_yet("conv2d_weight_backward")
    }

    fn conv2d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv2d_bias_backward")
    }

    fn conv3d(_x: Tensor, _weight: Tensor, _bias: Option<Tensor>, _options: ConvOptions<3>) -> Tensor {
        not_yet("conv3d")
    }

    fn conv3d_x_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<3>) -> Tensor {
        not_yet("conv3d_x_backward")
    }

    fn conv3d_weight_backward(_x: Tensor, _weight: Tensor, _output_grad: Tensor, _options: ConvOptions<3>) -> Tensor {
        not_yet("conv3d_weight_backward")
    }

    fn conv3d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv3d_bias_backward")
    }

    fn deform_conv2d(
        _x: Tensor,
        _offset: Tensor,
        _weight: Tensor,
        _mask: Option<Tensor>,
        _bias: Option<Tensor>,
        _options: DeformConvOptions<2>,
    ) -> Tensor {
        not_yet("deform_conv2d")
    }

    fn deform_conv2d_backward(
        _x: Tensor,
        _offset: Tensor,
        _weight: Tensor,
        _mask: Option<Tensor>,
        _bias: Option<Tensor>,
        _output_grad: Tensor,
        _options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Self> {
        not_yet("deform_conv2d_backward")
    }

    fn conv_transpose1d(
        _x: Tensor,
        _weight: Tensor,
        _bias: Option<Tensor>,
        _options: ConvTransposeOptions<1>,
    ) -> Tensor {
        not_yet("conv_transpose1d")
    }

    fn conv_transpose1d_x_backward(_weight: Tensor, _output_grad: Tensor, _options: ConvTransposeOptions<1>) -> Tensor {
        not_yet("conv_transpose1d_x_backward")
    }

    fn conv_transpose1d_weight_backward(
        _x: Tensor,
        _weight: Tensor,
        _output_grad: Tensor,
        _options: ConvTransposeOptions<1>,
    ) -> Tensor {
        not_yet("conv_transpose1d_weight_backward")
    }

    fn conv_transpose1d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv_transpose1d_bias_backward")
    }

    fn conv_transpose2d(
        _x: Tensor,
        _weight: Tensor,
        _bias: Option<Tensor>,
        _options: ConvTransposeOptions<2>,
    ) -> Tensor {
        not_yet("conv_transpose2d")
    }

    fn conv_transpose2d_x_backward(_weight: Tensor, _output_grad: Tensor, _options: ConvTransposeOptions<2>) -> Tensor {
        not_yet("conv_transpose2d_x_backward")
    }

    fn conv_transpose2d_weight_backward(
        _x: Tensor,
        _weight: Tensor,
        _output_grad: Tensor,
        _options: ConvTransposeOptions<2>,
    ) -> Tensor {
        not_yet("conv_transpose2d_weight_backward")
    }

    fn conv_transpose2d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv_transpose2d_bias_backward")
    }

    fn conv_transpose3d(
        _x: Tensor,
        _weight: Tensor,
        _bias: Option<Tensor>,
        _options: ConvTransposeOptions<3>,
    ) -> Tensor {
        not_yet("conv_transpose3d")
    }

    fn conv_transpose3d_x_backward(_weight: Tensor, _output_grad: Tensor, _options: ConvTransposeOptions<3>) -> Tensor {
        not_yet("conv_transpose3d_x_backward")
    }

    fn conv_transpose3d_weight_backward(
        _x: Tensor,
        _weight: Tensor,
        _output_grad: Tensor,
        _options: ConvTransposeOptions<3>,
    ) -> Tensor {
        not_yet("conv_transpose3d_weight_backward")
    }

    fn conv_transpose3d_bias_backward(_x: Tensor, _bias: Tensor, _output_grad: Tensor) -> Tensor {
        not_yet("conv_transpose3d_bias_backward")
    }

    fn avg_pool1d(
        _x: Tensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("avg_pool1d")
    }

    fn avg_pool1d_backward(
        _x: Tensor,
        _grad: Tensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("avg_pool1d_backward")
    }

    fn adaptive_avg_pool1d(_x: Tensor, _output_size: usize) -> Tensor {
        not_yet("adaptive_avg_pool1d")
    }

    fn adaptive_avg_pool1d_backward(_x: Tensor, _grad: Tensor) -> Tensor {
        not_yet("adaptive_avg_pool1d_backward")
    }

    fn max_pool1d(
        _x: Tensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("max_pool1d")
    }

    fn max_pool1d_with_indices(
        _x: Tensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
    ) -> MaxPool1dWithIndices<Self> {
        not_yet("max_pool1d_with_indices")
    }

    fn max_pool1d_with_indices_backward(
        _x: Tensor,
        _kernel_size: usize,
        _stride: usize,
        _padding: usize,
        _dilation: usize,
        _ceil_mode: bool,
        _output_grad: Tensor,
        _indices: Tensor,
    ) -> MaxPool1dBackward<Self> {
        not_yet("max_pool1d_with_indices_backward")
    }

    fn avg_pool2d(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("avg_pool2d")
    }

    fn avg_pool2d_backward(
        _x: Tensor,
        _grad: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _count_include_pad: bool,
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("avg_pool2d_backward")
    }

    fn adaptive_avg_pool2d(_x: Tensor, _output_size: [usize; 2]) -> Tensor {
        not_yet("adaptive_avg_pool2d")
    }

    fn adaptive_avg_pool2d_backward(_x: Tensor, _grad: Tensor) -> Tensor {
        not_yet("adaptive_avg_pool2d_backward")
    }

    fn max_pool2d(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> Tensor {
        not_yet("max_pool2d")
    }

    fn max_pool2d_with_indices(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
    ) -> MaxPool2dWithIndices<Self> {
        not_yet("max_pool2d_with_indices")
    }

    fn max_pool2d_with_indices_backward(
        _x: Tensor,
        _kernel_size: [usize; 2],
        _stride: [usize; 2],
        _padding: [usize; 2],
        _dilation: [usize; 2],
        _ceil_mode: bool,
        _output_grad: Tensor,
        _indices: Tensor,
    ) -> MaxPool2dBackward<Self> {
        not_yet("max_pool2d_with_indices_backward")
    }

    fn interpolate(_x: Tensor, _output_size: [usize; 2], _options: InterpolateOptions) -> Tensor {
        not_yet("interpolate")
    }

    fn interpolate_backward(
        _x: Tensor,
        _grad: Tensor,
        _output_size: [usize; 2],
        _options: InterpolateOptions,
    ) -> Tensor {
        not_yet("interpolate_backward")
    }

    fn ctc_loss(
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor,
        target_lengths: Tensor,
        blank: usize,
    ) -> Tensor {
        loss::ctc_loss(log_probs, targets, input_lengths, target_lengths, blank)
    }

    fn has_ctc_loss_backward() -> bool {
        true
    }

    fn ctc_loss_backward(
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor,
        target_lengths: Tensor,
        grad_loss: Tensor,
        blank: usize,
    ) -> Tensor {
        loss::ctc_loss_backward(log_probs, targets, input_lengths, target_lengths, grad_loss, blank)
    }

    fn rfft(signal: Tensor, dim: usize, n: Option<usize>) -> (Tensor, Tensor) {
        fourier_transform::rfft(signal, dim, n)
    }

    fn irfft(spectrum_re: Tensor, spectrum_im: Tensor, dim: usize, n: Option<usize>) -> Tensor {
        fourier_transform::irfft(spectrum_re, spectrum_im, dim, n)
    }
}
