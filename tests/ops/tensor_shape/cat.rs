//! Tensors joined.

use burn::tensor::Tensor;
use test_support::{FILLED, FULL, Layout};

cases! {
    moves(Layout::ALL) {
        cat = |x| {
            let other = x.clone().flip([0, 1, 2]);
            [0, 1, 2].map(|dim| Tensor::cat(vec![x.clone(), other.clone(), x.clone()], dim)).to_vec()
        };
        cat_of_one = |x| Tensor::cat(vec![x], 1);
        cat_of_itself = |x| Tensor::cat(vec![x.clone(), x.clone(), x.clone(), x], 2);
    }

    moves(FULL) {
        cat_of_different_extents = |x| {
            let (one, two) = (x.clone().narrow(1, 0, 1), x.clone().narrow(1, 2, 2));
            Tensor::cat(vec![two.clone(), x, one, two], 1)
        };
        cat_with_empties = |x| {
            let none = x.clone().slice_dim(1, 2..2);
            vec![
                Tensor::cat(vec![none.clone(), x.clone()], 1),
                Tensor::cat(vec![x.clone(), none.clone(), x], 1),
                Tensor::cat(vec![none.clone(), none], 1),
            ]
        };
        cat_of_many = |x| Tensor::cat((0..100).map(|i| x.clone().narrow(1, i % 5, 1)).collect(), 1);
        cat_of_views = |x| Tensor::cat(vec![x.clone().swap_dims(0, 2), x.permute([2, 1, 0]).flip([0])], 2);
        cat_along_an_inner_axis_of_one = |x| {
            let column = x.narrow(2, 1, 1);
            Tensor::cat(vec![column.clone(), column.clone().flip([1]), column], 2)
        };
    }

    moves(FILLED) {
        stack = |x| {
            let other = x.clone().flip([0, 1, 2]);
            [0, 1, 2, 3].map(|dim| Tensor::stack::<4>(vec![x.clone(), other.clone()], dim)).to_vec()
        };
    }

    by_hand() {
        cat = |x = [[1.0], [2.0]], y = [[3.0, 4.0], [5.0, 6.0]]| Tensor::cat(vec![x, y], 1)
            => [[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]];
    }
}
