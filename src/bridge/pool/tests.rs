//! Which free buffer a value gets.

use burn_backend::{DType, Shape};

use super::BufferData;
use crate::bridge::runtime::Runtime;
use crate::tensor_type::TensorType;

#[test]
fn a_free_buffer_that_was_bound_with_the_same_type_is_preferred() {
    let pool = Runtime::get().pool;
    // Of one size class, which no other test uses.
    let [tall, flat, row] =
        [[7001, 3], [3, 7001], [1, 21003]].map(|extents| TensorType::new(DType::F32, Shape::from(extents)));
    let take = |ty: &TensorType| {
        let allocation = pool.for_device(ty).expect("there is memory");
        let is_kept = matches!(allocation.tensor_data(ty), Ok(BufferData::Kept(_)));
        (allocation, is_kept)
    };
    drop([take(&tall), take(&flat)]);
    for _ in 0..3 {
        let [(tall, tall_is_kept), (flat, flat_is_kept)] = [take(&tall), take(&flat)];
        assert_eq!([tall_is_kept, flat_is_kept], [true; 2]);
        drop(tall);
        drop(flat);
    }
    let (_row, is_kept) = take(&row);
    assert!(!is_kept, "its buffer was bound with another type");
    assert!(take(&tall).1, "the row has the newest one, which was for flat");
}
