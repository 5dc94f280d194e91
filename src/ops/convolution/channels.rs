//! Convolutions of images with more channels than MPSGraph gets right: those of parts of the channels.
//!
//! Groups are independent, so parts of them stand side by side in all results. Of a group that is too wide by itself
//! the outputs are cut, then the inputs; where these are what a result sums over, those of the parts are added.

use super::extents::Convolution;
use super::sum;
use crate::ops::tensor_shape::{cat, narrow};
use crate::tensor::MpsGraphTensor;

/// More channels than this are silently wrong: before macOS 15.1 in all convolutions (pytorch/pytorch#129207), in those
/// of images still on 15.1 (#142836).
const CHANNELS: usize = 1 << 16;

/// What of a convolution with too many channels is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Groups,
    Outputs,
    Inputs,
}

/// The convolution of some of the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// First channel and end.
    inputs: [usize; 2],
    outputs: [usize; 2],
    convolution: Convolution,
}

impl Convolution {
    /// The output for an input and weights of depth 1, or without elements.
    pub(super) fn image_output(&self, x: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let Some(cut) = self.cut() else { return self.narrow_output(x, weights) };
        let parts = self.parts_of_channels(cut).map(|part| {
            part.convolution.image_output(narrow(x.clone(), 1, part.inputs), part.of_weights(cut, weights.clone()))
        });
        match cut {
            Cut::Groups | Cut::Outputs => cat(parts.collect(), 1),
            Cut::Inputs => total(parts),
        }
    }

    /// The gradient for the input.
    pub(super) fn image_input_gradient(&self, grad: MpsGraphTensor, weights: MpsGraphTensor) -> MpsGraphTensor {
        let Some(cut) = self.cut() else { return self.narrow_input_gradient(grad, weights) };
        let parts = self.parts_of_channels(cut).map(|part| {
            let grad = narrow(grad.clone(), 1, part.outputs);
            part.convolution.image_input_gradient(grad, part.of_weights(cut, weights.clone()))
        });
        match cut {
            Cut::Groups | Cut::Inputs => cat(parts.collect(), 1),
            Cut::Outputs => total(parts),
        }
    }

    /// The gradient for the weights.
    pub(super) fn image_weights_gradient(&self, grad: MpsGraphTensor, x: MpsGraphTensor) -> MpsGraphTensor {
        let Some(cut) = self.cut() else { return self.narrow_weights_gradient(grad, x) };
        let parts = self.parts_of_channels(cut).map(|part| {
            let (grad, x) = (narrow(grad.clone(), 1, part.outputs), narrow(x.clone(), 1, part.inputs));
            part.convolution.image_weights_gradient(grad, x)
        });
        let axis = match cut {
            Cut::Groups | Cut::Outputs => 0,
            Cut::Inputs => 1,
        };
        cat(parts.collect(), axis)
    }

    /// What has to be cut, if one node has too many channels for MPSGraph.
    fn cut(&self) -> Option<Cut> {
        let [inputs, outputs] = self.channels;
        if inputs.max(outputs) <= CHANNELS {
            return None;
        }
        Some(match self.groups {
            1 if outputs > CHANNELS => Cut::Outputs,
            1 => Cut::Inputs,
            _ => Cut::Groups,
        })
    }

    /// Parts of nearly as many channels each, so that none has a single input if the whole has not:
    /// [`Self::of_input_gradient`] is decided for the whole.
    fn parts_of_channels(&self, cut: Cut) -> impl Iterator<Item = Part> + use<> {
        let whole = *self;
        let of_group = self.channels.map(|channels| channels / self.groups);
        let (count, most) = match cut {
            Cut::Groups => (self.groups, (CHANNELS / of_group[0].max(of_group[1])).max(1)),
            Cut::Outputs => (self.channels[1], CHANNELS),
            Cut::Inputs => (self.channels[0], CHANNELS),
        };
        let parts = count.div_ceil(most);
        (0..parts).map(move |part| whole.of_part(cut, [part * count / parts, (part + 1) * count / parts]))
    }

    /// The part that has this range of what is cut.
    fn of_part(self, cut: Cut, [first, end]: [usize; 2]) -> Part {
        let [inputs, outputs] = self.channels;
        let (groups, [inputs, outputs]) = match cut {
            Cut::Groups => {
                let of_group = self.channels.map(|channels| channels / self.groups);
                (end - first, of_group.map(|channels| [first * channels, end * channels]))
            }
            Cut::Outputs => (1, [[0, inputs], [first, end]]),
            Cut::Inputs => (1, [[first, end], [0, outputs]]),
        };
        let channels = [inputs, outputs].map(|[first, end]| end - first);
        Part { inputs, outputs, convolution: Convolution { channels, groups, ..self } }
    }
}

fn total(parts: impl Iterator<Item = MpsGraphTensor>) -> MpsGraphTensor {
    sum(parts).unwrap_or_else(|| unreachable!("more than {CHANNELS} channels have parts"))
}

impl Part {
    /// Its weights, of all.
    fn of_weights(&self, cut: Cut, weights: MpsGraphTensor) -> MpsGraphTensor {
        match cut {
            Cut::Groups | Cut::Outputs => narrow(weights, 0, self.outputs),
            Cut::Inputs => narrow(weights, 1, self.inputs),
        }
    }
}
