//! `scatter` and `select_assign`.

use burn::tensor::DType;
use burn::tensor::IndexingUpdateOp::Add;
use test_support::Layout;

use super::ORDINARY;
use crate::gather::indices;

cases! {
    // Sums of bools are disjunctions.
    moves(ORDINARY) {
        scatter = |x| vec![
            x.clone().scatter(1, indices([2, 5, 3], 5, DType::I32), x.clone().flip([1]), Add),
            x.clone().scatter(1, indices([2, 2, 3], 5, DType::I64), x.clone().narrow(1, 1, 2), Add),
            x.clone().scatter(0, indices([4, 5, 3], 2, DType::I32), x.clone().repeat_dim(0, 2), Add),
            x.clone().scatter(2, indices([2, 5, 3], 3, DType::I32), x, Add),
        ];
        scatter_of_views = |x| {
            let turned = indices([2, 5, 3], 5, DType::I32).swap_dims(0, 2);
            let repeated = indices([1, 4, 1], 5, DType::I32).expand([2, 4, 3]);
            vec![
                x.clone().swap_dims(0, 2).scatter(1, turned, x.clone().permute([2, 1, 0]), Add),
                x.clone().scatter(1, repeated, x.narrow(1, 0, 1).expand([2, 4, 3]), Add),
            ]
        };
        select_assign = |x| vec![
            x.clone().select_assign(1, indices([5], 5, DType::I32), x.clone().flip([1]), Add),
            x.clone().select_assign(0, indices([6], 2, DType::I64), x.clone().repeat_dim(0, 3), Add),
            x.clone().select_assign(2, indices([2], 3, DType::I32), x.narrow(2, 1, 2), Add),
        ];
        select_assign_of_views = |x| vec![
            x.clone()
                .swap_dims(0, 1)
                .select_assign(0, indices([5], 5, DType::I32), x.clone().transpose().permute([2, 0, 1]), Add),
            x.clone().select_assign(1, indices([3], 5, DType::I32), x.narrow(1, 4, 1).expand([2, 3, 3]), Add),
        ];
    }

    // Each element meets one update at most: NaN, infinities and extremes have one order only.
    moves([Layout::Extreme, Layout::Single]) {
        scatter_of_extremes = |x| {
            let [a, b, c] = x.dims();
            let order = burn::tensor::Tensor::arange(0..b as i64, &x.device()).reshape([1, b, 1]).flip([1]);
            x.clone().scatter(1, order.expand([a, b, c]), x.flip([2]), Add)
        };
        select_assign_of_extremes = |x| {
            let order = burn::tensor::Tensor::arange(0..x.dims()[1] as i64, &x.device()).flip([0]);
            x.clone().select_assign(1, order, x.flip([0]), Add)
        };
    }

    moves([Layout::Empty]) {
        scatter_of_nothing = |x| vec![
            x.clone().scatter(0, indices([4, 0, 3], 2, DType::I32), x.clone().repeat_dim(0, 2), Add),
            x.clone().scatter(1, indices([2, 0, 3], 5, DType::I32), x, Add),
        ];
        select_assign_of_nothing = |x| vec![
            x.clone().select_assign(1, indices([0], 5, DType::I32), x.clone(), Add),
            x.clone().select_assign(2, indices([3], 3, DType::I32), x, Add),
        ];
    }

    by_hand() {
        scatter_add = |x = [[1.0, 2.0]], at = [[1, 1, 0]], values = [[10.0, 20.0, 30.0]]| x.scatter(1, at, values, Add)
            => [[31.0, 32.0]];
        scatter_or = |x = [[false, false, true]], at = [[1, 0]], values = [[true, false]]| x.scatter(1, at, values, Add)
            => [[false, true, true]];
        select_add = |x = [[1, 2], [3, 4]], at = [1, 1], values = [[10, 20], [30, 40]]|
            x.select_assign(0, at, values, Add) => [[1, 2], [43, 64]];
        select_or = |x = [[false], [true]], at = [0, 1], values = [[true], [false]]| x.select_assign(0, at, values, Add)
            => [[true], [true]];
    }
}
