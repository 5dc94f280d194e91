//! The neural network methods that 0.22 added or changed.

use burn_backend::ops::{
    AvgPoolOptions, ConvOptions, GridSampleOptions, GridSamplePaddingMode, InterpolateMode, MaxPoolOptions, PadMode,
    UnfoldOptions,
};
use burn_backend::{FloatDType, TensorData};
use burn_tensor::module;
use burn_tensor::{Device, Int, Tensor};

use super::program::{agree, gives, near, run, same};

/// Numbers that differ, of both signs.
fn numbers<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    let count = shape.iter().product::<usize>() as i64;
    (Tensor::<1, Int>::arange(0..count, device).float() * 0.7).sin().reshape(shape)
}

#[test]
fn averages_of_parts_of_volumes() {
    for outputs in [[1, 1, 1], [2, 3, 2], [4, 5, 6], [3, 2, 4], [5, 7, 3]] {
        agree(|device, results| results.add(module::adaptive_avg_pool3d(numbers([2, 3, 4, 5, 6], device), outputs)));
    }
    let eighths = [TensorData::from([[[[[4.5f32]]]]])];
    gives(eighths, |device, results| {
        let x = Tensor::<1, Int>::arange(1..9, device).float().reshape([1, 1, 2, 2, 2]);
        results.add(module::adaptive_avg_pool3d(x, [1, 1, 1]));
    });
}

/// Rows of this many numbers under windows of kernel, stride, padding and dilation, in ceil mode.
const CEILED: [(usize, [usize; 4]); 8] = [
    (5, [2, 2, 0, 1]),
    (9, [2, 3, 0, 1]), // the last window would begin where the row ends
    (4, [2, 3, 1, 1]), // and in the padding behind it
    (6, [3, 2, 1, 1]),
    (7, [3, 4, 1, 2]),
    (1, [2, 2, 1, 1]),
    (3, [4, 2, 0, 1]), // longer than the row, by less than a step
    (8, [2, 3, 1, 3]),
];

#[test]
fn windows_that_begin_behind_the_input_are_left_out() {
    for (count, [kernel, stride, padding, dilation]) in CEILED {
        agree(|device, results| {
            let row = || numbers([2, 3, count], device);
            let maxima = MaxPoolOptions::new([kernel]).with_stride([stride]).with_padding([padding]);
            let maxima = maxima.with_dilation([dilation]).with_ceil_mode(true);
            results.add(module::max_pool1d(row(), maxima.clone()));
            let (values, positions) = module::max_pool1d_with_indices(row(), maxima);
            results.add(values);
            results.add(positions);
            for counted in [false, true].into_iter().filter(|_| dilation == 1) {
                let means = AvgPoolOptions::new([kernel]).with_stride([stride]).with_padding([padding]);
                let means = means.with_count_include_pad(counted).with_ceil_mode(true);
                results.add(module::avg_pool1d(row(), means));
            }
        });
    }
    let ceiled = || MaxPoolOptions::new([2, 3]).with_stride([3, 2]).with_ceil_mode(true);
    agree(|device, results| {
        let image = || numbers([1, 2, 9, 6], device);
        results.add(module::max_pool2d(image(), ceiled()));
        results.add(module::max_pool2d(image(), ceiled().with_padding_pairs([(0, 1), (1, 0)])));
        let means = AvgPoolOptions::new([2, 3]).with_stride([3, 2]).with_padding_pairs([(1, 0), (0, 2)]);
        results.add(module::avg_pool2d(image(), means.with_ceil_mode(true)));
    });
    gives([TensorData::from([[[2.0f32, 5.0, 8.0]]])], |device, results| {
        let row = Tensor::<3>::from_floats([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]], device);
        let options = MaxPoolOptions::new([2]).with_stride([3]).with_ceil_mode(true);
        results.add(module::max_pool1d(row, options));
    });
}

/// Half way between two pixels it is the one with the even number.
#[test]
fn the_nearest_pixel_of_a_point_between_two() {
    let expected = TensorData::from([[[[10.0f32, 12.0, 12.0, 10.0, 13.0]]]]);
    gives([expected], |device, results| {
        let image = Tensor::<4>::from_floats([[[[10.0, 11.0, 12.0, 13.0]]]], device);
        // Pixel 0.5, 1.5, 2.5, -0.5 and 2.75 of 4.
        let x = Tensor::<1>::from_floats([-0.5, 0.0, 0.5, -1.0, 0.625], device);
        let grid = Tensor::stack::<2>(vec![x.clone(), x.zeros_like()], 1).reshape([1, 1, 5, 2]);
        let options = GridSampleOptions::new(InterpolateMode::Nearest);
        results.add(image.grid_sample_2d(grid, options.with_padding_mode(GridSamplePaddingMode::Border)));
    });
    for mode in [GridSamplePaddingMode::Zeros, GridSamplePaddingMode::Border, GridSamplePaddingMode::Reflection] {
        for corners in [false, true] {
            agree(|device, results| {
                // Eighths of images of 5 and 9 pixels, so many points are half way between two.
                let grid = Tensor::<1, Int>::arange(-12..12, device).float().reshape([1, 3, 4, 2]) / 8;
                let options = GridSampleOptions::new(InterpolateMode::Nearest).with_padding_mode(mode);
                results.add(numbers([1, 2, 5, 9], device).grid_sample_2d(grid, options.with_align_corners(corners)));
            });
        }
    }
}

#[test]
fn padding_per_side() {
    agree(|device, results| {
        let options = ConvOptions::new_with_padding([2, 1], [(0, 2), (1, 0)], [1, 2], 2);
        let (x, weight) = (numbers([2, 4, 5, 6], device), numbers([6, 2, 3, 2], device));
        results.add(module::conv2d(x, weight, Some(numbers([6], device)), options));
        let options = ConvOptions::new_with_padding([1], [(3, 1)], [2], 1);
        results.add(module::conv1d(numbers([1, 2, 7], device), numbers([3, 2, 2], device), None, options));
    });
}

/// The norms of a batch of rank `D` in these dtypes: with given statistics, and with its own.
fn batch_norms<const D: usize>(shape: [usize; D]) {
    for (dtype, epsilon) in [(FloatDType::F32, 1e-5), (FloatDType::F32, 0.5), (FloatDType::F16, 1e-3)] {
        let answers = run(|device, results| {
            let x = (numbers(shape, device) * 3.0 + 1.0).cast(dtype);
            let of_channels = |shift: f32| (numbers([shape[1]], device) + shift).cast(dtype);
            let [gamma, beta, mean] = [0.5, -1.0, 0.25].map(of_channels);
            let variance = of_channels(2.0).abs();
            results.add(module::batch_norm(x.clone(), gamma.clone(), beta.clone(), mean, variance, epsilon));
            let normed = module::batch_norm_train(x, gamma, beta, epsilon);
            results.add(normed.output);
            results.add(normed.mean);
            results.add(normed.variance);
        });
        assert_eq!(answers.ours.len(), 4);
        for (ours, flex) in answers.ours.iter().zip(&answers.flex) {
            near(ours, flex);
        }
    }
}

#[test]
fn batch_norms_of_every_rank() {
    batch_norms([5, 3]);
    batch_norms([1, 3, 4]);
    batch_norms([4, 3, 5]);
    batch_norms([2, 1, 3, 4]);
    batch_norms([2, 3, 2, 3, 2]);
}

/// Rows whose mean and variance are known.
#[test]
fn a_batch_norm_by_hand() {
    let expected = [
        TensorData::from([[[-1.0f32, 1.0], [1.0, 1.0]], [[-1.0, 1.0], [1.0, 1.0]]]),
        TensorData::from([3.0f32, 7.0]),
        TensorData::from([4.0f32, 0.0]),
    ];
    gives(expected, |device, results| {
        let x = Tensor::<3>::from_floats([[[1.0, 5.0], [7.0, 7.0]], [[1.0, 5.0], [7.0, 7.0]]], device);
        let (gamma, beta) = (Tensor::<1>::from_floats([1.0, 3.0], device), Tensor::from_floats([0.0, 1.0], device));
        let normed = module::batch_norm_train(x, gamma, beta, 1e-12);
        results.add(normed.output);
        results.add(normed.mean);
        results.add(normed.variance);
    });
}

#[test]
fn folding_undoes_unfolding() {
    agree(|device, results| {
        let options = UnfoldOptions::new([2, 1], [1, 0], [1, 2]);
        let x = numbers([2, 3, 6, 5], device);
        let columns = module::unfold4d(x, [3, 2], options.clone());
        results.add(columns.clone());
        results.add(module::fold4d(columns, [6, 5], [3, 2], options));
    });
}

#[test]
fn pads() {
    agree(|device, results| {
        let x = numbers([3, 4], device);
        for mode in [PadMode::Constant(1.5), PadMode::Reflect, PadMode::Edge] {
            results.add(x.clone().pad([(1, 2), (2, 0)], mode));
        }
        let x = Tensor::<2, Int>::from_ints([[1, 2, 3], [4, 5, 6]], device);
        for mode in [PadMode::Constant(7.0), PadMode::Reflect, PadMode::Edge] {
            results.add(x.clone().pad([(0, 1), (1, 2)], mode));
        }
    });
}

#[test]
fn positions_of_maxima_have_the_dtype_that_is_asked_for() {
    let answers = run(|device, results| {
        let x = numbers([1, 2, 4, 6], device);
        let (maxima, positions) = module::max_pool2d_with_indices(x, MaxPoolOptions::new([2, 3]));
        results.add(maxima);
        results.add(positions);
    });
    for (ours, flex) in answers.ours.iter().zip(&answers.flex) {
        same(ours, flex);
    }
}

#[test]
fn squares_of_integers_wrap() {
    gives([TensorData::from([9, 0, 1_000_000_000_i64.wrapping_mul(1_000_000_000) as i32])], |device, results| {
        results.add(Tensor::<1, Int>::from_ints([-3, 0, 1_000_000_000], device).square());
    });
}
