//! Two tensors, and indices.

use burn_backend::tensor::IndexingUpdateOp::{Add, Assign, Max, Min, Mul};
use burn_backend::{DType, IntDType, TensorData};
use burn_tensor::{Device, Int, Tensor};

use super::float::{DTYPES, INF, NAN, numbers};
use super::int::{INTEGERS, integers};
use super::{compare, methods_of_pairs};

#[test]
fn floats() {
    for dtype in DTYPES {
        let left = [NAN, 1.0, INF, -INF, 0.0, -0.0, 5.5, -5.5, 5.5, -5.5, 2.0, 0.0, INF, 1e-3, 7.0];
        let right = [1.0, NAN, INF, INF, -0.0, 0.0, 2.0, 2.0, -2.0, -2.0, 0.0, 0.0, -2.0, 1e3, INF];
        let [left, right] =
            [left, right].map(|row| move |device: &Device| Tensor::<1>::from_floats(row, device).cast(dtype));
        methods_of_pairs!(left, right; add, sub, mul, div, remainder, fmod, powf, powi);
        methods_of_pairs!(left, right; atan2, hypot, max_pair, min_pair);
        methods_of_pairs!(left, right; equal, not_equal, lower, lower_equal, greater, greater_equal);
        methods_of_pairs!(right, left; add, sub, mul, div, remainder, fmod, powf, powi);
        methods_of_pairs!(right, left; atan2, hypot, max_pair, min_pair);
        methods_of_pairs!(right, left; equal, not_equal, lower, lower_equal, greater, greater_equal);
        let (tall, wide) = (
            |device: &Device| numbers([3, 1, 4, 1], dtype, device),
            |device: &Device| numbers([2, 1, 5], dtype, device).unsqueeze::<4>(),
        );
        methods_of_pairs!(tall, wide; add, sub, mul, div, max_pair, lower);
        compare("matmul", |device, results| {
            results.add(numbers([3, 4], dtype, device).matmul(numbers([4, 5], dtype, device)));
            results.add(numbers([2, 1, 3, 4], dtype, device).matmul(numbers([1, 3, 4, 2], dtype, device)));
            let [none, nothing] = [[2, 0], [0, 3]].map(|shape| Tensor::<2>::zeros(shape, device).cast(dtype));
            results.add(none.matmul(nothing));
            results.add(numbers([7], dtype, device).dot(numbers([7], dtype, device) + 1));
            // Whole numbers, because burn-flex rounds 16-bit products one by one.
            let whole = |more: i64| (numbers([3, 4], dtype, device) * 4 + more).round();
            results.add(whole(0).cross(whole(1), 0));
        });
    }
}

#[test]
fn indices() {
    let pick = |device: &Device| Tensor::<2, Int>::from_ints([[0, 1], [1, 1], [3, 2], [4, 4]], device);
    let some = |device: &Device| Tensor::<1, Int>::from_ints([4, 0, 4], device);
    let places = |device: &Device| Tensor::<2, Int>::from_ints([[0, 1], [0, 1], [3, 2]], device);
    for dtype in DTYPES {
        compare("gather", |device, results| {
            let x = numbers([4, 5], dtype, device);
            results.add(x.clone().gather(1, pick(device)));
            results.add(x.clone().select(1, some(device)));
            results.add(x.clone().take::<1, 2>(1, some(device)));
            results.add(x.gather_nd::<2, 1>(places(device)));
        });
    }
    for dtype in INTEGERS {
        compare("gather of integers", |device, results| {
            let x = integers(dtype, device);
            results.add(x.clone().gather(1, pick(device)));
            results.add(x.clone().select(1, some(device)));
            results.add(x.gather_nd::<2, 1>(places(device)));
        });
        for update in [Assign, Add, Mul, Min, Max] {
            compare("updates of integers", |device, results| {
                let x = integers(dtype, device);
                let of = |values: &[i64]| data(values, dtype, device);
                let values = of(&[9, 2, 3, 4, 5, 6, 7, 8]).reshape([4, 2]);
                results.add(x.clone().scatter(1, pick(device), values.clone(), update));
                results.add(x.clone().select_assign(1, Tensor::from_ints([4, 4], device), values, update));
                results.add(x.scatter_nd(places(device), of(&[9, 2, 3]), update));
            });
        }
    }
}

/// Integers of a dtype.
pub fn data(values: &[i64], dtype: IntDType, device: &Device) -> Tensor<1, Int> {
    let data = TensorData::new(values.to_vec(), [values.len()]).convert_dtype(dtype.into());
    Tensor::from_data(data, (device, DType::from(dtype)))
}
