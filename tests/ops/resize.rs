//! `interpolate` in every mode, with both corner conventions.

mod gradients;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod precision;
mod values;

use burn::tensor::backend::Backend;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{DType, Tensor};
use test_support::{Layout, floats};

modules! { gradients values }

/// Sizes to which images of 5 by 3 are resized: up, down, by whole numbers and not, one axis only, to one pixel.
const SIZES: [[usize; 2]; 8] = [[10, 6], [7, 4], [2, 2], [1, 1], [5, 7], [13, 3], [3, 11], [4, 1]];

/// Sizes in which both extents differ.
const OTHER_SIZES: [[usize; 2]; 4] = [[10, 6], [7, 4], [2, 2], [4, 1]];

fn options(mode: &InterpolateMode) -> [InterpolateOptions; 2] {
    [true, false].map(|align_corners| InterpolateOptions::new(mode.clone()).with_align_corners(align_corners))
}

/// Two images of one channel, or none: 5 by 3 pixels, or one.
fn images<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 4> {
    let numbers = floats::<B>(layout, dtype, 0);
    if layout == Layout::Empty { numbers.swap_dims(0, 1).unsqueeze_dim(1) } else { numbers.unsqueeze_dim(1) }
}
