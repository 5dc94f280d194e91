//! Indices out of range, where burn-flex panics: an index can only be looked at on the device, so this backend defines
//! what is read instead.

use burn::tensor::{Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

type Ints<const D: usize> = Tensor<MpsGraph, D, Int>;

fn table() -> Ints<2> {
    Ints::from_data([[10, 20], [30, 40], [50, 60]], &Default::default())
}

fn at<const D: usize>(indices: impl Into<TensorData>) -> Ints<D> {
    Ints::from_data(indices, &Default::default())
}

#[test]
fn gather_reads_zero() {
    let found = table()
        .gather(0, at([[3, 1], [-1, 2], [i32::MAX, 0]]))
        .into_data();
    found.assert_eq(&TensorData::from([[0, 40], [0, 60], [0, 20]]), true);
}

#[test]
fn select_reads_the_nearest_row() {
    let found = table()
        .select(0, at([3, -1, i32::MAX, i32::MIN, 1]))
        .into_data();
    found.assert_eq(
        &TensorData::from([[50, 60], [10, 20], [50, 60], [10, 20], [30, 40]]),
        true,
    );
}

#[test]
fn gather_nd_reads_the_nearest_row() {
    let found = table().gather_nd::<2, 2>(at([[3], [-1]])).into_data();
    found.assert_eq(&TensorData::from([[50, 60], [10, 20]]), true);
}
