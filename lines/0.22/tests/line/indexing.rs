//! Scatter and select with every update.

use burn_backend::ops::IntTensorOps;
use burn_backend::tensor::IndexingUpdateOp::{self, Add, Assign, Max, Min, Mul};
use burn_backend::{FloatDType, TensorData, read_sync};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use burn_tensor::{Device, Int, Tensor};

use super::program::{Results, agree, gives, same};

const UPDATES: [IndexingUpdateOp; 5] = [Assign, Add, Mul, Min, Max];

/// Every update of floats, of integers, and along each of three axes; indices repeat.
#[test]
fn scatters_agree() {
    for update in UPDATES {
        agree(|device, results| {
            let x = Tensor::<1, Int>::arange(0..24, device).reshape([2, 3, 4]);
            let values = Tensor::<1, Int>::arange(-5..11, device).reshape([2, 2, 4]);
            let indices = Tensor::<1, Int>::from_ints([0, 2, 1, 1, 0, 2, 0, 1, 2, 2, 1, 0, 1, 0, 1, 2], device);
            let along = |results: &mut Results, dim: usize, shape: [usize; 3]| {
                let (indices, values) = (indices.clone().reshape(shape), values.clone().reshape(shape));
                // Every axis has at least as many elements as the highest index asks for, or fewer and clipped ones.
                let indices = indices.clamp(0, if dim == 0 { 1 } else { 2 });
                results.add(x.clone().scatter(dim, indices.clone(), values.clone(), update));
                results.add(x.clone().float().scatter(dim, indices, values.float(), update));
            };
            along(results, 1, [2, 2, 4]);
            let (indices, values) =
                (indices.clone().slice(0..12).reshape([1, 3, 4]), values.clone().reshape([16]).slice(0..12));
            let values = values.reshape([1, 3, 4]);
            results.add(x.clone().scatter(0, indices.clone().clamp(0, 1), values.clone(), update));
            results.add(x.clone().float().scatter(0, indices.clone().clamp(0, 1), values.clone().float(), update));
            let (indices, values) = (indices.reshape([2, 3, 2]), values.reshape([2, 3, 2]));
            results.add(x.clone().scatter(2, indices.clone(), values.clone(), update));
            results.add(x.float().scatter(2, indices, values.float(), update));
        });
    }
}

#[test]
fn products_of_many_integers_agree() {
    for dim in [0, 1] {
        agree(|device, results| {
            let x = Tensor::<1, Int>::arange(0..10_000, device).reshape([100, 100]);
            let at = (x.clone() * 7 + 3) % 100;
            results.add(x.clone().scatter(dim, at, x % 3 + 1, Mul));
        });
    }
}

/// burn-flex ends such an update.
#[test]
fn far_indices_meet_the_nearest_element() {
    let given = |data| MpsGraph::int_from_data(data, &MpsGraphDevice);
    let (x, values) = (given(TensorData::from([[1, 2, 3]])), given(TensorData::from([[8, 9]])));
    let at = given(TensorData::from([[1i64 << 32, -(1 << 32)]]));
    let found = MpsGraph::int_scatter(1, x, at, values, Max);
    same(&read_sync(MpsGraph::int_into_data(found)).expect("a value"), &TensorData::from([[9, 2, 8]]));
}

#[test]
fn the_last_of_several_assigned_values_stays() {
    let expected = [TensorData::from([[7.0f32, 2.0, 5.0]]), TensorData::from([[9, 8, 3]])];
    gives(expected, |device, results| {
        let x = Tensor::<2>::from_floats([[1.0, 2.0, 3.0]], device);
        let at = Tensor::<2, Int>::from_ints([[0, 2, 0]], device);
        results.add(x.scatter(1, at, Tensor::from_floats([[4.0, 5.0, 7.0]], device), Assign));
        let x = Tensor::<2, Int>::from_ints([[1, 2, 3]], device);
        let at = Tensor::<1, Int>::from_ints([0, 1, 0], device);
        results.add(x.select_assign(1, at, Tensor::from_ints([[4, 8, 9]], device), Assign));
    });
}

#[test]
fn a_nan_is_no_extreme_of_others_and_stays_where_it_is() {
    let expected = [TensorData::from([[1.0f32, f32::NAN, 5.0]]), TensorData::from([[-1.0f32, f32::NAN, 3.0]])];
    gives(expected, |device, results| {
        let x = Tensor::<2>::from_floats([[1.0, f32::NAN, 3.0]], device);
        let at = Tensor::<2, Int>::from_ints([[0, 1, 2]], device);
        let values = Tensor::<2>::from_floats([[f32::NAN, 2.0, 5.0]], device);
        results.add(x.clone().scatter(1, at.clone(), values, Max));
        let values = Tensor::<2>::from_floats([[-1.0, 2.0, f32::NAN]], device);
        results.add(x.scatter(1, at, values, Min));
    });
}

#[test]
fn selections_agree() {
    for update in UPDATES {
        agree(|device, results| {
            let x = Tensor::<1, Int>::arange(0..24, device).reshape([2, 3, 4]);
            let at = |indices: &[i32]| Tensor::<1, Int>::from_ints(indices, device);
            let values = |shape: [usize; 3]| {
                let count = shape.iter().product::<usize>() as i64;
                Tensor::<1, Int>::arange(-7..count - 7, device).reshape(shape)
            };
            let cases =
                [(0, at(&[1, 1, 0]), [3, 3, 4]), (1, at(&[2, 0, 2, 1]), [2, 4, 4]), (2, at(&[3, 3]), [2, 3, 2])];
            for (dim, indices, shape) in cases {
                results.add(x.clone().select_assign(dim, indices.clone(), values(shape), update));
                results.add(x.clone().float().select_assign(dim, indices, values(shape).float(), update));
            }
        });
    }
}

#[test]
fn slices_at_coordinates_agree() {
    for update in UPDATES {
        agree(|device: &Device, results| {
            let x = Tensor::<1, Int>::arange(0..12, device).reshape([3, 4]);
            let at = Tensor::<2, Int>::from_ints([[2, 1], [0, 0], [2, 1]], device);
            let values = Tensor::<1, Int>::from_ints([5, -3, 2], device);
            results.add(x.clone().scatter_nd(at.clone(), values.clone(), update));
            results.add(x.float().scatter_nd(at, values.float(), update));
        });
    }
}

const FLOATS: [FloatDType; 3] = [FloatDType::F32, FloatDType::F16, FloatDType::BF16];

/// What an update makes of a row in which the element before, the value, or neither is NaN.
#[test]
fn updates_with_nan_in_every_dtype() {
    const NAN: f32 = f32::NAN;
    let expected = [
        (Assign, [NAN, 2.0, 5.0]),
        (Add, [NAN, NAN, 8.0]),
        (Mul, [NAN, NAN, 15.0]),
        (Min, [1.0, NAN, 3.0]),
        (Max, [1.0, NAN, 5.0]),
    ];
    for (dtype, (update, row)) in FLOATS.into_iter().flat_map(|dtype| expected.map(|case| (dtype, case))) {
        let row = TensorData::from([row]).convert_dtype(dtype.into());
        gives([row.clone(), row], |device, results| {
            let x = Tensor::<2>::from_floats([[1.0, NAN, 3.0]], device).cast(dtype);
            let values = Tensor::<2>::from_floats([[NAN, 2.0, 5.0]], device).cast(dtype);
            let at = Tensor::<2, Int>::from_ints([[0, 1, 2]], device);
            results.add(x.clone().scatter(1, at, values.clone(), update));
            let at = Tensor::<1, Int>::from_ints([0, 1, 2], device);
            results.add(x.select_assign(1, at, values, update));
        });
    }
}

/// Indices repeat; all numbers and results are small integers, which the dtypes hold.
#[test]
fn updates_of_short_floats_agree() {
    for (dtype, update) in FLOATS.into_iter().flat_map(|dtype| UPDATES.map(|update| (dtype, update))) {
        agree(|device, results| {
            let floats = |range: std::ops::Range<i64>| Tensor::<1, Int>::arange(range, device).float().cast(dtype);
            let (x, values) = (floats(-4..8).reshape([3, 4]), floats(-2..4).reshape([3, 2]));
            let at = Tensor::<2, Int>::from_ints([[0, 0], [3, 1], [2, 2]], device);
            results.add(x.clone().scatter(1, at, values.clone(), update));
            let at = Tensor::<1, Int>::from_ints([1, 1], device);
            results.add(x.clone().select_assign(1, at, values, update));
            let at = Tensor::<2, Int>::from_ints([[2, 1], [0, 0], [2, 1]], device);
            results.add(x.scatter_nd(at, floats(2..5), update));
        });
    }
}
