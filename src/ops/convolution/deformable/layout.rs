//! The extents of a deformable convolution, and the rules for them.

use std::fmt;

use burn_backend::Shape;
use burn_backend::ops::{ConvOptions, DeformConvOptions};

use crate::burn::both_sides;
use crate::error::{invalid, unsupported};
use crate::lowering::MOST_ELEMENTS;
use crate::ops::convolution::extents::{Axis, Convolution};
use crate::tensor::MpsGraphTensor;

/// A deformable convolution with all its extents.
///
/// A *bundle* is as many neighbouring channels as share both the weights' group and the offsets' group, so that they
/// are read at the same places and summed in the same product. Of 12 channels in 2 weight groups and 3 offset groups:
///
/// ```text
/// channel         0 1   2 3   4 5   6 7   8 9   10 11
/// weight group    0     0     0     1     1     1
/// offset group    0     0     1     1     2     2
/// bundle          0     1     2     0     1     2           of its weight group
/// ```
///
/// So a weight group has 3 `bundles` of 2 `channels`, and 2 neighbouring ones are `alike`: they have the same offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub batch: usize,
    /// Height and width.
    pub axes: [Axis; 2],
    pub weight_groups: usize,
    /// Outputs of a weight group.
    pub outputs: usize,
    /// Bundles of a weight group.
    pub bundles: usize,
    /// Channels of a bundle.
    pub channels: usize,
    /// Neighbouring bundles with the same offsets.
    pub alike: usize,
}

impl Layout {
    /// The layout for `[x, offset, weight]` and a mask.
    pub fn of(
        name: &'static str,
        [x, offset, weight]: [&MpsGraphTensor; 3],
        mask: Option<&MpsGraphTensor>,
        options: &DeformConvOptions<2>,
    ) -> Self {
        let DeformConvOptions { stride, padding, dilation, weight_groups, offset_groups } = *options;
        let plain = ConvOptions { stride, padding: padding.map(both_sides), dilation, groups: weight_groups };
        let Convolution { batch, channels: [inputs, outputs], axes: [_, height, width], .. } =
            Convolution::of(name, [x, weight], &plain);
        let wrong = |rule: fmt::Arguments<'_>| -> ! {
            let mask = mask.map(|mask| &mask.shape[..]);
            let shapes = format!("x {:?}, offset {:?}, weight {:?}", x.dims(), offset.dims(), weight.dims());
            invalid(name, format!("{shapes}, mask {mask:?}, {options:?}: {rule}"))
        };
        if offset_groups == 0 || !inputs.is_multiple_of(offset_groups) {
            wrong(format_args!("the {inputs} channels of x must divide by the offset groups, 1 or more"));
        }
        let taps = offset_groups * height.filter * width.filter;
        let of_places = |numbers: usize| [batch, numbers, height.output, width.output];
        let expected = of_places(2 * taps);
        if offset.dims() != expected {
            wrong(format_args!("offset must have the shape {expected:?}, y and x for each tap of an offset group"));
        }
        let expected = of_places(taps);
        if mask.is_some_and(|mask| mask.dims() != expected) {
            wrong(format_args!("the mask must have the shape {expected:?}, a number for each tap of an offset group"));
        }
        let bundles = least_common_multiple(weight_groups, offset_groups);
        let layout = Self {
            batch,
            axes: [height, width],
            weight_groups,
            outputs: outputs / weight_groups,
            bundles: bundles / weight_groups,
            channels: inputs / bundles,
            alike: bundles / offset_groups,
        };
        layout.within_limits(name, [&x.shape, &weight.shape]);
        layout
    }

    /// Ends what a graph cannot hold: columns, and pixels with their row of zeros, have few enough elements for it,
    /// which i32 indices reach too, and f32 tells neighbouring places apart below 2^24.
    fn within_limits(&self, name: &'static str, shapes: [&Shape; 2]) {
        // A row has three gradients of its own: for y, x and the mask.
        let columns = self.rows() * self.channels.max(3);
        let pixels = (self.pixel_rows() + 1) * self.channels;
        if columns.max(pixels) > MOST_ELEMENTS {
            let what = if columns > MOST_ELEMENTS {
                format!("the samples of all taps take {columns} elements")
            } else {
                format!("x and a row of zeros take {pixels} elements")
            };
            unsupported(
                name,
                format!(
                    "x {:?}, weight {:?}, an output of {:?}: {what}: more than 2^30; pass fewer images at a time",
                    &shapes[0][..],
                    &shapes[1][..],
                    &self.output_shape()[..]
                ),
            );
        }
        if let Some(axis) = self.axes.iter().find(|axis| axis.padded() >= 1 << 24) {
            unsupported(
                name,
                format!(
                    "x {:?} has {} pixels with padding along one axis: f32 tells places between them apart below 2^24; \
                     convolve parts of the image",
                    &shapes[0][..],
                    axis.padded()
                ),
            );
        }
    }

    /// Rows of the columns.
    pub fn rows(&self) -> usize {
        self.weight_groups * self.places_of_group() * self.bundles * self.taps()
    }

    /// Rows of all pixels.
    pub fn pixel_rows(&self) -> usize {
        self.batch * self.axes[0].input * self.axes[1].input * self.all_bundles()
    }

    /// Taps of the filter.
    pub fn taps(&self) -> usize {
        self.axes[0].filter * self.axes[1].filter
    }

    /// Pixels of an output image.
    pub fn positions(&self) -> usize {
        self.axes[0].output * self.axes[1].output
    }

    /// Bundles of a pixel.
    pub fn all_bundles(&self) -> usize {
        self.weight_groups * self.bundles
    }

    /// Output pixels of all images: rows of a weight group's columns.
    pub fn places_of_group(&self) -> usize {
        self.batch * self.positions()
    }

    /// Numbers that an output sums.
    pub fn terms(&self) -> usize {
        self.bundles * self.taps() * self.channels
    }

    /// What all taps meet: for each weight group a matrix with a row for each place.
    pub fn columns_shape(&self) -> Shape {
        [self.weight_groups, self.places_of_group(), self.terms()].into()
    }

    /// `(batch, outputs, rows, columns)`.
    pub fn output_shape(&self) -> Shape {
        let [height, width] = self.axes;
        [self.batch, self.weight_groups * self.outputs, height.output, width.output].into()
    }

    /// The layout by which samples are read: weight groups that share all their offsets are one. They do where
    /// each has one bundle.
    pub fn of_samples(&self) -> Layout {
        let together = self.shared_groups();
        let Layout { weight_groups, outputs, channels, .. } = *self;
        Layout {
            weight_groups: weight_groups / together,
            outputs: outputs * together,
            channels: channels * together,
            alike: self.alike / together,
            ..*self
        }
    }

    /// Neighbouring weight groups that have all their offsets in common.
    pub fn shared_groups(&self) -> usize {
        if self.bundles == 1 { self.alike } else { 1 }
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}
