//! Points and pixels that are not finite, and mistakes.

use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Relative;
use test_support::assert_refused;

use super::{PADDING, options};
use crate::compare::assert_gives;

type Image = Tensor<MpsGraph, 4>;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn image(pixels: [[f32; 3]; 3]) -> Image {
    Image::from_data([[pixels]], &Default::default())
}

const PIXELS: [[f32; 3]; 3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];

fn gives<const N: usize>(options: &GridSampleOptions, points: [[f32; 2]; N], expected: [f32; N]) {
    let found = || {
        let grid = Image::from_data([[points]], &Default::default());
        image(PIXELS).grid_sample_2d(grid, options.clone()).into_data()
    };
    assert_gives(&format!("{options:?}"), &TensorData::from([[[expected]]]), found, Relative(1e-6));
}

/// The numbers are burn-flex's, which overflows for infinite ones where overflow is checked.
#[test]
fn points_that_are_not_finite() {
    let points = [[NAN, 0.0], [0.0, NAN], [INF, 0.0], [-INF, 0.0], [0.0, INF], [NAN, INF], [NAN, 1.5]];
    for bilinear in options(&InterpolateMode::Bilinear) {
        let center = bilinear.padding_mode == GridSamplePaddingMode::Border;
        gives(&bilinear, points, [if center { 5.0 } else { NAN }; 7]);
    }
    for nearest in options(&InterpolateMode::Nearest) {
        gives(
            &nearest,
            points,
            match nearest.padding_mode {
                GridSamplePaddingMode::Zeros => [4.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                GridSamplePaddingMode::Border => [5.0; 7],
                GridSamplePaddingMode::Reflection => [4.0, 2.0, 6.0, 4.0, 8.0, 7.0, 7.0],
            },
        );
    }
}

#[test]
fn points_beyond_every_image_are_finite() {
    for mode in [InterpolateMode::Bilinear, InterpolateMode::Nearest] {
        let of = |padding| GridSampleOptions::new(mode.clone()).with_padding_mode(padding);
        gives(&of(GridSamplePaddingMode::Zeros), [[f32::MAX, 0.0], [0.0, f32::MIN]], [0.0, 0.0]);
        gives(&of(GridSamplePaddingMode::Border), [[f32::MAX, 0.0], [0.0, f32::MIN]], [6.0, 2.0]);
        // Mirrored an even number of times: 2^40 is a multiple of the period.
        let far = 2f32.powi(40);
        gives(&of(GridSamplePaddingMode::Reflection), [[far, 0.0], [0.0, -far]], [5.0, 5.0]);
    }
}

/// A pixel outside is 0, though an infinite one is read in its place.
#[test]
fn zeros_outside_are_next_to_infinities() {
    let x = || image([[INF, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, NAN]]);
    let grid = || Image::from_data([[[[-3.0, -3.0], [1.0, 3.0], [0.0, 0.0]]]], &Default::default());
    let expected = TensorData::from([[[[0.0_f32, 0.0, 5.0]]]]);
    let options = GridSampleOptions::new(InterpolateMode::Nearest);
    assert_gives("infinities", &expected, || x().grid_sample_2d(grid(), options.clone()).into_data(), Relative(0.0));
    let options = GridSampleOptions::new(InterpolateMode::Bilinear);
    let grid = || Image::from_data([[[[-3.0, -3.0], [1.0, 3.0]]]], &Default::default());
    let expected = TensorData::from([[[[0.0_f32, 0.0]]]]);
    assert_gives("infinities", &expected, || x().grid_sample_2d(grid(), options.clone()).into_data(), Relative(0.0));
}

#[test]
fn mistakes_are_refused() {
    let zeros = |shape: [usize; 4]| Image::zeros(shape, &Default::default());
    let sample = |x: Image, grid: Image| x.grid_sample_2d(grid, GridSampleOptions::default());
    let parts = |shape: &'static str| ["grid_sample_2d", shape];
    assert_refused(&parts("[1, 4, 4, 3]"), || sample(zeros([1, 1, 2, 2]), zeros([1, 4, 4, 3])));
    assert_refused(&parts("[2, 4, 4, 2]"), || sample(zeros([1, 1, 2, 2]), zeros([2, 4, 4, 2])));
    assert_refused(&parts("[1, 1, 0, 2]"), || sample(zeros([1, 1, 0, 2]), zeros([1, 4, 4, 2])));
    assert_refused(&parts("F16"), || sample(zeros([1, 1, 2, 2]), zeros([1, 4, 4, 2]).cast(DType::F16)));
    assert_refused(&parts("[1, 1, 1, 16777217]"), || sample(zeros([1, 1, 1, (1 << 24) + 1]), zeros([1, 4, 4, 2])));
    for mode in [InterpolateMode::Bicubic, InterpolateMode::Lanczos3] {
        for padding in PADDING {
            let options = GridSampleOptions::new(mode.clone()).with_padding_mode(padding);
            let x = || zeros([1, 1, 2, 2]).grid_sample_2d(zeros([1, 4, 4, 2]), options.clone());
            assert_refused(&["grid_sample_2d", "mode"], x);
        }
    }
}
