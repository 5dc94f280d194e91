//! Updates out of range, where burn-flex panics: this backend defines where they go (see `gather/out_of_range.rs`).

use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

type Ints<const D: usize> = Tensor<MpsGraph, D, Int>;

fn of<const D: usize>(data: impl Into<TensorData>) -> Ints<D> {
    Ints::from_data(data, &Default::default())
}

#[test]
fn scatter_skips_them() {
    let at = of([[3, 1], [-1, 2]]);
    let found = of::<2>([[10, 20], [30, 40], [50, 60]]).scatter(0, at, of([[1, 2], [3, 4]]), IndexingUpdateOp::Add);
    found.into_data().assert_eq(&TensorData::from([[10, 20], [30, 42], [50, 64]]), true);
}

#[test]
fn scatter_along_an_axis_of_one_element_skips_them() {
    let found = of::<2>([[10, 20]]).scatter(0, of([[0, 1], [-1, 0]]), of([[1, 2], [3, 4]]), IndexingUpdateOp::Add);
    found.into_data().assert_eq(&TensorData::from([[11, 24]]), true);
}

#[test]
fn select_assign_meets_the_nearest_row() {
    let found = of::<2>([[10], [30], [50]]).select_assign(0, of([7, -1]), of([[1], [2]]), IndexingUpdateOp::Add);
    found.into_data().assert_eq(&TensorData::from([[12], [30], [51]]), true);
}

#[test]
fn scatter_nd_skips_replacements_and_meets_the_nearest_row_otherwise() {
    let update = |way| of::<1>([10, 30, 50]).scatter_nd(of::<2>([[3], [-1]]), of::<1>([7, 8]), way).into_data();
    update(IndexingUpdateOp::Assign).assert_eq(&TensorData::from([10, 30, 50]), true);
    update(IndexingUpdateOp::Add).assert_eq(&TensorData::from([18, 30, 57]), true);
}

#[test]
fn wide_indices_do_not_wrap_around_into_range() {
    let beyond = 1i64 << 32;
    let wide = |indices: [i64; 2]| Ints::<1>::from_data(TensorData::from(indices), (&Default::default(), DType::I64));
    let data = || of::<1>([10, 30, 50]);
    let found = data().scatter(0, wide([beyond, 1 - beyond]), of([7, 8]), IndexingUpdateOp::Add);
    found.into_data().assert_eq(&TensorData::from([10, 30, 50]), true);
    let found = data().select_assign(0, wide([beyond, 1 - beyond]), of([7, 8]), IndexingUpdateOp::Add);
    found.into_data().assert_eq(&TensorData::from([18, 30, 57]), true);
    let at = wide([beyond, 1 - beyond]).reshape([2, 1]);
    let found = data().scatter_nd(at, of::<1>([7, 8]), IndexingUpdateOp::Assign);
    found.into_data().assert_eq(&TensorData::from([10, 30, 50]), true);
}
