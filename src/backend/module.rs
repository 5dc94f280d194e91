//! Burn's neural network operations; `ops` defines each of them.

use burn_backend::ops::{
    AttentionModuleOptions, ConvOptions, ConvTransposeOptions, DeformConv2dBackward, DeformConvOptions,
    InterpolateOptions, MaxPool1dBackward, MaxPool1dWithIndices, MaxPool2dBackward, MaxPool2dWithIndices, ModuleOps,
    UnfoldOptions,
};

use super::{FloatElement, IntElement, MpsGraph};
use crate::burn::module_items;
use crate::ops::pooling::{self, Options};
use crate::ops::{convolution, gather, loss, matrix_multiplication, normalization, resize, scatter_nd, tensor_shape};
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

    fn conv1d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvOptions<1>) -> Tensor {
        convolution::conv(x, weight, bias, options)
    }

    fn conv1d_x_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<1>) -> Tensor {
        convolution::conv_x_backward(x, weight, output_grad, options)
    }

    fn conv1d_weight_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<1>) -> Tensor {
        convolution::conv_weight_backward(x, weight, output_grad, options)
    }

    fn conv1d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv1d_bias_backward", bias, output_grad)
    }

    fn conv2d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvOptions<2>) -> Tensor {
        convolution::conv(x, weight, bias, options)
    }

    fn conv2d_x_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<2>) -> Tensor {
        convolution::conv_x_backward(x, weight, output_grad, options)
    }

    fn conv2d_weight_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<2>) -> Tensor {
        convolution::conv_weight_backward(x, weight, output_grad, options)
    }

    fn conv2d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv2d_bias_backward", bias, output_grad)
    }

    fn conv3d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvOptions<3>) -> Tensor {
        convolution::conv(x, weight, bias, options)
    }

    fn conv3d_x_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<3>) -> Tensor {
        convolution::conv_x_backward(x, weight, output_grad, options)
    }

    fn conv3d_weight_backward(x: Tensor, weight: Tensor, output_grad: Tensor, options: ConvOptions<3>) -> Tensor {
        convolution::conv_weight_backward(x, weight, output_grad, options)
    }

    fn conv3d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv3d_bias_backward", bias, output_grad)
    }

    fn deform_conv2d(
        x: Tensor,
        offset: Tensor,
        weight: Tensor,
        mask: Option<Tensor>,
        bias: Option<Tensor>,
        options: DeformConvOptions<2>,
    ) -> Tensor {
        convolution::deform_conv2d(x, offset, weight, mask, bias, options)
    }

    fn deform_conv2d_backward(
        x: Tensor,
        offset: Tensor,
        weight: Tensor,
        mask: Option<Tensor>,
        bias: Option<Tensor>,
        output_grad: Tensor,
        options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Self> {
        let grads = convolution::deform_conv2d_backward(x, offset, weight, mask, bias, output_grad, options);
        DeformConv2dBackward::new(grads.x, grads.offset, grads.weight, grads.mask, grads.bias)
    }

    fn conv_transpose1d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvTransposeOptions<1>) -> Tensor {
        convolution::conv_transpose(x, weight, bias, options)
    }

    fn conv_transpose1d_x_backward(weight: Tensor, output_grad: Tensor, options: ConvTransposeOptions<1>) -> Tensor {
        convolution::conv_transpose_x_backward(weight, output_grad, options)
    }

    fn conv_transpose1d_weight_backward(
        x: Tensor,
        weight: Tensor,
        output_grad: Tensor,
        options: ConvTransposeOptions<1>,
    ) -> Tensor {
        convolution::conv_transpose_weight_backward(x, weight, output_grad, options)
    }

    fn conv_transpose1d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv_transpose1d_bias_backward", bias, output_grad)
    }

    fn conv_transpose2d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvTransposeOptions<2>) -> Tensor {
        convolution::conv_transpose(x, weight, bias, options)
    }

    fn conv_transpose2d_x_backward(weight: Tensor, output_grad: Tensor, options: ConvTransposeOptions<2>) -> Tensor {
        convolution::conv_transpose_x_backward(weight, output_grad, options)
    }

    fn conv_transpose2d_weight_backward(
        x: Tensor,
        weight: Tensor,
        output_grad: Tensor,
        options: ConvTransposeOptions<2>,
    ) -> Tensor {
        convolution::conv_transpose_weight_backward(x, weight, output_grad, options)
    }

    fn conv_transpose2d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv_transpose2d_bias_backward", bias, output_grad)
    }

    fn conv_transpose3d(x: Tensor, weight: Tensor, bias: Option<Tensor>, options: ConvTransposeOptions<3>) -> Tensor {
        convolution::conv_transpose(x, weight, bias, options)
    }

    fn conv_transpose3d_x_backward(weight: Tensor, output_grad: Tensor, options: ConvTransposeOptions<3>) -> Tensor {
        convolution::conv_transpose_x_backward(weight, output_grad, options)
    }

    fn conv_transpose3d_weight_backward(
        x: Tensor,
        weight: Tensor,
        output_grad: Tensor,
        options: ConvTransposeOptions<3>,
    ) -> Tensor {
        convolution::conv_transpose_weight_backward(x, weight, output_grad, options)
    }

    fn conv_transpose3d_bias_backward(_x: Tensor, bias: Tensor, output_grad: Tensor) -> Tensor {
        convolution::bias_backward("conv_transpose3d_bias_backward", bias, output_grad)
    }

    fn avg_pool1d(
        x: Tensor,
        kernel_size: usize,
        stride: usize,
        padding: usize,
        count_include_pad: bool,
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [1] };
        pooling::avg_pool("avg_pool1d", x, options, count_include_pad, ceil_mode)
    }

    fn avg_pool1d_backward(
        x: Tensor,
        grad: Tensor,
        kernel_size: usize,
        stride: usize,
        padding: usize,
        count_include_pad: bool,
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [1] };
        pooling::avg_pool_backward("avg_pool1d_backward", x, grad, options, count_include_pad, ceil_mode)
    }

    fn adaptive_avg_pool1d(x: Tensor, output_size: usize) -> Tensor {
        pooling::adaptive_avg_pool("adaptive_avg_pool1d", x, [output_size])
    }

    fn adaptive_avg_pool1d_backward(x: Tensor, grad: Tensor) -> Tensor {
        pooling::adaptive_avg_pool_backward::<1>("adaptive_avg_pool1d_backward", x, grad)
    }

    fn max_pool1d(
        x: Tensor,
        kernel_size: usize,
        stride: usize,
        padding: usize,
        dilation: usize,
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [dilation] };
        pooling::max_pool("max_pool1d", x, options, ceil_mode)
    }

    fn max_pool1d_with_indices_backward(
        x: Tensor,
        kernel_size: usize,
        stride: usize,
        padding: usize,
        dilation: usize,
        ceil_mode: bool,
        output_grad: Tensor,
        indices: Tensor,
    ) -> MaxPool1dBackward<Self> {
        let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [dilation] };
        let name = "max_pool1d_with_indices_backward";
        MaxPool1dBackward::new(pooling::max_pool_backward(name, x, options, ceil_mode, output_grad, indices))
    }

    fn avg_pool2d(
        x: Tensor,
        kernel_size: [usize; 2],
        stride: [usize; 2],
        padding: [usize; 2],
        count_include_pad: bool,
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: kernel_size, stride, padding, dilation: [1, 1] };
        pooling::avg_pool("avg_pool2d", x, options, count_include_pad, ceil_mode)
    }

    fn avg_pool2d_backward(
        x: Tensor,
        grad: Tensor,
        kernel_size: [usize; 2],
        stride: [usize; 2],
        padding: [usize; 2],
        count_include_pad: bool,
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: kernel_size, stride, padding, dilation: [1, 1] };
        pooling::avg_pool_backward("avg_pool2d_backward", x, grad, options, count_include_pad, ceil_mode)
    }

    fn adaptive_avg_pool2d(x: Tensor, output_size: [usize; 2]) -> Tensor {
        pooling::adaptive_avg_pool("adaptive_avg_pool2d", x, output_size)
    }

    fn adaptive_avg_pool2d_backward(x: Tensor, grad: Tensor) -> Tensor {
        pooling::adaptive_avg_pool_backward::<2>("adaptive_avg_pool2d_backward", x, grad)
    }

    fn max_pool2d(
        x: Tensor,
        kernel_size: [usize; 2],
        stride: [usize; 2],
        padding: [usize; 2],
        dilation: [usize; 2],
        ceil_mode: bool,
    ) -> Tensor {
        let options = Options { kernel: kernel_size, stride, padding, dilation };
        pooling::max_pool("max_pool2d", x, options, ceil_mode)
    }

    fn max_pool2d_with_indices_backward(
        x: Tensor,
        kernel_size: [usize; 2],
        stride: [usize; 2],
        padding: [usize; 2],
        dilation: [usize; 2],
        ceil_mode: bool,
        output_grad: Tensor,
        indices: Tensor,
    ) -> MaxPool2dBackward<Self> {
        let options = Options { kernel: kernel_size, stride, padding, dilation };
        let name = "max_pool2d_with_indices_backward";
        MaxPool2dBackward::new(pooling::max_pool_backward(name, x, options, ceil_mode, output_grad, indices))
    }

    fn unfold4d(x: Tensor, kernel_size: [usize; 2], options: UnfoldOptions) -> Tensor {
        tensor_shape::unfold4d(x, kernel_size, options)
    }

    fn interpolate(x: Tensor, output_size: [usize; 2], options: InterpolateOptions) -> Tensor {
        resize::interpolate(x, output_size, options)
    }

    fn interpolate_backward(x: Tensor, grad: Tensor, output_size: [usize; 2], options: InterpolateOptions) -> Tensor {
        resize::interpolate_backward(x, grad, output_size, options)
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

    module_items!();
}
