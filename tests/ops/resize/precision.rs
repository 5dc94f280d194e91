//! Cases that burn-flex does not compute, or not exactly.

use burn::backend::Autodiff;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions, ModuleOps};
use burn::tensor::{DType, Tensor, TensorData, TensorPrimitive};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Relative};
use test_support::{Layout, floats};

use super::{SIZES, images, options};
use crate::compare::{assert_gives, gradient};

const MODES: [InterpolateMode; 4] =
    [InterpolateMode::Nearest, InterpolateMode::Bilinear, InterpolateMode::Bicubic, InterpolateMode::Lanczos3];

type Image = Tensor<MpsGraph, 4>;

fn each(mut check: impl FnMut(String, &dyn Fn(Image) -> Image, [usize; 2], &InterpolateOptions)) {
    for mode in MODES {
        for options in options(&mode) {
            for size in SIZES {
                check(format!("{options:?} to {size:?}"), &|x| interpolate(x, size, options.clone()), size, &options);
            }
        }
    }
}

/// Resizing is linear, so the difference quotient in the direction of a pixel is the resized image of that pixel alone.
#[test]
fn gradients_are_difference_quotients() {
    each(|what, resized, [height, width], options| {
        let each_pixel = Tensor::<MpsGraph, 2>::eye(15, &Default::default()).reshape([15, 1, 5, 3]);
        let weights =
            floats::<MpsGraph>(Layout::Contiguous, DType::F32, 1).into_data().iter::<f32>().collect::<Vec<_>>();
        let weights: Vec<f32> = (0..height * width).map(|i| weights[i * 7 % weights.len()]).collect();
        let weights = TensorData::new(weights, [1, 1, height, width]);
        let quotients = resized(each_pixel) * Image::from_data(weights.clone(), &Default::default());
        let expected = quotients.reshape([15, height * width]).sum_dim(1).reshape([1, 1, 5, 3]).into_data();
        let found = || {
            type Leaf = Tensor<Autodiff<MpsGraph>, 4>;
            let leaf = Leaf::zeros([1, 1, 5, 3], &Default::default()).require_grad();
            let sum = interpolate(leaf.clone(), [height, width], options.clone())
                * Leaf::from_data(weights.clone(), &Default::default());
            gradient(&leaf, &sum.sum().backward())
        };
        assert_gives(&what, &expected, found, Relative(1e-5));
    });
}

/// burn-flex computes f16 in f16.
#[test]
fn floats_of_16_bits_are_rounded_once() {
    each(|what, resized, _, _| {
        for dtype in [DType::F16, DType::BF16] {
            let x = || images::<MpsGraph>(Layout::Extreme, dtype);
            let expected = resized(x().cast(DType::F32)).cast(dtype).into_data();
            assert_gives(&format!("{what} of {dtype:?}"), &expected, || resized(x()).into_data(), Exact);
        }
    });
}

/// burn-flex multiplies by `2 / 98.0`, and 49 times that is less than 1.
#[test]
fn nearest_pixels_are_those_of_exact_coordinates() {
    let halves: Vec<f32> = (0..98).map(|i| if i < 49 { 3.0 } else { 5.0 }).collect();
    let expected = TensorData::new(halves, [1, 1, 1, 98]);
    let found = || {
        let x = Image::from_data([[[[3.0, 5.0]]]], &Default::default());
        interpolate(x, [1, 98], InterpolateOptions::new(InterpolateMode::Nearest)).into_data()
    };
    assert_gives("2 to 98", &expected, found, Exact);
}

/// burn-flex makes NaN of the pixel before the infinity, of 0 times that.
#[test]
fn an_extent_that_stays_keeps_its_elements() {
    let x = || Image::from_data([[[[1.0, f32::INFINITY, f32::NAN, 2.0]]]], &Default::default());
    for mode in MODES {
        let options = InterpolateOptions::new(mode);
        let found = || interpolate(x(), [1, 4], options.clone()).into_data();
        assert_gives("as it was", &x().into_data(), found, Exact);
    }
}

/// Where pixels meet, the neighbour's weight is 0. burn-flex makes NaN of its gradient by 0 times that.
#[test]
fn what_has_no_part_has_gradient_0() {
    let found = || backward([[[[f32::NAN, 2.0, f32::INFINITY]]]], [1, 3], InterpolateMode::Bilinear);
    let expected = TensorData::from([[[[f32::NAN, 1.0, 1.0, f32::INFINITY]]]]);
    assert_gives("between pixels", &expected, found, Exact);
    let found = || backward([[[[f32::NAN, 2.0]]]], [1, 2], InterpolateMode::Bilinear);
    assert_gives("at the corners", &TensorData::from([[[[f32::NAN, 0.0, 0.0, 2.0]]]]), found, Exact);
}

/// A pixel on which no result depends has the gradient 0, whatever the gradients of the others are.
#[test]
fn what_is_skipped_has_gradient_0() {
    let found = || backward([[[[f32::NAN, f32::INFINITY]]]], [1, 2], InterpolateMode::Nearest);
    let expected = TensorData::from([[[[f32::NAN, 0.0, f32::INFINITY, 0.0]]]]);
    assert_gives("every other pixel", &expected, found, Exact);
}

/// The gradient of a row of four pixels.
fn backward<const N: usize>(grad: [[[[f32; N]; 1]; 1]; 1], size: [usize; 2], mode: InterpolateMode) -> TensorData {
    let primitive = |x: Image| x.into_primitive().tensor();
    let x = primitive(Image::zeros([1, 1, 1, 4], &Default::default()));
    let grad = primitive(Image::from_data(grad, &Default::default()));
    let grad = MpsGraph::<f32>::interpolate_backward(x, grad, size, InterpolateOptions::new(mode));
    Image::from_primitive(TensorPrimitive::Float(grad)).into_data()
}
