//! Gradients of resized images.

use burn::tensor::backend::AutodiffBackend;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{DType, TensorData};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout};

use super::{SIZES, images, options};
use crate::compare::{differentiate, gradient};

/// burn-flex sums f16 in f16.
const SUMS: Tolerance = RelativeOf([1e-5, 2e-2, 2e-2]);

const LAYOUTS: [Layout; 3] = [Layout::Contiguous, Layout::Transposed, Layout::Single];

cases! {
    // burn-flex has no gradient of Lanczos3; see `precision`.
    given_autodiff(FLOATS, LAYOUTS, SUMS) {
        nearest = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Nearest);
        bilinear = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Bilinear);
        bicubic = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Bicubic);
    }

    given_autodiff([DType::F32], [Layout::Empty], SUMS) {
        of_no_images = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Bilinear);
    }

    gradients_by_hand() {
        interpolate_backward = |x = [[[[1.0, 2.0], [3.0, 4.0]]]]| interpolate(x, [3, 3], InterpolateOptions::new(
            InterpolateMode::Bilinear)) => [[[[2.25, 2.25], [2.25, 2.25]]]];
    }
}

fn each<B: AutodiffBackend>(layout: Layout, dtype: DType, mode: InterpolateMode) -> Vec<TensorData> {
    let of = |size, options: InterpolateOptions| {
        let leaf = images::<B>(layout, dtype).require_grad();
        differentiate(interpolate(leaf.clone(), size, options), |gradients| vec![gradient(&leaf, gradients)])
    };
    options(&mode).into_iter().flat_map(|options| SIZES.map(|size| of(size, options.clone())).concat()).collect()
}
