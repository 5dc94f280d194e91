//! Tensors of rank 0. Burn makes them by `gather_nd` and `reshape` only, and says elsewhere that there are none.

use burn::backend::Autodiff;
use burn::tensor::{Shape, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, eagerly};

type B = Autodiff<MpsGraph>;

/// Numbers that are read out of a matrix, and their gradients, beside values that have nothing to do with them.
fn numbers() -> [TensorData; 4] {
    let device = Default::default();
    let other = Tensor::<B, 1>::from_data([5.0], &device) * 2.0;
    let x = Tensor::<B, 2>::from_data([[1.0, 2.0], [3.0, 4.0]], &device).require_grad();
    let number = x.clone().gather_nd::<1, 0>(Tensor::from_data([1, 0], &device)) * 2.0;
    let exponential = Tensor::<B, 1>::from_data([0.0], &device).reshape::<0, _>(Shape::from(Vec::<usize>::new())).exp();
    let sum = number.clone() + exponential.clone();
    let gradients = number.backward();
    let gradient = x.grad(&gradients).expect("x has a gradient").into_data();
    [other.into_data(), sum.into_data(), exponential.into_data(), gradient]
}

#[test]
fn tensors_of_rank_0() {
    let number = |number: f32| TensorData::new(vec![number], Shape::from(Vec::<usize>::new()));
    let gradient = TensorData::from([[0.0f32, 0.0], [2.0, 0.0]]);
    let expected = [TensorData::from([10.0f32]), number(7.0), number(1.0), gradient];
    assert_eq!(numbers(), expected);
    assert_eq!(eagerly(numbers), expected);
}
