//! The neural network methods that 0.22 added or changed.

use burn_backend::TensorData;
use burn_backend::ops::{ConvOptions, MaxPoolOptions, PadMode, UnfoldOptions};
use burn_tensor::module;
use burn_tensor::{Device, Int, Tensor};

use super::program::{agree, gives, run, same};

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

#[test]
fn batch_norms() {
    agree(|device, results| {
        let x = numbers([4, 3, 5], device) * 3.0 + 1.0;
        let [gamma, beta, mean, variance] = [0.5, -1.0, 0.25, 2.0].map(|shift| numbers([3], device) + shift);
        let variance = variance.abs();
        results.add(module::batch_norm(x.clone(), gamma.clone(), beta.clone(), mean, variance, 1e-5));
        let normed = module::batch_norm_train(x, gamma, beta, 1e-5);
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
