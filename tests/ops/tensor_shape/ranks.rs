//! Every shape op on tensors of rank 5 and 6, which are moved with fewer axes.

use burn::tensor::s;

cases! {
    of_rank(6, [2, 3, 1, 2, 3, 2]) {
        permute_6 = |x| {
            let orders = [
                [5, 4, 3, 2, 1, 0], [0, 2, 1, 4, 3, 5], [3, 4, 5, 0, 1, 2], [1, 3, 5, 0, 2, 4], [2, 0, 1, 3, 5, 4],
            ];
            orders.map(|order| x.clone().permute(order)).to_vec()
        };
        swap_dims_6 = |x| vec![
            x.clone().swap_dims(0, 5),
            x.clone().swap_dims(1, 4),
            x.clone().swap_dims(2, 3),
            x.transpose(),
        ];
        movedim_6 = |x| vec![x.clone().movedim(0, 5), x.movedim(vec![4, 1], vec![0, 3])];
        flip_6 = |x| vec![x.clone().flip([0, 2, 4]), x.clone().flip([1, 3, 5]), x.flip([0, 1, 2, 3, 4, 5])];
        expand_6 = |x| vec![
            x.clone().expand([2, 3, 4, 2, 3, 2]),
            x.slice(s![0..1, .., .., 1..2, .., 0..1]).expand([3, 3, 2, 2, 3, 4]),
        ];
        slice_6 = |x| vec![
            x.clone().slice(s![1.., ..2, .., ..;-1, 1.., ..]),
            x.clone().slice(s![..;-1, ..;2, .., .., ..;-2, 1..2]),
            x.slice(s![.., 1..2, .., .., .., ..;-1]),
        ];
        slice_assign_6 = |x| {
            let value = x.clone().flip([0, 1, 2, 3, 4, 5]);
            vec![
                x.clone()
                    .slice_assign(s![1.., ..2, .., .., 1.., ..], value.clone().slice(s![..1, ..2, .., .., ..2, ..])),
                x.clone()
                    .slice_assign(s![.., ..;2, .., 1..2, ..;-2, ..;-1], value.slice(s![.., ..2, .., ..1, ..2, ..])),
            ]
        };
        slice_fill_6 = |x| x.slice_fill(s![.., 1..;2, .., ..;-1, 0..2, 1..2], 1);
        cat_6 = |x| [0, 2, 3, 5].map(|dim| Tensor::cat(vec![x.clone(), x.clone().flip([0, 1, 3, 4, 5])], dim)).to_vec();
        repeat_6 = |x| vec![x.clone().repeat_dim(1, 2), x.repeat(&[1, 2, 3, 1, 1, 2])];
        reshape_6 = |x| x.swap_dims(1, 4).reshape([3, 2, 2, 1, 6]).swap_dims(0, 4).reshape([72]);
        roll_6 = |x| x.roll(&[1, -1, 2], &[0, 3, 4]);
        split_6 = |x| x.split(2, 4);
        unfold_5 = |x| x.reshape([2, 3, 2, 3, 2]).unfold::<6, _>(3, 2, 1);
        select_6 = |x| {
            let indices = Tensor::from_data([2, 0, 2, 1], &x.device());
            vec![x.clone().select(1, indices.clone()), x.select(4, indices)]
        };
        mask_6 = |x| {
            let mask = x.clone().equal(x.clone().flip([3]).swap_dims(0, 5).swap_dims(0, 5)).bool_not();
            vec![x.clone().mask_fill(mask.clone(), 1), x.clone().mask_where(mask, x.flip([1, 4]))]
        };
    }

    // No two neighbours stay together: five axes and six, moved in steps.
    of_rank(6, [2, 3, 2, 3, 2, 2]) {
        permute_apart = |x| {
            let orders = [[5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4], [4, 2, 0, 5, 3, 1], [0, 5, 1, 4, 2, 3]];
            orders.map(|order| x.clone().permute(order)).to_vec()
        };
        flip_apart = |x| vec![x.clone().flip([0, 2, 4]), x.flip([1, 3, 5])];
        expand_apart = |x| vec![
            x.clone().slice(s![0..1, .., 1..2, .., 0..1, ..]).expand([3, 3, 2, 3, 4, 2]),
            x.slice(s![.., 0..1, .., 2..3, .., 1..2]).expand([2, 2, 2, 3, 2, 3]),
        ];
        slice_apart = |x| vec![
            x.clone().slice(s![1.., ..2, ..1, 1.., ..1, 1..]),
            x.slice(s![..;-1, ..;2, 1.., ..;-2, ..;-1, ..1]),
        ];
        slice_assign_apart = |x| {
            let value = x.clone().flip([0, 1, 2, 3, 4, 5]);
            let some = value.clone().slice(s![..1, ..2, ..1, ..2, ..1, ..1]);
            vec![
                x.clone().slice_assign(s![1.., ..2, ..1, 1.., ..1, 1..], some),
                x.clone()
                    .slice_assign(s![..;-1, ..;2, 1.., ..;-2, ..;-1, ..1], value.slice(s![.., ..2, ..1, ..2, .., ..1])),
            ]
        };
    }

    of_rank(5, [2, 3, 2, 2, 3]) {
        permute_5 = |x| {
            [[4, 2, 0, 3, 1], [0, 1, 4, 2, 3], [1, 0, 3, 2, 4]].map(|order| x.clone().permute(order)).to_vec()
        };
        flip_5 = |x| vec![x.clone().flip([0, 2, 4]), x.flip([1, 2])];
        expand_5 = |x| x.slice(s![0..1, .., 1.., 0..1, ..]).expand([4, 3, 1, 2, 3]);
        slice_5 = |x| x.slice(s![.., ..;-2, 0..1, .., ..;2]);
        slice_assign_5 = |x| {
            let value = x.clone().slice(s![.., 1.., .., 0..1, ..]);
            x.slice_assign(s![.., ..;-2, .., 1.., ..], value)
        };
        cat_5 = |x| Tensor::cat(vec![x.clone().narrow(3, 1, 1), x.clone(), x.flip([0])], 3);
        gather_5 = |x| {
            let count = x.shape().num_elements() as i64;
            let indices = Tensor::<B, 1, Int>::arange(0..count, &x.device()).remainder_scalar(2);
            let indices = indices.reshape([2, 3, 2, 2, 3]);
            vec![x.clone().gather(0, indices.clone()), x.clone().gather(2, indices.clone()), x.gather(4, indices)]
        };
        take_5 = |x| {
            let indices = Tensor::from_data([[2, 0], [1, 1]], &x.device());
            x.take::<2, 6>(1, indices)
        };
    }
}
