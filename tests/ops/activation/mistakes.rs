//! Mistakes in activation functions are refused by name.

use burn::tensor::backend::BackendTypes;
use burn::tensor::ops::ActivationOps;
use burn::tensor::{DType, Tensor, activation as act};
use burn_mpsgraph::MpsGraph;
use test_support::assert_refused;

type B = MpsGraph<f32, i32>;

fn zeros(shape: [usize; 2], dtype: DType) -> <B as BackendTypes>::FloatTensorPrimitive {
    Tensor::<B, 2>::zeros(shape, (&Default::default(), dtype)).into_primitive().tensor()
}

#[test]
fn axes_out_of_range() {
    let x = || zeros([2, 3], DType::F32);
    assert_refused(&["softmax", "dim 2", "[2, 3]"], || B::softmax(x(), 2));
    assert_refused(&["log_softmax", "dim 5", "[2, 3]"], || B::log_softmax(x(), 5));
    assert_refused(&["softmin", "dim 2", "[2, 3]"], || B::softmin(x(), 2));
    // Burn's own check.
    let x = || Tensor::<B, 2>::zeros([2, 3], &Default::default());
    assert_refused(&["2"], || act::softmax(x(), 2));
}

#[test]
fn operands_that_do_not_go_together() {
    let (x, grad) = (|| zeros([2, 3], DType::F32), || zeros([3, 2], DType::F32));
    assert_refused(&["relu_backward", "[2, 3]", "[3, 2]"], || B::relu_backward(x(), grad()));
    assert_refused(&["gelu_backward", "[2, 3]", "[3, 2]"], || B::gelu_backward(x(), grad()));
    assert_refused(&["prelu", "[2, 3]", "[3, 2]"], || B::prelu(x(), grad()));
    let half = || zeros([2, 3], DType::F16);
    assert_refused(&["sigmoid_backward", "F32", "F16"], || B::sigmoid_backward(x(), half()));
}
