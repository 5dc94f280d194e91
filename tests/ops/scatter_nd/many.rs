//! More updates than one node takes, whose results are known without an oracle.

use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

type Ints<const D: usize> = Tensor<MpsGraph, D, Int>;

const DEVICE: MpsGraphDevice = MpsGraphDevice;

/// More updates than f32 counts.
const MANY: i64 = (1 << 24) + 4;

fn counted(count: i64) -> Ints<1> {
    Tensor::arange(0..count, (&DEVICE, DType::I32))
}

#[track_caller]
fn are(found: Ints<1>, expected: &[i32]) {
    found.into_data().assert_eq(&TensorData::from(expected), true);
}

#[test]
fn sums() {
    let (places, ones) = (counted(MANY).remainder_scalar(3), Tensor::ones([MANY as usize], (&DEVICE, DType::I32)));
    let each = (MANY / 3) as i32;
    let expected = [each + 10 + i32::from(MANY % 3 > 0), each + 10 + i32::from(MANY % 3 > 1), each + 10];
    let tens = || Tensor::full([3], 10, (&DEVICE, DType::I32));
    are(tens().scatter(0, places.clone(), ones.clone(), IndexingUpdateOp::Add), &expected);
    are(tens().select_assign(0, places, ones, IndexingUpdateOp::Add), &expected);
}

#[test]
fn the_last_one_stays() {
    let places = counted(MANY).remainder_scalar(3).reshape([MANY as usize, 1]);
    let found =
        Ints::<1>::zeros([4], (&DEVICE, DType::I32)).scatter_nd(places, counted(MANY), IndexingUpdateOp::Assign);
    let last = |place: i64| (MANY - 1 - (MANY - 1 - place) % 3) as i32;
    are(found, &[last(0), last(1), last(2), 0]);
}

#[test]
fn products() {
    // The first updates of each place are 2, the others 1.
    let (rows, count) = (1000, 70_001);
    let places = counted(count).remainder_scalar(rows);
    let values = counted(count).lower_equal_elem(10 * rows).int().cast(DType::I32).add_scalar(1);
    let twice: Vec<i32> = (0..rows).map(|place| if place == 0 { 1 << 11 } else { 1 << 10 }).collect();
    let ones = Ints::<1>::ones([rows as usize], (&DEVICE, DType::I32));
    are(ones.scatter_nd(places.reshape([count as usize, 1]), values, IndexingUpdateOp::Mul), &twice);
}
