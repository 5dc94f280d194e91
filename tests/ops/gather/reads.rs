//! `gather`, `select` and `take`.

use burn::tensor::DType;
use test_support::{FULL, Layout};

use super::indices;

cases! {
    moves(FULL) {
        gather = |x| vec![
            x.clone().gather(0, indices([2, 5, 3], 2, DType::I32)),
            x.clone().gather(0, indices([7, 5, 3], 2, DType::I32)),
            x.clone().gather(1, indices([2, 4, 3], 5, DType::I32)),
            x.clone().gather(1, indices([2, 1, 3], 5, DType::I64)),
            x.gather(2, indices([2, 5, 6], 3, DType::I32)),
        ];
        gather_at_views = |x| vec![
            x.clone().gather(1, indices([3, 4, 2], 5, DType::I32).swap_dims(0, 2)),
            x.clone().gather(1, indices([3, 6, 4], 5, DType::I32).slice([1..3, 1..5, 0..3])),
            x.clone().gather(1, indices([1, 4, 1], 5, DType::I32).expand([2, 4, 3])),
            x.swap_dims(1, 2).gather(2, indices([2, 3, 4], 5, DType::I32).flip([2])),
        ];
        gather_of_nothing = |x| x.gather(1, indices([2, 0, 3], 5, DType::I32));
        select = |x| [(0, 2, 5), (1, 5, 4), (2, 3, 7), (1, 5, 1)]
            .map(|(dim, extent, count)| x.clone().select(dim, indices([count], extent, DType::I32)))
            .to_vec();
        select_at_views = |x| vec![
            x.clone().select(1, indices([9], 5, DType::I32).slice(burn::tensor::s![..;-2])),
            x.clone().select(1, indices([1], 5, DType::I32).expand([4])),
            x.swap_dims(0, 2).select(-1, indices([3, 2], 2, DType::I64).swap_dims(0, 1).reshape([6])),
        ];
        select_of_nothing = |x| x.select(1, indices([0], 5, DType::I32));
        take = |x| vec![
            x.clone().take::<2, 4>(1, indices([2, 3], 5, DType::I32)),
            x.take::<2, 4>(-1, indices([3, 2], 3, DType::I32).transpose()),
        ];
        take_of_rank_one = |x| x.take::<1, 3>(0, indices([4], 2, DType::I32));
    }

    moves([Layout::Single]) {
        index_one_element = |x| vec![
            x.clone().gather(1, indices([1, 4, 1], 1, DType::I32)),
            x.clone().select(1, indices([3], 1, DType::I32)),
            x.gather(0, indices([1, 1, 1], 1, DType::I32)),
        ];
    }

    moves([Layout::Empty]) {
        index_along_what_is_not_empty = |x| vec![
            x.clone().gather(0, indices([4, 0, 3], 2, DType::I32)),
            x.select(2, indices([5], 3, DType::I32)),
        ];
    }

    by_hand() {
        gather = |x = [[1.0, 2.0], [3.0, 4.0]], at = [[1, 1], [0, 1]]| x.gather(1, at) => [[2.0, 2.0], [3.0, 4.0]];
        select = |x = [[1, 2], [3, 4], [5, 6]], at = [2, 0, 2]| x.select(0, at) => [[5, 6], [1, 2], [5, 6]];
    }
}
