//! Adaptive averages of the last three axes: averages of parts of the planes, then of parts of the depth.
//!
//! A part is a range of each axis, so its average is the average along the depth of averages of planes.

use burn_backend::{DType, TensorMetadata};

use super::adaptive::Even;
use super::average::Spans;
use super::{average, spread};
use crate::error::invalid;
use crate::ops::arithmetic::cast;
use crate::tensor::MpsGraphTensor;

/// The two passes over a volume.
struct Passes {
    /// Batch and channels.
    outer: [usize; 2],
    /// Depth, height and width.
    inputs: [usize; 3],
    outputs: [usize; 3],
}

impl Passes {
    /// For an input like `x`, which has five axes.
    fn new(x: &MpsGraphTensor, outputs: [usize; 3]) -> Self {
        let shape = x.dims();
        Self { outer: [shape[0], shape[1]], inputs: [shape[2], shape[3], shape[4]], outputs }
    }

    fn spans(&self, axis: usize) -> Spans {
        Even { input: self.inputs[axis], outputs: self.outputs[axis] }.spans()
    }

    /// Of planes, each slice of a volume its own.
    fn planes(&self) -> [Spans; 2] {
        [self.spans(1), self.spans(2)]
    }

    /// Of the depth, for each average of the planes.
    fn depth(&self) -> [Spans; 2] {
        let columns = self.columns();
        [self.spans(0), Even { input: columns, outputs: columns }.spans()]
    }

    fn columns(&self) -> usize {
        self.outputs[1] * self.outputs[2]
    }

    /// As the first pass sees a tensor whose planes have these extents.
    fn slices(&self, plane: [usize; 2]) -> [usize; 4] {
        [self.outer[0], self.outer[1] * self.inputs[0], plane[0], plane[1]]
    }

    /// As the second pass sees a tensor of this depth.
    fn stacks(&self, depth: usize) -> [usize; 4] {
        [self.outer[0], self.outer[1], depth, self.columns()]
    }
}

/// Averages of `x (batch, channels, depth, height, width)` over parts of its last three axes.
pub(super) fn averages(x: MpsGraphTensor, outputs: [usize; 3]) -> MpsGraphTensor {
    let (dtype, passes) = (x.dtype(), Passes::new(&x, outputs));
    let slices = passes.slices([passes.inputs[1], passes.inputs[2]]);
    let planes = average::<2>(cast(x, DType::F32).with_shape(slices.into()), passes.planes());
    let averages = average::<2>(planes.with_shape(passes.stacks(passes.inputs[0]).into()), passes.depth());
    let shape = [&passes.outer[..], &outputs].concat();
    cast(averages.with_shape(shape.into()), dtype)
}

/// The gradient of [`averages`] for an input like `x`.
pub(super) fn averages_backward(name: &'static str, x: &MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
    let (shape, of) = (x.dims(), grad.dims());
    if of[..2] != shape[..2] || grad.dtype() != x.dtype() {
        let dtypes = [grad.dtype(), x.dtype()];
        invalid(
            name,
            format!("gradient {of:?} for an input {shape:?}, dtypes {dtypes:?}: one batch, channels and dtype"),
        );
    }
    let passes = Passes::new(x, [of[2], of[3], of[4]]);
    let stacks = cast(grad, DType::F32).with_shape(passes.stacks(passes.outputs[0]).into());
    let planes = spread(stacks, passes.depth(), passes.stacks(passes.inputs[0]).into());
    let planes = planes.with_shape(passes.slices([passes.outputs[1], passes.outputs[2]]).into());
    let slices = passes.slices([passes.inputs[1], passes.inputs[2]]);
    let spread = spread(planes, passes.planes(), slices.into());
    cast(spread.with_shape(x.shape()), x.dtype())
}
