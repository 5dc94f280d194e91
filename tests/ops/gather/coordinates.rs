//! `gather_nd`: slices at coordinates.

use super::indices;
use crate::table::FULL;

numbers! { FULL;
    gather_nd_of_slices = |x| x.gather_nd::<2, 3>(indices([4, 1], 2, DType::I32));
    gather_nd_of_rows = |x| x.gather_nd::<2, 2>(indices([4, 2], 2, DType::I32));
    gather_nd_of_elements = |x| x.gather_nd::<3, 2>(indices([2, 3, 3], 2, DType::I32));
    gather_nd_of_a_view = |x| x.swap_dims(0, 1).gather_nd::<3, 3>(indices([2, 4, 2], 2, DType::I64).swap_dims(0, 1));

}
