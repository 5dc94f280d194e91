//! Tensors repeated.

use burn::tensor::Tensor;
use test_support::Layout;

cases! {
    moves(Layout::ALL) {
        repeat_dim = |x| vec![
            x.clone().repeat_dim(0, 3),
            x.clone().repeat_dim(1, 2),
            x.clone().repeat_dim(2, 4),
            x.repeat_dim(1, 1),
        ];
        repeat = |x| vec![x.clone().repeat(&[2, 1, 3]), x.clone().repeat(&[1, 2]), x.repeat(&[2, 2, 2])];
        repeat_of_a_single_row = |x| {
            let row = x.slice_dim(0, 0..1);
            Tensor::cat(vec![row.clone().repeat_dim(0, 4), row.clone().repeat_dim(0, 1), row], 0)
        };
    }

    by_hand() {
        repeat_dim = |x = [[1.0, 2.0], [3.0, 4.0]]| x.repeat_dim(1, 2) => [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]];
    }
}
