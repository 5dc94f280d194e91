//! Images at the points of a grid.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::ops::{GridSampleOptions, InterpolateMode};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::{self, Exact, RelativeOf, Within};
use test_support::{FLOATS, FULL, Layout, floats};

use super::options;
use crate::compare::{differentiate, gradient};

const WEIGHTED: Tolerance = RelativeOf([2e-6, 1e-3, 1e-2]);

/// Grid numbers on pixels, between them, half way, at the edges and far outside.
const NUMBERS: [f32; 14] = [-1.0, -0.75, 0.0, 0.3, 1.0, 0.9, -1.1, 1.25, 2.0, -2.5, 3.0, 7.3, -123.4, 0.55];

cases! {
    given(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Single], Exact) {
        nearest = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Nearest);
    }

    given(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Single],
          WEIGHTED) {
        bilinear = |layout, dtype| each::<B>(layout, dtype, InterpolateMode::Bilinear);
    }

    given([DType::F32], [Layout::Contiguous], WEIGHTED) {
        no_images = |_layout, dtype| vec![sampled::<B>(dtype, [0, 2, 3, 3], [0, 4, 4, 2])];
        no_points = |_layout, dtype| vec![sampled::<B>(dtype, [1, 2, 3, 3], [1, 0, 4, 2])];
    }

    // Weights are f32 and pixels about 100.
    given([DType::F32], [Layout::Contiguous], Within { absolute: 2e-5, relative: 0.0 }) {
        long_axes = |_layout, dtype| [[1, 2000], [1000, 4]].map(|size| along_an_axis::<B>(dtype, size)).concat();
    }

    // Burn composes it for autodiff.
    given_autodiff([DType::F32], FULL[..1], WEIGHTED) {
        gradients_of_bilinear = |layout, dtype| gradients::<B>(layout, dtype);
    }

    by_hand() {
        grid_sample_2d = |x = [[[[1.0, 2.0], [3.0, 4.0]]]], grid = [[[[0.0, 0.0], [-1.0, -1.0]]]]|
            x.grid_sample_2d(grid, GridSampleOptions::default()) => [[[[2.5, 0.25]]]];
    }
}

/// Every number with every other one, in another order for the second image.
fn points<B: Backend>(dtype: DType, images: usize) -> Tensor<B, 4> {
    let count = NUMBERS.len();
    let numbers: Vec<f32> = (0..images * count * count)
        .flat_map(|i| [NUMBERS[i % count], NUMBERS[(i / count + i / count / count * 3) % count]])
        .collect();
    let data = TensorData::new(numbers, [images, count, count, 2]).convert_dtype(dtype);
    Tensor::from_data(data, (&B::Device::default(), dtype))
}

fn each<B: Backend>(layout: Layout, dtype: DType, mode: InterpolateMode) -> Vec<TensorData> {
    let numbers = floats::<B>(layout, dtype, 0);
    let one = numbers.clone().unsqueeze_dim::<4>(1);
    // Enough channels to be read together.
    let many = Tensor::cat((1..=9).map(|times| one.clone() * times).collect(), 1);
    let images = [one, numbers.unsqueeze_dim::<4>(0), many];
    let sampled = |options: GridSampleOptions| {
        images.clone().map(|x| {
            let grid = points(dtype, x.dims()[0]);
            x.grid_sample_2d(grid, options.clone()).into_data()
        })
    };
    options(&mode).into_iter().flat_map(sampled).collect()
}

fn sampled<B: Backend>(dtype: DType, image: [usize; 4], grid: [usize; 4]) -> TensorData {
    let zeros = |shape| Tensor::<B, 4>::zeros(shape, (&B::Device::default(), dtype));
    zeros(image).grid_sample_2d(zeros(grid), GridSampleOptions::default()).into_data()
}

/// Points anywhere along axes so long that f32 has few digits for a place between two pixels: against the same in f64.
#[test]
fn points_along_very_long_axes() {
    type B = burn_mpsgraph::MpsGraph;
    let extents = [2048, 2049, 5000, 8193, 10_000, 65_536, 1_000_001, 1 << 22, (1 << 22) + 1, (1 << 24) - 1, 1 << 24];
    for (extent, align_corners) in extents.into_iter().flat_map(|extent| [(extent, false), (extent, true)]) {
        let number = |i: usize| ((i * 7919 % 20_011) as f64 / 10_005.5 - 1.0) as f32 * 0.999;
        let numbers: Vec<f32> = (0..2000).map(number).collect();
        let grid = numbers.iter().flat_map(|&number| [0.0, number]).collect();
        let grid = Tensor::<B, 4>::from_data(TensorData::new(grid, [1, 1, 2000, 2]), &Default::default());
        let places = Tensor::<B, 1, burn::tensor::Int>::arange(0..extent as i64, &Default::default());
        let image = places.remainder_scalar(4096).float().reshape([1, 1, extent, 1]);
        let sampled = |mode| {
            let options = GridSampleOptions::new(mode).with_align_corners(align_corners);
            image.clone().grid_sample_2d(grid.clone(), options).into_data().to_vec::<f32>().expect("f32")
        };
        let (nearest, between) = (sampled(InterpolateMode::Nearest), sampled(InterpolateMode::Bilinear));
        let scale = if align_corners { extent - 1 } else { extent } as f64 / 2.0;
        for (at, number) in numbers.into_iter().enumerate() {
            let place = f64::from(number) * scale + (extent - 1) as f64 / 2.0;
            let of = |place: f64| (place as usize % 4096) as f64;
            let (low, behind) = (place.floor(), place - place.floor());
            // Where the rest of the number is many pixels, it has the digits of f32.
            let close = 1e-3_f64.max(extent as f64 * 1e-10);
            if (behind - 0.5).abs() > close {
                assert_eq!(f64::from(nearest[at]), of(place.round()), "{number} of {extent} pixels, {place}");
            }
            if behind > close && behind < 1.0 - close {
                let expected = of(low) * (1.0 - behind) + of(low + 1.0) * behind;
                let (found, slope) = (f64::from(between[at]), (of(low + 1.0) - of(low)).abs());
                assert!(
                    (found - expected).abs() < 1e-3 + slope * close,
                    "{found} is not {expected}: {number} of {extent}"
                );
            }
        }
    }
}

/// Grid numbers in equal steps, as an image is resized by a grid: many fall half way between two pixels but for the
/// rounding of the number.
fn along_an_axis<B: Backend>(dtype: DType, [height, width]: [usize; 2]) -> Vec<TensorData> {
    let at = |shape: [usize; 4], numbers: Vec<f32>| {
        Tensor::<B, 4>::from_data(TensorData::new(numbers, shape), (&B::Device::default(), dtype))
    };
    let image = at([1, 1, height, width], (0..height * width).map(|i| (i * 37 % 101) as f32).collect());
    let steps = 2 * height.max(width) - 1;
    let number = |i: usize| i as f32 * (2.0 / (steps - 1) as f32) - 1.0;
    let grid = at([1, 1, steps, 2], (0..steps).flat_map(|i| [number(i), number(i)]).collect());
    let sampled = |options| image.clone().grid_sample_2d(grid.clone(), options).into_data();
    let modes = [InterpolateMode::Nearest, InterpolateMode::Bilinear];
    modes.iter().flat_map(options).map(sampled).collect()
}

fn gradients<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let of = |options| {
        let leaf = floats::<B>(layout, dtype, 0).unsqueeze_dim::<4>(1).require_grad();
        let grid = (points::<B>(dtype, 2) * 0.4).require_grad();
        differentiate(leaf.clone().grid_sample_2d(grid.clone(), options), |gradients| vec![gradient(&leaf, gradients)])
    };
    options(&InterpolateMode::Bilinear).into_iter().flat_map(of).collect()
}
