//! Gradients of reads by index: scatters, with indices that repeat.

use burn::tensor::DType;
use test_support::{FLOATS, Layout, Tolerance};

use super::indices;

const ORDINARY: [Layout; 4] = [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast];

cases! {
    gradients(FLOATS, ORDINARY, Tolerance::Exact) {
        gather = |x| x.gather(1, indices([2, 7, 3], 5, DType::I32));
        gather_of_a_view = |x| x.swap_dims(0, 2).gather(2, indices([3, 5, 6], 2, DType::I32));
        select = |x| x.select(1, indices([9], 5, DType::I32));
        take = |x| x.take::<2, 4>(2, indices([2, 4], 3, DType::I32));
        gather_nd = |x| x.gather_nd::<2, 2>(indices([6, 2], 2, DType::I32));
    }
}
