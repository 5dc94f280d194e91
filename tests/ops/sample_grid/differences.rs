//! Gradients of image and grid against differences: between pixels the result is linear in each number of both.

use burn::tensor::ops::{GridSampleOptions, InterpolateMode};
use burn::tensor::{Tensor, TensorData};

use super::options;
use crate::differences::{B, check, weighted};

const IMAGE: [usize; 4] = [2, 2, 3, 4];
/// Where points lie, in pixels, in and around the image: not nearer to a pixel than a step.
const PLACES: [f32; 7] = [0.3, 1.6, -0.4, 2.7, 1.2, 4.4, -1.7];

fn image() -> TensorData {
    let values: Vec<f32> = (0..IMAGE.iter().product()).map(|i| (i * 37 % 23) as f32 / 8.0 - 1.25).collect();
    TensorData::new(values, IMAGE)
}

/// The number at which a point lies at `place` of an axis.
fn number(place: f32, extent: usize, options: &GridSampleOptions) -> f32 {
    let extent = extent as f32;
    if options.align_corners { place * 2.0 / (extent - 1.0) - 1.0 } else { (2.0 * place + 1.0) / extent - 1.0 }
}

fn grid(options: &GridSampleOptions) -> TensorData {
    let point = |i: usize| {
        let (x, y) = (PLACES[i % 7], PLACES[(i * 3 + i / 7) % 7]);
        [number(x, IMAGE[3], options), number(y, IMAGE[2], options)]
    };
    TensorData::new((0..12).flat_map(point).collect::<Vec<f32>>(), [2, 2, 3, 2])
}

#[test]
fn of_the_image() {
    for options in options(&InterpolateMode::Bilinear) {
        let grid = || Tensor::<B, 4>::from_data(grid(&options), &Default::default());
        let sampled = |x: Tensor<B, 4>| weighted(x.grid_sample_2d(grid(), options.clone()));
        check(&format!("{options:?}"), &image(), 0.5, sampled);
    }
}

#[test]
fn of_the_grid() {
    for options in options(&InterpolateMode::Bilinear) {
        let image = || Tensor::<B, 4>::from_data(image(), &Default::default());
        let sampled = |grid: Tensor<B, 4>| weighted(image().grid_sample_2d(grid, options.clone()));
        check(&format!("{options:?}"), &grid(&options), 1.0 / 16.0, sampled);
    }
}
