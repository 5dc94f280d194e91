//! `grid_sample_2d` in both modes, with every padding and both corner conventions.

#[cfg(test)]
mod differences;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod precision;
mod values;

use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode};

modules! { values }

const PADDING: [GridSamplePaddingMode; 3] =
    [GridSamplePaddingMode::Zeros, GridSamplePaddingMode::Border, GridSamplePaddingMode::Reflection];

/// Every padding with both corner conventions.
fn options(mode: &InterpolateMode) -> Vec<GridSampleOptions> {
    let of = |padding| {
        let options = GridSampleOptions::new(mode.clone()).with_padding_mode(padding);
        [true, false].map(|align_corners| options.clone().with_align_corners(align_corners))
    };
    PADDING.into_iter().flat_map(of).collect()
}
