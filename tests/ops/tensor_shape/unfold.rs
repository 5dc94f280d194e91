//! Windows.

use test_support::FULL;

cases! {
    moves(FULL) {
        unfold = |x| vec![
            x.clone().unfold::<4, _>(1, 2, 1),
            x.clone().unfold::<4, _>(1, 3, 2),
            x.clone().unfold::<4, _>(1, 2, 2),
            x.clone().unfold::<4, _>(1, 5, 1),
            x.clone().unfold::<4, _>(1, 1, 4),
            x.clone().unfold::<4, _>(-1, 2, 1),
            x.unfold::<4, _>(0, 1, 1),
        ];
        unfold_of_a_view = |x| vec![
            x.clone().swap_dims(1, 2).unfold::<4, _>(2, 3, 1),
            x.flip([1]).unfold::<4, _>(1, 2, 3),
        ];
    }

    by_hand() {
        unfold = |x = [1.0, 2.0, 3.0, 4.0, 5.0]| x.unfold::<2, _>(0, 3, 2) => [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]];
    }
}
