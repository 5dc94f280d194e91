//! Masked elements of views.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Tensor};
use test_support::{BOOL, FULL, Layout, bools};

/// A mask of \[2, 5, 3\] that is a view.
fn mask<B: Backend>(layout: Layout) -> Tensor<B, 3, Bool> {
    bools(layout, BOOL, 2)
}

cases! {
    moves(FULL) {
        mask_where = |x| {
            let other = x.clone().flip([0, 1]);
            FULL.map(|layout| x.clone().mask_where(mask(layout), other.clone())).to_vec()
        };
        mask_where_on_views = |x| {
            let (column, flipped) = (x.clone().narrow(1, 3, 1), x.clone().flip([2]));
            vec![
                x.clone().mask_where(mask(Layout::Transposed), column.expand([2, 5, 3])),
                x.clone().swap_dims(0, 2).mask_where(mask(Layout::Sliced).swap_dims(0, 2), flipped.swap_dims(0, 2)),
                x.clone().narrow(1, 1, 2).mask_where(mask(Layout::Contiguous).narrow(1, 2, 2), x.narrow(1, 0, 2)),
            ]
        };
        mask_fill = |x| FULL.map(|layout| x.clone().mask_fill(mask(layout), 1)).to_vec();
        mask_fill_on_views = |x| vec![
            x.clone().flip([1]).mask_fill(mask(Layout::Transposed), 0),
            x.clone().permute([1, 2, 0]).mask_fill(mask(Layout::Sliced).permute([1, 2, 0]), 1),
            x.slice_dim(1, 1..4).mask_fill(mask(Layout::Contiguous).slice_dim(1, 2..5), 1),
        ];
    }

    moves([Layout::Empty, Layout::Single]) {
        mask_of_little = |x| {
            let layout = if x.shape().num_elements() == 0 { Layout::Empty } else { Layout::Single };
            vec![x.clone().mask_fill(mask(layout), 1), x.clone().mask_where(mask(layout), x)]
        };
    }
}
