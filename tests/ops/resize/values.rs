//! Resized images.
//!
//! Where one extent stays, the axis is left as it is. burn-flex multiplies the neighbours by 0 there, which makes NaN
//! next to an infinity, so extreme numbers are resized along both axes.

use burn::tensor::TensorData;
use burn::tensor::backend::Backend;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{DType, Tensor};
use test_support::Tolerance::{self, Exact, RelativeOf, Within};
use test_support::{FLOATS, Layout};

use super::{OTHER_SIZES, SIZES, images, options};

/// burn-flex resizes bilinearly in f16.
const WEIGHTED: Tolerance = RelativeOf([2e-6, 4e-3, 1e-2]);

/// Extremes cancel each other.
const CANCELLED: Tolerance = Within { absolute: 0.05, relative: 1e-5 };

cases! {
    given(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme,
                   Layout::Single, Layout::Empty], Exact) {
        nearest = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Nearest, &SIZES);
    }

    given(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Single,
                   Layout::Empty], WEIGHTED) {
        bilinear = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Bilinear, &SIZES);
        bicubic = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Bicubic, &SIZES);
        lanczos3 = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Lanczos3, &SIZES);
    }

    given([DType::F32], [Layout::Extreme], CANCELLED) {
        extreme_bilinear = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Bilinear, &OTHER_SIZES);
        extreme_bicubic = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Bicubic, &OTHER_SIZES);
        extreme_lanczos3 = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Lanczos3, &OTHER_SIZES);
    }

    given([DType::F32], [Layout::Contiguous], WEIGHTED) {
        several_channels = |layout, dtype| {
            let image = images::<B>(layout, dtype).swap_dims(0, 1);
            [InterpolateMode::Bilinear, InterpolateMode::Bicubic].map(|mode| each(image.clone(), mode, &SIZES)).concat()
        };
        to_nothing = |layout, dtype| each::<B>(images(layout, dtype), InterpolateMode::Bilinear, &[[0, 4], [4, 0]]);
    }

    by_hand() {
        interpolate = |x = [[[[1.0, 2.0], [3.0, 4.0]]]]| interpolate(x, [3, 3], InterpolateOptions::new(
            InterpolateMode::Bilinear)) => [[[[1.0, 1.5, 2.0], [2.0, 2.5, 3.0], [3.0, 3.5, 4.0]]]];
    }
}

/// With both corner conventions, to each of the sizes.
fn each<B: Backend>(x: Tensor<B, 4>, mode: InterpolateMode, sizes: &[[usize; 2]]) -> Vec<TensorData> {
    let resized = |options: InterpolateOptions| {
        sizes.iter().map(move |&size| (size, options.clone())).map(|(size, options)| {
            let resized = interpolate(x.clone(), size, options);
            resized.into_data()
        })
    };
    options(&mode).into_iter().flat_map(resized).collect()
}
