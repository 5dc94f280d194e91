//! Integer products: exact, wrapping around.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{self, Exact};
use test_support::{FILLED, INTEGERS, INTS, distinct, integer_data};

use crate::compare::compare;

cases! {
    sweep(ints, INTS, FILLED, Exact) {
        product = |x| x.clone().matmul(x.transpose());
        product_of_transposed = |x| x.clone().transpose().matmul(x);
    }

    by_hand() {
        matmul = |x = [[1, 2], [3, 4]], y = [[5], [-6]]| x.matmul(y) => [[-7], [-9]];
    }
}

/// burn-flex multiplies 32 and 64 bits only; the low bits of a wider product are those of the narrower one.
fn narrowed(data: Vec<TensorData>, dtype: DType) -> Vec<TensorData> {
    let narrow = |data: TensorData| {
        let values: Vec<i128> = data.iter::<i64>().map(i128::from).collect();
        integer_data(&values, data.shape.to_vec(), dtype)
    };
    data.into_iter().map(narrow).collect()
}

#[test]
fn shapes() {
    fn case<B: Backend>(dtype: DType) -> Vec<TensorData> {
        fn of<B: Backend, const D: usize>(shape: [usize; D], dtype: DType) -> Tensor<B, D, Int> {
            Tensor::from_data(distinct(shape, dtype), (&B::Device::default(), dtype))
        }
        vec![
            of::<B, 2>([3, 4], dtype).matmul(of([4, 2], dtype)).into_data(),
            of::<B, 2>([1, 5], dtype).matmul(of([5, 1], dtype)).into_data(),
            of::<B, 2>([70, 33], dtype).matmul(of([33, 65], dtype)).into_data(),
            of::<B, 3>([2, 3, 4], dtype).matmul(of([1, 4, 2], dtype)).into_data(),
            of::<B, 4>([2, 1, 3, 4], dtype).matmul(of([1, 3, 4, 2], dtype)).into_data(),
            of::<B, 2>([4, 3], dtype).transpose().matmul(of([4, 2], dtype).flip([1])).into_data(),
        ]
    }
    for dtype in INTEGERS {
        let what = format!("products of {dtype:?}");
        compare(
            &what,
            Tolerance::Exact,
            || narrowed(case::<burn_flex::Flex>(DType::I64), dtype),
            || case::<MpsGraph>(dtype),
        );
    }
}

#[test]
fn beyond_the_integers_of_f32() {
    let of = |data: [[i64; 2]; 1]| Tensor::<MpsGraph, 2, Int>::from_data(data, (&Default::default(), DType::I64));
    let (a, b) = ((1 << 31) + 1, (1 << 30) - 1);
    let found = of([[a, 7]]).matmul(of([[b, 3]]).transpose()).into_data();
    found.assert_eq(&TensorData::from([[a * b + 21]]), true);
}

/// burn-flex fails on these.
#[test]
fn sums_of_nothing_are_zero() {
    let of = |shape| Tensor::<MpsGraph, 2, Int>::zeros(shape, &Default::default());
    let product = |a, b| of(a).matmul(of(b)).into_data();
    product([2, 0], [0, 3]).assert_eq(&TensorData::from([[0, 0, 0], [0, 0, 0]]), true);
    assert_eq!(product([0, 2], [2, 3]).shape.as_slice(), [0, 3]);
    assert_eq!(product([2, 3], [3, 0]).shape.as_slice(), [2, 0]);
}
