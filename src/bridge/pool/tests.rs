//! Which free buffer a value gets, and which are kept.

use burn_backend::{DType, Shape};

use super::{BufferData, Free, FreeBuffer, Left, ProgressNow};
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

/// A device that recommends 2700 bytes leaves 2565 for buffers, one that recommends 2600 leaves 2470.
#[test]
fn where_memory_is_short_larger_buffers_are_taken_and_old_ones_released() {
    let with_one_of_1500 = |recommended: u64| {
        let mut free = Free::new(recommended);
        free.cache_limit = u64::MAX;
        let buffer = Runtime::get().pool.device.new_buffer(1500).expect("there is memory");
        free.keep(1500, FreeBuffer { buffer, left: Left::default(), last_use: 0, freed: 0 });
        free
    };
    let ty = TensorType::new(DType::F32, Shape::from([250]));
    for (recommended, taken) in [(2700, None), (2600, Some(1500))] {
        let found = with_one_of_1500(recommended).reuse(1024, &ty, |_| true);
        assert_eq!(found.map(|(class, _)| class), taken, "with 1024 more there would be 2524 of {recommended}");
    }
    let too_large = with_one_of_1500(2000).reuse(999, &ty, |_| true);
    assert!(too_large.is_none(), "it is more than half as large again");
    for (recommended, released) in [(2700, 0), (2600, 1)] {
        let mut free = with_one_of_1500(recommended);
        free.begin(1000);
        let all_done = ProgressNow { completed: 0, after_hang: false };
        assert_eq!(free.make_room(all_done).len(), released, "there are 2500 of {recommended}");
    }
}
