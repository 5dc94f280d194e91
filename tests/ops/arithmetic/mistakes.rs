//! Mistakes are refused when they are made, by a message that names the op, the shapes or dtypes and the way out.

use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensorOps;
use burn::tensor::{DType, FloatDType, Int, Tensor, TensorData, TensorPrimitive};
use burn_mpsgraph::MpsGraph;
use test_support::assert_refused;

type Floats<const D: usize> = Tensor<MpsGraph, D>;

fn zeros<const D: usize>(shape: [usize; D], dtype: DType) -> Floats<D> {
    Tensor::zeros(shape, (&Default::default(), dtype))
}

fn primitive<const D: usize>(
    shape: [usize; D],
    dtype: DType,
) -> <MpsGraph as burn::tensor::backend::BackendTypes>::FloatTensorPrimitive {
    zeros(shape, dtype).into_primitive().tensor()
}

#[test]
fn shapes_that_do_not_broadcast() {
    let (a, b) = (zeros([2, 3], DType::F32), zeros([2, 4], DType::F32));
    let parts = ["[2, 3]", "[2, 4]"];
    assert_refused(&parts, || a.clone() + b.clone());
    assert_refused(&parts, || a.clone().powf(b.clone()));
    assert_refused(&parts, || a.clone().greater(b.clone()));
    // Past Burn's own checks, by the backend's method.
    let mask = a.clone().equal_elem(0.0);
    assert_refused(&["mask_where", "[2, 3]", "[2, 4]"], || a.clone().mask_where(mask.clone(), b.clone()));
    let (a, b) = (primitive([2, 3], DType::F32), primitive([2, 4], DType::F32));
    assert_refused(&["atan2", "[2, 3]", "[2, 4]"], || MpsGraph::<f32, i32>::float_atan2(a.clone(), b.clone()));
}

#[test]
fn ranks_that_differ() {
    let (a, b) = (primitive([2, 3], DType::F32), primitive([3], DType::F32));
    assert_refused(&["add", "[2, 3]", "[3]", "rank"], || MpsGraph::<f32, i32>::float_add(a.clone(), b.clone()));
}

#[test]
fn dtypes_that_differ() {
    let (a, b) = (zeros([2], DType::F32), zeros([2], DType::F16));
    let parts = ["F32", "F16", "cast"];
    assert_refused(&[&["mul"], &parts[..]].concat(), || a.clone() * b.clone());
    assert_refused(&[&["lower"], &parts[..]].concat(), || a.clone().lower(b.clone()));
    let ints = |dtype| Tensor::<MpsGraph, 1, Int>::zeros([2], (&Default::default(), dtype));
    assert_refused(&["bitwise_and", "I32", "I64", "cast"], || ints(DType::I32).bitwise_and(ints(DType::I64)));
}

#[test]
fn sixty_four_bit_floats() {
    let device = Default::default();
    let parts = ["F64", "f32"];
    assert_refused(&parts, || Floats::<1>::from_data(TensorData::from([1.0f64]), (&device, DType::F64)));
    assert_refused(&parts, || Floats::<1>::zeros([1], (&device, DType::F64)));
    assert_refused(&parts, || Floats::<1>::full([1], 2.0, (&device, DType::F64)));
    assert_refused(&parts, || Floats::<1>::zeros([1], &device).cast(FloatDType::F64));
    assert_refused(&parts, || Tensor::<MpsGraph, 1, Int>::zeros([1], &device).cast(FloatDType::F64));
    assert!(!MpsGraph::<f32, i32>::supports_dtype(&device, DType::F64));
}

#[test]
fn what_follows_a_mistake_works() {
    let (a, b) = (zeros([2, 3], DType::F32), zeros([2, 4], DType::F32));
    let sum = a.clone() + 1.0;
    assert_refused(&["[2, 3]"], || a + b);
    assert_eq!(sum.sum().into_scalar(), 6.0);
    let _: TensorPrimitive<MpsGraph> = zeros([1], DType::F32).into_primitive();
}
