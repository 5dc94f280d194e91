//! `MPSGraphConvolutionOps.h`: convolutions in two dimensions, and their gradients.
//!
//! Data is (batch, channels, height, width), weights are (outputs, channels of a group, height, width). The forms in
//! three dimensions are not declared: they have been silently wrong for packed data, on macOS 26.2 for one
//! (pytorch/pytorch#197114).

use super::convolution_2d_op_descriptor::MPSGraphConvolution2DOpDescriptor;
use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphConvolutionOps.h";

    /// The sums of products of the weights with what they meet in the source. No filter may be 256 or longer.
    fn convolution_2d(source, weights, descriptor: &MPSGraphConvolution2DOpDescriptor)
        = "convolution2DWithSourceTensor:weightsTensor:descriptor:name:", since (11, 0);

    /// Gradient for the source, which has this shape. Also the transposed convolution.
    fn convolution_2d_data_gradient(
        incoming,
        weights,
        shape: &[usize],
        forward_descriptor: &MPSGraphConvolution2DOpDescriptor,
    ) = "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:\
         forwardConvolutionDescriptor:name:",
        since (11, 0);

    /// Gradient for the weights, which have this shape.
    fn convolution_2d_weights_gradient(
        incoming,
        source,
        shape: &[usize],
        forward_descriptor: &MPSGraphConvolution2DOpDescriptor,
    ) = "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:\
         forwardConvolutionDescriptor:name:",
        since (11, 0);
}

#[cfg(test)]
pub(super) fn exercise() {
    use super::convolution_2d_op_descriptor::{ConvolutionDescriptor, Window};

    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        // One zero above; to the right of each position, the next but one.
        let y = Window { stride: 2, dilation: 1, padding: [1, 0] };
        let x = Window { stride: 1, dilation: 2, padding: [0, 0] };
        let descriptor = ConvolutionDescriptor::new([y, x], 1);
        let source = cases.floats(&[1, 1, 3, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
        let weights = cases.floats(&[1, 1, 2, 2], &[1.0, 10.0, 100.0, 1000.0]);
        let convolved = graph.convolution_2d(&source, &weights, &descriptor);
        cases.gives(convolved, &[1, 1, 2, 2], &[3100.0, 4200.0, 11975.0, 13086.0]);
        let incoming = cases.floats(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let gradient = graph.convolution_2d_data_gradient(&incoming, &weights, &[1, 1, 3, 4], &descriptor);
        let expected = [100.0, 200.0, 1000.0, 2000.0, 3.0, 4.0, 30.0, 40.0, 300.0, 400.0, 3000.0, 4000.0];
        cases.gives(gradient, &[1, 1, 3, 4], &expected);
        let gradient = graph.convolution_2d_weights_gradient(&incoming, &source, &[1, 1, 2, 2], &descriptor);
        cases.gives(gradient, &[1, 1, 2, 2], &[39.0, 53.0, 72.0, 92.0]);

        // Two groups of one channel.
        let one = Window { stride: 1, dilation: 1, padding: [0, 0] };
        let descriptor = ConvolutionDescriptor::new([one; 2], 2);
        let source = cases.floats(&[1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
        let weights = cases.floats(&[2, 1, 1, 1], &[10.0, 100.0]);
        let convolved = graph.convolution_2d(&source, &weights, &descriptor);
        cases.gives(convolved, &[1, 2, 1, 2], &[10.0, 20.0, 300.0, 400.0]);
    });
}
