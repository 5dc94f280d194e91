//! Brings the operands of a deformable convolution into the order in which its rows are read, and results back.

use burn_backend::Slice;

use super::layout::Layout;
use crate::ops::{reduction, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// Where the rows of the columns are read: each one's y and x beside the usual place, shape `(2, rows)`, and what it is
/// multiplied with, shape `(rows)`.
pub(super) struct Places {
    pub offsets: MpsGraphTensor,
    pub mask: Option<MpsGraphTensor>,
}

impl Layout {
    /// The columns of each weight group from those of [`Layout::of_samples`].
    pub fn apart(&self, columns: MpsGraphTensor) -> MpsGraphTensor {
        let together = self.shared_groups();
        if together == 1 {
            return columns;
        }
        let groups = self.weight_groups / together;
        let columns = columns
            .with_shape([groups, self.places_of_group(), self.bundles * self.taps(), together, self.channels].into());
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
            .with_shape([groups, together, self.places_of_group(), self.bundles * self.taps(), self.channels].into());
        tensor_shape::permute(columns, &[0, 2, 3, 1, 4]).with_shape(self.of_samples().columns_shape())
    }

    /// The image as rows of bundles.
    pub fn pixels(&self, x: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::permute(x, &[0, 2, 3, 1]).with_shape([self.pixel_rows(), self.channels].into())
    }

    /// The inverse of [`Layout::pixels`].
    pub fn images_of_pixels(&self, pixels: MpsGraphTensor) -> MpsGraphTensor {
        let [height, width] = self.axes.map(|axis| axis.input);
        let pixels = pixels.with_shape([self.batch, height, width, self.all_bundles() * self.channels].into());
        tensor_shape::permute(pixels, &[0, 3, 1, 2])
    }

    /// Offsets and mask in the order of the rows.
    pub fn places(&self, offset: MpsGraphTensor, mask: Option<MpsGraphTensor>) -> Places {
        let [groups, taps] = [self.weight_groups, self.bundles * self.taps()];
        let offset = self.for_each_bundle(offset).with_shape([self.batch, groups, taps, 2, self.positions()].into());
        let mask = mask.map(|mask| {
            let mask = self.for_each_bundle(mask).with_shape([self.batch, groups, taps, self.positions()].into());
            tensor_shape::permute(mask, &[1, 0, 3, 2]).with_shape([self.rows()].into())
        });
        Places { offsets: tensor_shape::permute(offset, &[3, 1, 0, 4, 2]).with_shape([2, self.rows()].into()), mask }
    }

    /// What belongs to an offset group, repeated for each of its bundles.
    fn for_each_bundle(&self, x: MpsGraphTensor) -> MpsGraphTensor {
        let groups = self.batch * self.all_bundles() / self.alike;
        let numbers = x.shape.num_elements() / groups;
        let x = x.with_shape([groups, 1, numbers].into());
        tensor_shape::expand(x, [groups, self.alike, numbers].into())
    }

    /// The gradients for the offsets and the mask from those of the rows, shape `(2 or 3, rows)`.
    pub fn of_places(&self, rows: MpsGraphTensor) -> (MpsGraphTensor, Option<MpsGraphTensor>) {
        let has_mask = rows.shape[0] == 3;
        let [numbers, taps] = [self.all_bundles() / self.alike, self.taps()];
        let part = |low: isize, high: isize| {
            let part = tensor_shape::slice(rows.clone(), &[Slice::new(low, Some(high), 1)]);
            let count = (high - low) as usize;
            let view = [count, self.weight_groups, self.batch, self.positions(), self.bundles * taps];
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
        let weight = weight.with_shape([outputs, self.bundles, self.channels, self.taps()].into());
        let weight = tensor_shape::permute(weight, &[0, 1, 3, 2]);
        weight.with_shape([self.weight_groups, self.outputs, self.terms()].into())
    }

    /// The inverse of [`Layout::matrices`].
    pub fn weight_of(&self, matrices: MpsGraphTensor) -> MpsGraphTensor {
        let [outputs, inputs] = [self.weight_groups * self.outputs, self.bundles * self.channels];
        let matrices = matrices.with_shape([outputs, self.bundles, self.taps(), self.channels].into());
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
