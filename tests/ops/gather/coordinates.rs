//! `gather_nd`: slices at coordinates.

use burn::tensor::DType;
use test_support::{FULL, NUMERIC};

use super::indices;

cases! {
    numbers(FULL, NUMERIC) {
        gather_nd_of_slices = |x| x.gather_nd::<2, 3>(indices([4, 1], 2, DType::I32));
        gather_nd_of_rows = |x| x.gather_nd::<2, 2>(indices([4, 2], 2, DType::I32));
        gather_nd_of_elements = |x| x.gather_nd::<3, 2>(indices([2, 3, 3], 2, DType::I32));
        gather_nd_of_a_view = |x| {
            let at = indices([2, 4, 2], 2, DType::I64).swap_dims(0, 1);
            x.swap_dims(0, 1).gather_nd::<3, 3>(at)
        };
    }

    by_hand() {
        gather_nd = |x = [[1.0, 2.0], [3.0, 4.0]], at = [[1, 0], [0, 1]]| x.gather_nd::<2, 1>(at) => [3.0, 2.0];
    }
}
