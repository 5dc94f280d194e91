//! The extents of a deformable convolution, the rules for them, and how its operands lie.

use std::fmt;

use burn_backend::ops::{ConvOptions, DeformConvOptions};
use burn_backend::{Shape, Slice};

use crate::burn::both_sides;
use crate::error::{invalid, unsupported};
use crate::lowering::MOST_ELEMENTS;
use crate::ops::convolution::extents::{Axis, Convolution};
use crate::ops::{reduction, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// A deformable convolution with all its extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub batch: usize,
    /// Height and width.
    pub axes: [Axis; 2],
    pub weight_groups: usize,
    /// Outputs of a weight group.
    pub outputs: usize,
    /// Runs of a weight group.
    pub runs: usize,
    /// Channels of a run.
    pub channels: usize,
    /// Neighbouring runs with the same offsets.
    pub alike: usize,
}

/// Where the rows of the columns are read: each one's y and x beside the usual place, shape `(2, rows)`, and what it is
/// multiplied with, shape `(rows)`.
pub(super) struct Places {
    pub offsets: MpsGraphTensor,
    pub mask: Option<MpsGraphTensor>,
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
            Convolution::of_any_width(name, [x, weight], &plain);
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
        let runs = least_common_multiple(weight_groups, offset_groups);
        let layout = Self {
            batch,
            axes: [height, width],
            weight_groups,
            outputs: outputs / weight_groups,
            runs: runs / weight_groups,
            channels: inputs / runs,
            alike: runs / offset_groups,
        };
        layout.within_limits(name, [&x.shape, &weight.shape]);
        layout
    }

    /// Ends what a graph cannot hold: columns, and pixels with their row of zeros, have few enough elements for it,
    /// which i32 indices reach too, and f32 tells neighbouring places apart below 2^24.
    fn within_limits(&self, name: &'static str, shapes: [&Shape; 2]) {
        // A row has three gradients of its own: for y, x and the mask.
        let columns = self.rows() * self.channels.max(3);
        if columns.max((self.pixel_rows() + 1) * self.channels) > MOST_ELEMENTS {
            unsupported(
                name,
                format!(
                    "x {:?}, weight {:?}, an output of {:?}: the samples of all taps take {columns} elements: more \
                     than 2^30; pass fewer images at a time",
                    &shapes[0][..],
                    &shapes[1][..],
                    self.output_shape()
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
        self.weight_groups * self.places_of_group() * self.runs * self.taps()
    }

    /// Rows of all pixels.
    pub fn pixel_rows(&self) -> usize {
        self.batch * self.axes[0].input * self.axes[1].input * self.all_runs()
    }

    pub fn taps(&self) -> usize {
        self.axes[0].filter * self.axes[1].filter
    }

    /// Pixels of an output image.
    pub fn positions(&self) -> usize {
        self.axes[0].output * self.axes[1].output
    }

    /// Runs of a pixel.
    pub fn all_runs(&self) -> usize {
        self.weight_groups * self.runs
    }

    fn places_of_group(&self) -> usize {
        self.batch * self.positions()
    }

    /// Numbers that an output sums.
    fn terms(&self) -> usize {
        self.runs * self.taps() * self.channels
    }

    pub fn columns_shape(&self) -> Shape {
        [self.weight_groups, self.places_of_group(), self.terms()].into()
    }

    pub fn output_shape(&self) -> Shape {
        let [height, width] = self.axes;
        [self.batch, self.weight_groups * self.outputs, height.output, width.output].into()
    }

    /// The layout by which samples are read: weight groups that share all their offsets are one. They do where
    /// each has one run.
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
    fn shared_groups(&self) -> usize {
        if self.runs == 1 { self.alike } else { 1 }
    }

    /// The columns of each weight group from those of [`Layout::of_samples`].
    pub fn apart(&self, columns: MpsGraphTensor) -> MpsGraphTensor {
        let together = self.shared_groups();
        if together == 1 {
            return columns;
        }
        let groups = self.weight_groups / together;
        let columns = columns
            .with_shape([groups, self.places_of_group(), self.runs * self.taps(), together, self.channels].into());
        tensor_shape::permute(columns, &[0, 3, 1, 2, 4]).with_shape(self.columns_shape())
    }

    /// The inverse of [`Layout::apart`].
    pub fn together(&self, columns: MpsGraphTensor) -> MpsGraphTensor {
        let together = self.shared_groups();
        if together == 1 {
            return columns;
        }
        let groups = self.weight_groups / together;
        let columns = columns
            .with_shape([groups, together, self.places_of_group(), self.runs * self.taps(), self.channels].into());
        tensor_shape::permute(columns, &[0, 2, 3, 1, 4]).with_shape(self.of_samples().columns_shape())
    }

    /// The image as rows of runs.
    pub fn pixels(&self, x: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::permute(x, &[0, 2, 3, 1]).with_shape([self.pixel_rows(), self.channels].into())
    }

    /// The inverse of [`Layout::pixels`].
    pub fn images_of_pixels(&self, pixels: MpsGraphTensor) -> MpsGraphTensor {
        let [height, width] = self.axes.map(|axis| axis.input);
        let pixels = pixels.with_shape([self.batch, height, width, self.all_runs() * self.channels].into());
        tensor_shape::permute(pixels, &[0, 3, 1, 2])
    }

    /// Offsets and mask in the order of the rows.
    pub fn places(&self, offset: MpsGraphTensor, mask: Option<MpsGraphTensor>) -> Places {
        let [groups, taps] = [self.weight_groups, self.runs * self.taps()];
        let offset = self.for_each_run(offset).with_shape([self.batch, groups, taps, 2, self.positions()].into());
        let mask = mask.map(|mask| {
            let mask = self.for_each_run(mask).with_shape([self.batch, groups, taps, self.positions()].into());
            tensor_shape::permute(mask, &[1, 0, 3, 2]).with_shape([self.rows()].into())
        });
        Places { offsets: tensor_shape::permute(offset, &[3, 1, 0, 4, 2]).with_shape([2, self.rows()].into()), mask }
    }

    /// What belongs to an offset group, repeated for each of its runs.
    fn for_each_run(&self, x: MpsGraphTensor) -> MpsGraphTensor {
        let groups = self.batch * self.all_runs() / self.alike;
        let numbers = x.shape.num_elements() / groups;
        let x = x.with_shape([groups, 1, numbers].into());
        tensor_shape::expand(x, [groups, self.alike, numbers].into())
    }

    /// The gradients for the offsets and the mask from those of the rows, shape `(2 or 3, rows)`.
    pub fn of_places(&self, rows: MpsGraphTensor) -> (MpsGraphTensor, Option<MpsGraphTensor>) {
        let has_mask = rows.shape[0] == 3;
        let [numbers, taps] = [self.all_runs() / self.alike, self.taps()];
        let part = |low: isize, high: isize| {
            let part = tensor_shape::slice(rows.clone(), &[Slice::new(low, Some(high), 1)]);
            let count = (high - low) as usize;
            let view = [count, self.weight_groups, self.batch, self.positions(), self.runs * taps];
            let part = tensor_shape::permute(part.with_shape(view.into()), &[2, 1, 4, 0, 3]);
            let groups = self.batch * numbers;
            let part = part.with_shape([groups, self.alike, taps * count * self.positions()].into());
            let sum = if self.alike == 1 { part } else { reduction::sum_dim(part, 1) };
            let [height, width] = self.axes.map(|axis| axis.output);
            sum.with_shape([self.batch, numbers * taps * count, height, width].into())
        };
        (part(0, 2), has_mask.then(|| part(2, 3)))
    }

    /// The weights of each weight group as a matrix: `(weight groups, outputs, terms)`.
    pub fn matrices(&self, weight: MpsGraphTensor) -> MpsGraphTensor {
        let outputs = self.weight_groups * self.outputs;
        let weight = weight.with_shape([outputs, self.runs, self.channels, self.taps()].into());
        let weight = tensor_shape::permute(weight, &[0, 1, 3, 2]);
        weight.with_shape([self.weight_groups, self.outputs, self.terms()].into())
    }

    /// The inverse of [`Layout::matrices`].
    pub fn weight_of(&self, matrices: MpsGraphTensor) -> MpsGraphTensor {
        let [outputs, inputs] = [self.weight_groups * self.outputs, self.runs * self.channels];
        let matrices = matrices.with_shape([outputs, self.runs, self.taps(), self.channels].into());
        let [height, width] = self.axes.map(|axis| axis.filter);
        tensor_shape::permute(matrices, &[0, 1, 3, 2]).with_shape([outputs, inputs, height, width].into())
    }

    /// Images of the output's shape as `(weight groups, outputs, places)`.
    pub fn by_weight_group(&self, images: MpsGraphTensor) -> MpsGraphTensor {
        let images = images.with_shape([self.batch, self.weight_groups * self.outputs, self.positions()].into());
        let images = tensor_shape::permute(images, &[1, 0, 2]);
        images.with_shape([self.weight_groups, self.outputs, self.places_of_group()].into())
    }

    /// The inverse of [`Layout::by_weight_group`].
    pub fn images(&self, product: MpsGraphTensor) -> MpsGraphTensor {
        let product = product.with_shape([self.weight_groups * self.outputs, self.batch, self.positions()].into());
        tensor_shape::permute(product, &[1, 0, 2]).with_shape(self.output_shape())
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}
