//! Convolutions of images with as many channels as MPSGraph gets right: one node each, unless the filter is too long or
//! the images are too many for it.

use burn_backend::{Shape, TensorMetadata};

use super::extents::{Convolution, SPATIAL};
use super::{ImageOp, Wanted, node, sum};
use crate::ops::tensor_shape::narrow;
use crate::ops::{memory, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// Filters from here on are silently wrong, the kernel overrunning the memory of its threads (pytorch/pytorch#188335,
/// #188359): their parts are convolved and summed.
const LONG: usize = 256;
/// Taps of a part. What is overrun grows with the batch too, so it is well below the limit.
const PART: usize = 64;
/// The gradient for the weights counts its images in 16 bits, and is silently wrong for more (pytorch/pytorch#96225,
/// #193577): those of parts of the images are summed. Both other convolutions are right.
const IMAGES: usize = u16::MAX as usize;

/// A part of a long filter: where its taps are, and the elements of the input that they meet.
struct Part {
    taps: [usize; 2],
    met: [usize; 2],
    convolution: Convolution,
}

impl Convolution {
    /// The output for an input and weights of depth 1, or without elements.
    pub(super) fn narrow_output(&self, x: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.output_shape(2);
        let Some(axis) = self.long_axis() else { return self.node(Wanted::Output, [x, weights], &shape) };
        let parts = self.parts(axis).map(|part| {
            let (x, weights) = (narrow(x.clone(), axis + 1, part.met), narrow(weights.clone(), axis + 1, part.taps));
            part.convolution.narrow_output(x, weights)
        });
        sum(parts).unwrap_or_else(|| memory::zeros(shape, x.dtype()))
    }

    /// The gradient for the input.
    pub(super) fn narrow_input_gradient(&self, grad: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.input_shape(2);
        let Some(axis) = self.long_axis() else { return self.node(Wanted::InputGradient, [grad, weights], &shape) };
        let parts = self.parts(axis).map(|part| {
            let weights = narrow(weights.clone(), axis + 1, part.taps);
            let met = part.convolution.narrow_input_gradient(grad.clone(), weights);
            let zeros = |count: usize| {
                let mut shape = met.shape();
                shape[axis + 1] = count;
                memory::zeros(shape, met.dtype())
            };
            let (before, after) = (zeros(part.met[0]), zeros(self.axes[axis].input - part.met[1]));
            tensor_shape::cat(vec![before, met, after], axis + 1)
        });
        sum(parts).unwrap_or_else(|| memory::zeros(shape, grad.dtype()))
    }

    /// The gradient for the weights.
    pub(super) fn narrow_weights_gradient(&self, grad: MpsGraphTensor, x: MpsGraphTensor) -> MpsGraphTensor {
        let shape = self.weights_shape(2);
        let Some(axis) = self.long_axis() else { return self.short_weights_gradient([grad, x], shape) };
        let mut parts = Vec::new();
        let mut end = 0;
        let zeros = |count: usize| {
            let mut shape = shape.clone();
            shape[axis + 1] = count;
            memory::zeros(shape, grad.dtype())
        };
        for part in self.parts(axis) {
            // Taps that met padding only.
            parts.push(zeros(part.taps[0] - end));
            end = part.taps[1];
            let x = narrow(x.clone(), axis + 1, part.met);
            parts.push(part.convolution.narrow_weights_gradient(grad.clone(), x));
        }
        parts.push(zeros(self.axes[axis].filter - end));
        tensor_shape::cat(parts, axis + 1)
    }

    /// The gradient for the weights of a filter that is not too long.
    fn short_weights_gradient(&self, [grad, x]: [MpsGraphTensor; 2], shape: Shape) -> MpsGraphTensor {
        if self.batch <= IMAGES {
            return self.node(Wanted::WeightsGradient, [grad, x], &shape);
        }
        let parts = (0..self.batch).step_by(IMAGES).map(|first| {
            let images = [first, (first + IMAGES).min(self.batch)];
            let operands = [&grad, &x].map(|operand| narrow(operand.clone(), 0, images));
            self.node(Wanted::WeightsGradient, operands, &shape)
        });
        sum(parts).unwrap_or_else(|| unreachable!("more than {IMAGES} images have parts"))
    }

    /// One node.
    fn node(&self, wanted: Wanted, [a, b]: [MpsGraphTensor; 2], shape: &[usize]) -> MpsGraphTensor {
        let windows = [self.axes[1].window, self.axes[2].window];
        let op = ImageOp { wanted, windows, groups: self.groups };
        node(op, [&a, &b], [shape[0], shape[1], shape[2], shape[3]])
    }

    /// Height or width, if the filter is too long along it.
    fn long_axis(&self) -> Option<usize> {
        (1..SPATIAL).find(|&axis| self.axes[axis].filter >= LONG)
    }

    /// The parts of a long filter that meet elements of the input.
    fn parts(&self, axis: usize) -> impl Iterator<Item = Part> {
        let whole = *self;
        let long = self.axes[axis];
        (0..long.filter).step_by(PART).filter_map(move |first| {
            let taps = [first, (first + PART).min(long.filter)];
            let window = long.window;
            // Both counted from the beginning of the padding.
            let start = taps[0] * window.dilation;
            let end = (long.output - 1) * window.stride + (taps[1] - 1) * window.dilation + 1;
            let inside = |place: usize| place.saturating_sub(window.padding[0]).min(long.input);
            let met = [inside(start), inside(end)];
            if met[0] == met[1] {
                return None;
            }
            let mut convolution = whole;
            let part = &mut convolution.axes[axis];
            part.filter = taps[1] - taps[0];
            part.input = met[1] - met[0];
            let beyond = window.padding[0] + long.input;
            part.window.padding = [window.padding[0].saturating_sub(start), end.saturating_sub(beyond)];
            Some(Part { taps, met, convolution })
        })
    }
}
