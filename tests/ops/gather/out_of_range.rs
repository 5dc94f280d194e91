//! Indices out of range, where burn-flex panics: the indices are on the device, so this backend does not check them and
//! defines what is read instead.

use burn::tensor::{DType, Int, Tensor, TensorData};
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
    let found = table().gather(0, at([[3, 1], [-1, 2], [i32::MAX, 0]])).into_data();
    found.assert_eq(&TensorData::from([[0, 40], [0, 60], [0, 20]]), true);
}

#[test]
fn gather_along_an_axis_of_one_element_reads_zero() {
    let found = at::<2>([[10, 20]]).gather(0, at([[0, 1], [-1, 0]])).into_data();
    found.assert_eq(&TensorData::from([[10, 0], [0, 20]]), true);
}

#[test]
fn select_reads_the_nearest_row() {
    let found = table().select(0, at([3, -1, i32::MAX, i32::MIN, 1])).into_data();
    found.assert_eq(&TensorData::from([[50, 60], [10, 20], [50, 60], [10, 20], [30, 40]]), true);
}

#[test]
fn gather_nd_reads_the_nearest_row() {
    let found = table().gather_nd::<2, 2>(at([[3], [-1]])).into_data();
    found.assert_eq(&TensorData::from([[50, 60], [10, 20]]), true);
}

/// In all but the low 32 bits these are far out of range.
#[test]
fn wide_indices_do_not_wrap_around_into_range() {
    let wide = |indices: [i64; 3], dtype| {
        Ints::<1>::from_data(TensorData::from(indices), (&Default::default(), DType::I64)).cast(dtype)
    };
    let beyond = 1i64 << 32;
    for (dtype, indices) in [
        (DType::I64, [beyond, beyond + 1, 1 - beyond]),
        (DType::U64, [beyond, i64::MAX, -1]),
        (DType::U32, [3, (1 << 31) + 1, u32::MAX.into()]),
    ] {
        let at = wide(indices, dtype);
        let rows = if dtype == DType::I64 { [2, 2, 0] } else { [2, 2, 2] };
        let found = table().select(0, at.clone()).into_data();
        found.assert_eq(&TensorData::from(rows.map(|row| [[10, 20], [30, 40], [50, 60]][row])), true);
        let found = table().gather(0, at.clone().reshape([3, 1]).expand([3, 2])).into_data();
        found.assert_eq(&TensorData::from([[0; 2]; 3]), true);
        let pairs = at.reshape([3, 1]).repeat_dim(1, 2);
        let nearest = if dtype == DType::I64 { [60, 60, 10] } else { [60; 3] };
        let found = table().gather_nd::<2, 1>(pairs).into_data();
        found.assert_eq(&TensorData::from(nearest), true);
    }
}
