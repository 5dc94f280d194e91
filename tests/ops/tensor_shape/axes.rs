//! Axes exchanged, moved, reversed and rolled.

use test_support::{FULL, Layout};

cases! {
    moves(Layout::ALL) {
        transpose = |x| x.transpose();
        t = |x| x.t();
        swap_dims = |x| vec![x.clone().swap_dims(0, 2), x.clone().swap_dims(0, 1), x.swap_dims(-1, -2)];
        permute = |x| {
            let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
            orders.map(|order| x.clone().permute(order)).to_vec()
        };
        permute_twice = |x| x.permute([1, 2, 0]).permute([2, 1, 0]);
        movedim = |x| vec![x.clone().movedim(0, 2), x.clone().movedim(-1, 0), x.movedim(vec![0, 1], vec![1, -1])];
        flip = |x| vec![
            x.clone().flip([0]),
            x.clone().flip([1]),
            x.clone().flip([-1]),
            x.clone().flip([0, 2]),
            x.flip([2, 1, 0]),
        ];
        roll_dim = |x| vec![x.clone().roll_dim(1, 0), x.clone().roll_dim(7, 1), x.roll_dim(-2, -1)];
        roll = |x| vec![x.clone().roll(&[1, -2], &[0, 1]), x.roll(&[5, 4, 1], &[2, 2, 0])];
        a_flip_of_a_permutation_of_a_slice = |x| x.slice_dim(0, 0..1).permute([2, 0, 1]).flip([0]).swap_dims(1, 2);
    }

    moves(FULL) {
        expand = |x| {
            let thin = x.slice_dim(1, 2..3);
            vec![
                thin.clone().expand([2, 4, 3]),
                thin.clone().expand([-1, 1, -1]),
                thin.clone().slice_dim(0, 1..2).expand([6, 4, 3]),
                thin.slice([0..1, 0..1, 0..1]).expand([2, 2, 2]),
            ]
        };
        expand_to_more_axes = |x| vec![x.clone().expand([4, 2, 5, 3]), x.unsqueeze_dim::<4>(2).expand([2, 5, 3, 3])];
        expand_then_move = |x| x.slice_dim(2, 0..1).expand([2, 5, 4]).swap_dims(1, 2).flip([1]).reshape([8, 5]);
    }

    by_hand() {
        expand = |x = [[1.0], [2.0]]| x.expand([2, 3]) => [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        flip = |x = [[1.0, 2.0], [3.0, 4.0]]| x.flip([1]) => [[2.0, 1.0], [4.0, 3.0]];
        permute = |x = [[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]| x.permute([1, 2, 0])
            => [[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]];
        swap_dims = |x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]| x.swap_dims(0, 1) => [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]];
        transpose = |x = [[1, 2], [3, 4]]| x.transpose() => [[1, 3], [2, 4]];
    }
}
