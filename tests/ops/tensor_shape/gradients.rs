//! Gradients of the moves.

use burn::tensor::ops::PadMode;
use burn::tensor::{DType, Tensor, s};
use test_support::{BOOL, FLOATS, FULL, Layout, Tolerance, bools};

cases! {
    gradients(FLOATS, Layout::PLAIN, Tolerance::Exact) {
        reshape = |x| { let count = x.shape().num_elements(); x.reshape([1, count]) };
        swap_dims = |x| x.swap_dims(0, 2);
        permute = |x| x.permute([1, 2, 0]);
        flip = |x| x.flip([0, 1]);
        unsqueeze = |x| x.unsqueeze_dim::<4>(1);
        cat = |x| Tensor::cat(vec![x.clone(), x.clone().flip([1]), x], 1);
        stack = |x| Tensor::stack::<4>(vec![x.clone(), x.flip([0])], 2);
        expand = |x| x.unsqueeze_dim::<4>(0).expand([3, -1, -1, -1]);
        repeat_dim = |x| x.repeat_dim(1, 3);
        roll = |x| x.roll(&[1, 2], &[0, 1]);
    }

    gradients(FLOATS, FULL, Tolerance::Exact) {
        slice = |x| x.slice(s![.., 1..4, ..2]);
        slice_with_steps = |x| x.slice(s![..;-1, ..;2, ..;-2]);
        slice_assign = |x| x.clone().slice_assign(s![.., 1..3, ..], x.slice(s![.., 3.., ..]));
        slice_fill = |x| x.slice_fill(s![.., ..;2, ..], 3.0);
        narrow_twice = |x| x.clone().narrow(1, 0, 3) * x.narrow(1, 2, 3);
        split = |x| Tensor::cat(x.split(2, 1).into_iter().rev().collect(), 1);
        unfold = |x| x.unfold::<4, _>(1, 3, 1);
        tril = |x| x.tril(0);
        mask_fill = |x| { let mask = bools(Layout::Transposed, BOOL, 1); x.mask_fill(mask, 2.0) };
        mask_where = |x| {
            let mask = bools(Layout::Sliced, BOOL, 1);
            x.clone().mask_where(mask, x.flip([0]))
        };
    }

    // Burn pads with the default dtype.
    gradients([DType::F32], FULL, Tolerance::Exact) {
        pad = |x| x.pad((1, 2, 0, 1), PadMode::Constant(1.5));
    }
}
