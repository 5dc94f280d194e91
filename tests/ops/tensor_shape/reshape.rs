//! The same elements under another shape.

use test_support::{FILLED, FULL, Layout};

cases! {
    moves(FILLED) {
        reshape_to_one_axis = |x| {
            let count = x.shape().num_elements();
            x.reshape([count])
        };
        reshape_moving_an_axis = |x| {
            let [a, b, c] = x.dims();
            x.reshape([c, a, b])
        };
        flatten = |x| vec![x.clone().flatten::<2>(0, 1), x.flatten::<2>(1, -1)];
        unsqueeze = |x| x.unsqueeze::<5>();
        unsqueeze_dim = |x| [0, 1, 2, 3].map(|dim| x.clone().unsqueeze_dim::<4>(dim)).to_vec();
        unsqueeze_dims = |x| vec![x.clone().unsqueeze_dims::<5>(&[0, -1]), x.unsqueeze_dims::<5>(&[2, 2])];
        squeeze_dim = |x| x.slice_dim(0, 0..1).squeeze_dim::<2>(0);
        squeeze_dims = |x| x.slice_dim(0, 0..1).unsqueeze_dim::<4>(2).squeeze_dims::<2>(&[0, -2]);
    }

    moves(FULL) {
        reshape_inferred = |x| vec![x.clone().reshape([0, -1]), x.clone().reshape([-1, 6]), x.reshape([10, -1])];
        reshape_splits_an_axis = |x| x.swap_dims(0, 1).reshape([5, 1, 2, 3, 1]).swap_dims(0, 4);
        squeeze = |x| x.slice_dim(1, 3..4).squeeze::<2>();
        reshape_of_a_reshape = |x| x.reshape([30]).reshape([3, 10]).transpose().reshape([5, 6]);
    }

    moves([Layout::Empty]) {
        flatten_of_nothing = |x| vec![x.clone().flatten::<2>(0, 1), x.flatten::<2>(1, 2)];
    }

    by_hand() {
        reshape = |x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]| x.reshape([3, 2]) => [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    }
}
