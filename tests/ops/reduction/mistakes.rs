//! Mistakes in reductions are refused by name.

use std::pin::pin;
use std::task::{Context, Waker};

use burn::tensor::backend::BackendTypes;
use burn::tensor::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn::tensor::{Bool, DType, Int, IntDType, Tensor};
use burn_mpsgraph::MpsGraph;
use test_support::assert_refused;

type B = MpsGraph<f32, i32>;

fn floats(shape: [usize; 2]) -> <B as BackendTypes>::FloatTensorPrimitive {
    Tensor::<B, 2>::zeros(shape, &Default::default()).into_primitive().tensor()
}

#[test]
fn axes_out_of_range() {
    let parts = ["dim 2", "[2, 3]"];
    assert_refused(&[&["sum_dim"], &parts[..]].concat(), || B::float_sum_dim(floats([2, 3]), 2));
    assert_refused(&[&["mean_dim"], &parts[..]].concat(), || B::float_mean_dim(floats([2, 3]), 2));
    assert_refused(&[&["argmax"], &parts[..]].concat(), || B::float_argmax(floats([2, 3]), 2, IntDType::I32));
    let ints = Tensor::<B, 2, Int>::zeros([2, 3], &Default::default()).into_primitive();
    assert_refused(&[&["prod_dim"], &parts[..]].concat(), || B::int_prod_dim(ints, 2));
    let bools = Tensor::<B, 2, Bool>::zeros([2, 3], &Default::default()).into_primitive();
    assert_refused(&[&["any_dim"], &parts[..]].concat(), || B::bool_any_dim(bools, 2));
    // Burn's own check.
    assert_refused(&["2"], || Tensor::<B, 2>::zeros([2, 3], &Default::default()).sum_dim(2));
}

#[test]
fn extremes_of_nothing() {
    let parts = ["no elements", "[2, 0]"];
    assert_refused(&[&["max_dim"], &parts[..]].concat(), || B::float_max_dim(floats([2, 0]), 1));
    assert_refused(&[&["argmin"], &parts[..]].concat(), || B::float_argmin(floats([2, 0]), 1, IntDType::I32));
    assert_refused(&["min", "no elements"], || B::float_min(floats([2, 0])));
    let ints = Tensor::<B, 1, Int>::zeros([0], &Default::default()).into_primitive();
    assert_refused(&["mean", "no elements"], || B::int_mean(ints));
}

#[test]
fn positions_that_the_dtype_cannot_hold() {
    let device = Default::default();
    let fits = Tensor::<B, 1, Int>::arange(0..256, (&device, DType::U8)).argmax(0);
    assert_eq!(fits.into_data().to_vec::<u8>().ok(), Some(vec![255]));
    let few = |dim: usize| floats([1, [300, 200][dim]]);
    assert_refused(&["argmin", "299", "U8"], || B::float_argmin(few(0), 1, IntDType::U8));
    assert_refused(&["299", "U8"], || MpsGraph::<f32, u8>::float_max_dim_with_indices(few(0), 1, IntDType::U8));
    B::float_argmax(few(1), 1, IntDType::U8);
    let distant = Tensor::<B, 1>::zeros([40_000], &device).equal_elem(0.0).into_primitive();
    assert_refused(&["bool_argwhere", "39999", "I16"], || {
        pin!(B::bool_argwhere(distant, IntDType::I16)).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    });
}
