//! What Burn 0.22 says of NaN and of nothing.

use burn_backend::TensorData;
use burn_tensor::{Bool, Device, Int, Tensor};

use super::program::{Results, agree, gives, run, same};

const NAN: f32 = f32::NAN;

fn rows(device: &Device) -> Tensor<2> {
    Tensor::from_floats([[1.0, NAN, 3.0, NAN], [4.0, 7.0, -9.0, 7.0]], device)
}

#[test]
fn nan_is_the_extreme() {
    let expected = [
        TensorData::from([NAN]),
        TensorData::from([NAN]),
        TensorData::from([NAN]),
        TensorData::from([[NAN], [7.0]]),
        TensorData::from([[NAN], [-9.0]]),
        TensorData::from([[NAN], [9.0]]),
    ];
    gives(expected, |device, results| {
        let x = rows(device);
        results.add(x.clone().max());
        results.add(x.clone().min());
        results.add(x.clone().max_abs());
        results.add(x.clone().max_dim(1));
        results.add(x.clone().min_dim(1));
        results.add(x.max_abs_dim(1));
    });
}

#[test]
fn the_first_nan_has_the_position_of_the_extreme() {
    let positions = [TensorData::from([[1], [1]]), TensorData::from([[1], [2]])];
    gives(positions, |device, results| {
        let x = rows(device);
        results.add(x.clone().argmax(1));
        results.add(x.argmin(1));
    });
    let with_values = [
        TensorData::from([[NAN], [7.0]]),
        TensorData::from([[1], [1]]),
        TensorData::from([[NAN], [-9.0]]),
        TensorData::from([[1], [2]]),
    ];
    gives(with_values, |device, results| {
        let (largest, at) = rows(device).max_dim_with_indices(1);
        results.add(largest);
        results.add(at);
        let (smallest, at) = rows(device).min_dim_with_indices(1);
        results.add(smallest);
        results.add(at);
    });
}

#[test]
fn running_extremes_stay_nan() {
    let expected = [
        TensorData::from([[1.0, NAN, NAN, NAN], [4.0, 7.0, 7.0, 7.0]]),
        TensorData::from([[1.0, NAN, NAN, NAN], [4.0, 4.0, -9.0, -9.0]]),
    ];
    gives(expected, |device, results| {
        results.add(rows(device).cummax(1));
        results.add(rows(device).cummin(1));
    });
}

#[test]
fn nan_has_no_sign() {
    gives([TensorData::from([0.0f32, 0.0, 0.0, 1.0, -1.0])], |device, results| {
        results.add(Tensor::<1>::from_floats([NAN, 0.0, -0.0, f32::INFINITY, -2.0], device).sign());
    });
}

#[test]
fn reductions_of_nothing() {
    let expected = [
        TensorData::from([0.0f32]),
        TensorData::from([1.0f32]),
        TensorData::from([NAN]),
        TensorData::from([false]),
        TensorData::from([true]),
        TensorData::from([[0.0f32], [0.0]]),
        TensorData::from([[1.0f32], [1.0]]),
        TensorData::from([[NAN], [NAN]]),
        TensorData::from([[false], [false]]),
        TensorData::from([[true], [true]]),
    ];
    gives(expected, |device, results| {
        let none = Tensor::<2>::zeros([2, 0], device);
        results.add(none.clone().sum());
        results.add(none.clone().prod());
        results.add(none.clone().mean());
        results.add(none.clone().any());
        results.add(none.clone().all());
        results.add(none.clone().sum_dim(1));
        results.add(none.clone().prod_dim(1));
        results.add(none.clone().mean_dim(1));
        results.add(none.clone().any_dim(1));
        results.add(none.all_dim(1));
    });
}

#[test]
fn reductions_of_no_integers_and_no_bools() {
    let expected = [TensorData::from([0]), TensorData::from([1]), TensorData::from([false]), TensorData::from([true])];
    gives(expected, |device, results| {
        let none = Tensor::<1, Int>::zeros([0], device);
        results.add(none.clone().sum());
        results.add(none.prod());
        let none = Tensor::<1, Bool>::from_data(TensorData::new(Vec::<bool>::new(), [0]), device);
        results.add(none.clone().any());
        results.add(none.all());
    });
}

#[test]
fn sums_over_several_dimensions() {
    let sums = |device: &Device, results: &mut Results| {
        let x = Tensor::<3>::from_floats(
            [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [0.5, 0.25, 0.125]]],
            device,
        );
        results.add(x.clone().sum_dims(&[0, 2]));
        results.add(x.clone().sum_dims(&[1]));
        results.add(x.sum_dims(&[0, 1, 2]));
    };
    agree(sums);
    let expected = [
        TensorData::from([[[30.0f32], [15.875]]]),
        TensorData::from([[[5.0f32, 7.0, 9.0]], [[7.5, 8.25, 9.125]]]),
        TensorData::from([[[45.875f32]]]),
    ];
    gives(expected, sums);
}

#[test]
fn the_hypotenuse_does_not_overflow_on_the_way() {
    let expected =
        [TensorData::from([5.0f32, 5.0, 0.0, 5.0e30, NAN, f32::INFINITY, f32::INFINITY, f32::INFINITY, f32::INFINITY])];
    gives(expected, |device, results| {
        let a = Tensor::<1>::from_floats([3.0, -4.0, 0.0, 3.0e30, NAN, f32::INFINITY, 1.0, f32::INFINITY, NAN], device);
        let b = Tensor::<1>::from_floats(
            [4.0, 3.0, 0.0, 4.0e30, 1.0, 1.0, f32::NEG_INFINITY, f32::INFINITY, f32::INFINITY],
            device,
        );
        results.add(a.hypot(b));
    });
}

#[test]
fn the_largest_with_their_positions() {
    let expected = [TensorData::from([[9.0f32, 5.0], [8.0, 8.0]]), TensorData::from([[2, 1], [0, 3]])];
    gives(expected, |device, results| {
        let x = Tensor::<2>::from_floats([[1.0, 5.0, 9.0, -2.0], [8.0, 0.0, 3.0, 8.0]], device);
        let (values, positions) = x.topk_with_indices(2, 1);
        results.add(values);
        results.add(positions);
    });
    // burn-flex gives these positions in i64, whatever the device's integers are.
    let answers = run(|device, results| {
        let (values, positions) = Tensor::<2, Int>::from_ints([[3, 4, -1]], device).topk_with_indices(2, 1);
        results.add(values);
        results.add(positions);
    });
    same(&answers.ours[0], &TensorData::from([[4, 3]]));
    same(&answers.ours[1], &TensorData::from([[1, 0]]));
}
