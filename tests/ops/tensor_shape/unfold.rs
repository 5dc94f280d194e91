//! Windows.

use burn::tensor::Tensor;
use burn_mpsgraph::MpsGraph;
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

/// Burn documents that there are none; burn-flex panics.
#[test]
fn no_window_of_an_axis_that_is_too_short() {
    let x = Tensor::<MpsGraph, 2>::ones([2, 3], &Default::default());
    let windows = x.clone().unfold::<3, _>(1, 4, 1);
    assert_eq!((windows.dims(), windows.into_data().num_elements()), ([2, 0, 4], 0));
    assert_eq!(x.unfold::<3, _>(0, 3, 2).dims(), [0, 3, 3]);
}
