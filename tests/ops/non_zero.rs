//! Where a tensor is true or not zero: the one op family whose result's shape depends on values.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
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

fn positions<B: Backend>(layout: Layout) -> Vec<TensorData> {
    let x = bools::<B>(layout, BOOL, 0);
    let mut all = vec![x.clone().argwhere().into_data()];
    // burn-tensor splits the coordinates of no elements into no tensors.
    all.extend(x.clone().nonzero().into_iter().map(Tensor::into_data));
    all.push(x.clone().swap_dims(0, 2).argwhere().into_data());
    all.push(x.clone().bool_and(x.bool_not()).argwhere().into_data());
    all
}
