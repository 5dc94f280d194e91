//! The extents of a convolution, and the rules for them.

use std::fmt;

use burn_backend::Shape;
use burn_backend::ops::{ConvOptions, ConvTransposeOptions};

use crate::burn::sides;
use crate::error::invalid;
use crate::ffi::Window;
use crate::lowering::POSITIONS;
use crate::tensor::MpsGraphTensor;

/// Dimensions along which a filter moves: depth, height, width.
pub(super) const SPATIAL: usize = 3;

/// One dimension of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Axis {
    pub input: usize,
    /// Taps of the filter.
    pub filter: usize,
    pub output: usize,
    pub window: Window,
}

impl Axis {
    /// A dimension that is not there.
    const NONE: Axis =
        Axis { input: 1, filter: 1, output: 1, window: Window { stride: 1, dilation: 1, padding: [0, 0] } };

    /// Elements from the first tap to the last.
    pub fn reach(&self) -> usize {
        self.window.dilation.saturating_mul(self.filter - 1).saturating_add(1)
    }

    /// The input with its padding.
    pub fn padded(&self) -> usize {
        self.input + self.window.padding[0] + self.window.padding[1]
    }

    /// Removes `beyond` elements from the end, of the padding first, then of the input. Returns how many were of the
    /// input.
    fn shorten(&mut self, beyond: usize) -> usize {
        let undone = beyond.min(self.window.padding[1]);
        self.window.padding[1] -= undone;
        let rest = (beyond - undone).min(self.input);
        self.input -= rest;
        rest
    }
}

/// The most elements at the end of the padded input that no tap meets and that a gradient for the input may still have:
/// `stride - 1`, because more would make one more output. If a group has one channel it may have none: macOS 27.0 ends
/// the process over more of them than there is padding at the end (apple/coreai-torch#58).
fn most_beyond([inputs, groups]: [usize; 2], stride: usize) -> usize {
    if inputs == groups { 0 } else { stride - 1 }
}

/// A convolution with all its extents: depth, height and width, those missing in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Convolution {
    pub batch: usize,
    /// Channels of the input and of the output.
    pub channels: [usize; 2],
    pub groups: usize,
    pub axes: [Axis; SPATIAL],
}

impl Convolution {
    /// The convolution of `x` with `weight`.
    pub fn of<const N: usize>(name: &'static str, [x, weight]: [&MpsGraphTensor; 2], options: &ConvOptions<N>) -> Self {
        let wrong = |rule: fmt::Arguments<'_>| -> ! {
            invalid(name, format!("x {:?}, weight {:?}, {options:?}: {rule}", x.dims(), weight.dims()))
        };
        let ConvOptions { stride, padding, dilation, groups } = *options;
        let paddings = padding.map(|padding| sides(padding).into_iter().max().unwrap_or(0));
        if let Some(mistake) = mistake([&x.shape, &weight.shape], [&stride, &dilation, &paddings], groups) {
            wrong(format_args!("{mistake}"));
        }
        let [outputs, inner] = [weight.shape[0], weight.shape[1]];
        if x.shape[1] != inner * groups || !outputs.is_multiple_of(groups) {
            wrong(format_args!(
                "x must have groups times {inner} channels, and the weight's {outputs} outputs divide by groups"
            ));
        }
        let mut axes = [Axis::NONE; SPATIAL];
        for (at, axis) in axes[SPATIAL - N..].iter_mut().enumerate() {
            let window = Window { stride: stride[at], dilation: dilation[at], padding: sides(padding[at]) };
            *axis = Axis { input: x.shape[2 + at], filter: weight.shape[2 + at], output: 1, window };
            if axis.reach() > axis.padded() {
                wrong(format_args!(
                    "along dimension {} the filter reaches over {} elements of {} with padding; make the input or the \
                     padding larger",
                    2 + at,
                    axis.reach(),
                    axis.padded()
                ));
            }
            axis.output = (axis.padded() - axis.reach()) / axis.window.stride + 1;
        }
        Self { batch: x.shape[0], channels: [x.shape[1], outputs], groups, axes }
    }

    /// The convolution whose gradient for the input is the transposed convolution of an input of shape `x` with
    /// `weight`, and how many zeros follow that gradient along each dimension.
    pub fn of_transposed<const N: usize>(
        name: &'static str,
        [x, weight]: [&Shape; 2],
        options: &ConvTransposeOptions<N>,
    ) -> (Self, [usize; SPATIAL]) {
        let wrong = |rule: fmt::Arguments<'_>| -> ! {
            invalid(name, format!("x {:?}, weight {:?}, {options:?}: {rule}", &x[..], &weight[..]))
        };
        let ConvTransposeOptions { stride, padding, padding_out, dilation, groups } = *options;
        if let Some(mistake) = mistake([x, weight], [&stride, &dilation, &padding], groups) {
            wrong(format_args!("{mistake}"));
        }
        if x[1] != weight[0] || !x[1].is_multiple_of(groups) {
            wrong(format_args!("x must have the weight's {} channels, which divide by groups", weight[0]));
        }
        let mut axes = [Axis::NONE; SPATIAL];
        for at in 0..N {
            let place = SPATIAL - N + at;
            let Some(steps) = x[2 + at].checked_sub(1) else {
                wrong(format_args!("dimension {} of x has no elements", 2 + at));
            };
            let mut axis = Axis { output: x[2 + at], filter: weight[2 + at], ..Axis::NONE };
            axis.window = Window { stride: stride[at], dilation: dilation[at], padding: [padding[at]; 2] };
            let whole = (steps * stride[at]).saturating_add(axis.reach()).saturating_add(padding_out[at]);
            let Some(extent) = whole.checked_sub(2 * padding[at]).filter(|&extent| extent > 0) else {
                wrong(format_args!("the padding leaves nothing of {whole} elements along dimension {}", 2 + at));
            };
            axis.input = extent;
            axes[place] = axis;
        }
        let channels = [weight[1] * groups, x[1]];
        Self { batch: x[0], channels, groups, axes }.of_input_gradient()
    }

    /// The convolution whose gradient for the input is asked for instead, and how many zeros follow that along each
    /// dimension.
    pub fn of_input_gradient(mut self) -> (Self, [usize; SPATIAL]) {
        let mut rest = [0; SPATIAL];
        for (axis, rest) in self.axes.iter_mut().zip(&mut rest).filter(|(axis, _)| axis.output > 0) {
            let beyond = axis.padded() - (axis.output - 1) * axis.window.stride - axis.reach();
            let most = most_beyond([self.channels[0], self.groups], axis.window.stride);
            *rest = axis.shorten(beyond.saturating_sub(most));
        }
        (self, rest)
    }

    /// Shape of the input, with its last `N` dimensions.
    pub fn input_shape(&self, n: usize) -> Shape {
        self.shape([self.batch, self.channels[0]], n, |axis| axis.input)
    }

    /// Shape of the weights, with their last `N` dimensions.
    pub fn weights_shape(&self, n: usize) -> Shape {
        self.shape([self.channels[1], self.channels[0] / self.groups], n, |axis| axis.filter)
    }

    /// Shape of the output, with its last `N` dimensions.
    pub fn output_shape(&self, n: usize) -> Shape {
        self.shape([self.batch, self.channels[1]], n, |axis| axis.output)
    }

    fn shape(&self, first: [usize; 2], n: usize, extent: impl Fn(&Axis) -> usize) -> Shape {
        first.into_iter().chain(self.axes[SPATIAL - n..].iter().map(extent)).collect()
    }
}

/// What is wrong with what all convolutions have: the shapes of an operand and the weights; strides, dilations and
/// paddings.
fn mistake<const N: usize>(
    shapes: [&Shape; 2],
    [strides, dilations, paddings]: [&[usize; N]; 3],
    groups: usize,
) -> Option<String> {
    if shapes.iter().any(|shape| shape.num_dims() != N + 2) {
        return Some(format!("both must have {} dimensions", N + 2));
    }
    if groups == 0 || strides.contains(&0) || dilations.contains(&0) {
        return Some("stride, dilation and groups must be 1 or more".into());
    }
    if [strides, dilations, paddings].into_iter().flatten().any(|&option| option >= POSITIONS) {
        return Some("stride, dilation and padding must be less than 2^31".into());
    }
    shapes[1][2..].contains(&0).then(|| "the filter must have elements".into())
}
