//! 16-bit floats are weighted in f32 and rounded once: burn-flex's result in f32 of the same numbers, rounded.

use burn::tensor::backend::Backend;
use burn::tensor::ops::InterpolateMode;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Ulps;

use super::options;
use crate::compare::compare;

/// Points between pixels that `dtype` holds, of images that it holds, with few channels and many.
fn sampled<B: Backend>(dtype: DType, computed: DType) -> Vec<TensorData> {
    let of = |shape: [usize; 4], step: usize, scale: f32| {
        let number = |i: usize| (i * step % 101) as f32 * scale - 50.0 * scale;
        let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
        let data = TensorData::new(numbers, shape).convert_dtype(dtype).convert_dtype(computed);
        Tensor::<B, 4>::from_data(data, (&B::Device::default(), computed))
    };
    let each = |options| {
        [3, 9].map(|channels| {
            let (image, grid) = (of([2, channels, 5, 7], 37, 0.13), of([2, 6, 4, 2], 53, 0.023));
            image.grid_sample_2d(grid, Clone::clone(&options)).into_data()
        })
    };
    options(&InterpolateMode::Bilinear).into_iter().flat_map(each).collect()
}

#[test]
fn means_are_rounded_once() {
    for dtype in [DType::F16, DType::BF16] {
        let rounded = || {
            let exact = sampled::<Flex>(dtype, DType::F32).into_iter();
            exact.map(|data| data.convert_dtype(dtype)).collect()
        };
        compare(&format!("{dtype:?}"), Ulps(1), rounded, || sampled::<MpsGraph>(dtype, dtype));
    }
}
