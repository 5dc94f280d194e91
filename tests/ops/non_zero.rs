//! Where a tensor is true or not zero: the one op whose result's shape depends on values.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{BOOL, Layout, bools};

cases! {
    given([BOOL], Layout::ALL, Exact) {
        argwhere_and_nonzero = |layout, _dtype| positions::<B>(layout);
    }

    by_hand() {
        argwhere = |x = [[true, false], [false, true]]| x.argwhere() => [[0, 0], [1, 1]];
    }
}

/// Rows longer than a word, of many widths, mostly false, mostly true.
#[test]
fn positions_in_long_rows() {
    for (width, one_in) in [(1, 2), (7, 3), (8, 2), (9, 2), (40, 17), (200, 100), (333, 1)] {
        let shape = [3, 2, width];
        let is_true = |at: usize| ((at * 2_654_435_761) >> 7).is_multiple_of(one_in);
        let flags: Vec<bool> = (0..6 * width).map(is_true).collect();
        let expected: Vec<i64> = (0..6 * width)
            .filter(|&at| flags[at])
            .flat_map(|at| [at / width / 2, at / width % 2, at % width].map(|coordinate| coordinate as i64))
            .collect();
        let x = Tensor::<MpsGraph, 3, Bool>::from_data(TensorData::new(flags, shape), &Default::default());
        let count = expected.len() / 3;
        x.argwhere().into_data().assert_eq(&TensorData::new(expected, [count, 3]), false);
    }
}

fn positions<B: Backend>(layout: Layout) -> Vec<TensorData> {
    let x = bools::<B>(layout, BOOL, 0);
    let mut all = vec![x.clone().argwhere().into_data()];
    // burn-tensor splits the coordinates of no elements into no tensors.
    all.extend(x.clone().nonzero().into_iter().map(Tensor::into_data));
    all.push(x.clone().swap_dims(0, 2).argwhere().into_data());
    all.push(x.clone().bool_and(x.bool_not()).argwhere().into_data());
    all
}
