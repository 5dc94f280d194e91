//! A part of a tensor replaced.

use burn::tensor::s;
use test_support::{FULL, Layout};

cases! {
    moves(FULL) {
        slice_assign = |x| {
            let value = x.clone().flip([0, 1, 2]);
            let of = |part: [std::ops::Range<usize>; 3]| value.clone().slice(part);
            vec![
                x.clone().slice_assign([0..1, 1..4, 0..2], of([0..1, 0..3, 0..2])),
                x.clone().slice_assign([0..2, 0..5, 1..2], of([0..2, 0..5, 0..1])),
                x.clone().slice_assign(1..2, of([0..1, 0..5, 0..3])),
                x.clone().slice_assign(s![.., -2.., ..], of([0..2, 0..2, 0..3])),
                x.clone().slice_assign([0..2, 0..5, 0..3], value.clone()),
            ]
        };
        slice_assign_with_steps = |x| {
            let value = x.clone().flip([1]);
            let of = |part: [std::ops::Range<usize>; 3]| value.clone().slice(part);
            vec![
                x.clone().slice_assign(s![.., ..;2, ..], of([0..2, 0..3, 0..3])),
                x.clone().slice_assign(s![.., 1..;3, ..;2], of([0..2, 0..2, 0..2])),
                x.clone().slice_assign(s![.., ..;-1, ..], value.clone()),
                x.clone().slice_assign(s![..;-1, 1..4;-2, ..;-2], of([0..2, 0..2, 0..2])),
                x.clone().slice_assign(s![0..1, ..;-4, ..], of([0..1, 0..2, 0..3])),
            ]
        };
        slice_assign_of_nothing = |x| x.clone().slice_assign(s![.., 2..2, ..], x.slice(s![.., 2..2, ..]));
        slice_assign_of_one_to_many = |x| {
            let one = x.clone().slice([1..2, 4..5, 2..3]).expand([2, 3, 3]);
            x.slice_assign(s![.., 1..4, ..], one)
        };
        slice_assign_twice = |x| {
            let part = x.clone().slice([1..2, 0..2, 0..3]);
            x.slice_assign([0..1, 0..2, 0..3], part.clone()).slice_assign([0..1, 1..3, 0..3], part)
        };
        slice_fill = |x| vec![
            x.clone().slice_fill([0..1, 1..3], 1),
            x.clone().slice_fill(s![.., ..;2, ..;-1], 0),
            x.slice_fill([0..2, 0..5, 0..3], 1),
        ];
    }

    moves([Layout::Empty, Layout::Single]) {
        slice_assign_of_little = |x| x.clone().slice_assign(s![..], x);
        slice_fill_of_little = |x| x.slice_fill(s![0..1], 1);
    }

    by_hand() {
        slice_assign = |x = [1, 2, 3, 4], value = [7, 8]| x.slice_assign(s![..;2], value) => [7, 2, 8, 4];
    }
}
