//! The depth of a convolution as channels of images.
//!
//! Each position in depth becomes an image of the batch, whose channels are those of all taps in depth: what the filter
//! meets there. In that order the weights are what they were.

use burn_backend::Slice;

use super::extents::{Axis, Convolution};
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::{memory, tensor_shape};
use crate::tensor::MpsGraphTensor;

impl Convolution {
    /// The output, shape (batch, outputs, depth, height, width). Operands are seen with whatever rank they have.
    pub(super) fn output(&self, x: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let images = self.images();
        let x = self.unfolded(x);
        let output = images.image_output(x, weights.with_shape(images.weights_shape(2)));
        self.in_depth(output)
    }

    /// The gradient for the input, shape (batch, inputs, depth, height, width).
    pub(super) fn input_gradient(&self, grad: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let images = self.images();
        let grad = self.by_position(grad);
        let unfolded = images.image_input_gradient(grad, weights.with_shape(images.weights_shape(2)));
        self.folded(unfolded)
    }

    /// The gradient for the weights, shape (outputs, inputs of a group, depth, height, width).
    pub(super) fn weights_gradient(&self, grad: MpsGraphTensor, x: MpsGraphTensor) -> MpsGraphTensor {
        let images = self.images();
        let (grad, x) = (self.by_position(grad), self.unfolded(x));
        images.image_weights_gradient(grad, x).with_shape(self.weights_shape(3))
    }

    /// The same on images.
    fn images(&self) -> Convolution {
        let [depth, height, width] = self.axes;
        let none = Axis { input: 1, filter: 1, output: 1, ..depth };
        Convolution {
            batch: self.batch * depth.output,
            channels: [self.channels[0] * depth.filter, self.channels[1]],
            axes: [none, height, width],
            ..*self
        }
    }

    /// Whether the depth is one element that one tap meets.
    fn is_flat(&self) -> bool {
        let depth = &self.axes[0];
        [depth.input, depth.filter] == [1, 1] && depth.window.padding == [0, 0]
    }

    /// The input as images of what the taps in depth meet.
    fn unfolded(&self, x: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.images().input_shape(2);
        if self.is_flat() {
            return x.with_shape(shape);
        }
        let (depth, [_, height, width]) = (self.axes[0], self.axes);
        let plane = height.input * width.input;
        let [batch, channels] = [self.batch, self.channels[0]];
        let zeros = |count: usize| memory::zeros([batch, channels, count, plane].into(), x.dtype());
        let [before, after] = depth.window.padding.map(zeros);
        let x = x.clone().with_shape([batch, channels, depth.input, plane].into());
        let padded = tensor_shape::cat(vec![before, x, after], 2);
        let taps = (0..depth.filter)
            .map(|tap| tensor_shape::slice(padded.clone(), &[Slice::full(), Slice::full(), met(&depth, tap)]));
        let taps = tensor_shape::cat(taps.collect(), 2)
            .with_shape([batch, channels * depth.filter, depth.output, plane].into());
        tensor_shape::permute(taps, &[0, 2, 1, 3]).with_shape(shape)
    }

    /// The sums of what [`unfolded`](Self::unfolded) made of each element of the input.
    fn folded(&self, unfolded: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.input_shape(3);
        if self.is_flat() {
            return unfolded.with_shape(shape);
        }
        let (depth, [_, height, width]) = (self.axes[0], self.axes);
        let plane = height.input * width.input;
        let [batch, channels] = [self.batch, self.channels[0]];
        let by_tap = unfolded.with_shape([batch, depth.output, channels * depth.filter, plane].into());
        let by_tap = tensor_shape::permute(by_tap, &[0, 2, 1, 3])
            .with_shape([batch, channels, depth.filter, depth.output * plane].into());
        let zeros = memory::zeros([batch, channels, depth.padded(), plane].into(), by_tap.dtype());
        let mut sum = zeros.clone();
        for tap in 0..depth.filter {
            let only = Slice::new(tap as isize, Some(tap as isize + 1), 1);
            let share = tensor_shape::slice(by_tap.clone(), &[Slice::full(), Slice::full(), only])
                .with_shape([batch, channels, depth.output, plane].into());
            let slices = [Slice::full(), Slice::full(), met(&depth, tap)];
            let spread = tensor_shape::slice_assign(zeros.clone(), &slices, share);
            sum = arithmetic::binary(BinaryOp::Add, sum, spread);
        }
        let [before, _] = depth.window.padding;
        let inside = Slice::new(before as isize, Some((before + depth.input) as isize), 1);
        tensor_shape::slice(sum, &[Slice::full(), Slice::full(), inside]).with_shape(shape)
    }

    /// The output's gradient as images, one for each position in depth.
    fn by_position(&self, grad: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.images().output_shape(2);
        if self.axes[0].output == 1 {
            return grad.with_shape(shape);
        }
        let [depth, height, width] = self.axes.map(|axis| axis.output);
        let grad = grad.with_shape([self.batch, self.channels[1], depth, height * width].into());
        tensor_shape::permute(grad, &[0, 2, 1, 3]).with_shape(shape)
    }

    /// Images, one for each position in depth, as the output.
    fn in_depth(&self, output: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.output_shape(3);
        if self.axes[0].output == 1 {
            return output.with_shape(shape);
        }
        let [depth, height, width] = self.axes.map(|axis| axis.output);
        let output = output.with_shape([self.batch, depth, self.channels[1], height * width].into());
        tensor_shape::permute(output, &[0, 2, 1, 3]).with_shape(shape)
    }
}

/// What a tap meets at all positions, counted from the beginning of the padding.
fn met(axis: &Axis, tap: usize) -> Slice {
    let first = tap * axis.window.dilation;
    let end = first + (axis.output - 1) * axis.window.stride + 1;
    Slice::new(first as isize, Some(end as isize), axis.window.stride as isize)
}
