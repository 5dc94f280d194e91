//! The cross product.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use test_support::Tolerance::{Exact, Relative};
use test_support::{FLOATS, Layout, assert_refused, floats};

cases! {
    // Dim 2 has the extent 3. The numbers' products are exact in f32; burn-flex may round 16-bit products one by one.
    sweep(floats, FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced], Relative(0.0)) {
        last_dim = |x, y| x.cross(y, 2);
        last_dim_counted_from_the_end = |x, y| x.cross(y, -1);
        other_dim = |x, y| x.swap_dims(0, 2).cross(y.swap_dims(0, 2), 0);
    }

    by_hand() {
        cross = |x = [[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]], y = [[0.0, 1.0, 0.0], [4.0, 5.0, 6.0]]| x.cross(y, 1)
            => [[0.0, 0.0, 1.0], [-3.0, 6.0, -3.0]];
    }
}

#[test]
fn of_itself_is_zero() {
    fn case<B: Backend>(layout: Layout) -> Tensor<B, 3> {
        let x = floats::<B>(layout, DType::F32, 0);
        x.clone().cross(x, 2)
    }
    agree!(Exact, case, Layout::Sliced);
    agree!(Exact, case, Layout::Empty);
}

#[test]
fn needs_three() {
    let x = Tensor::<burn_mpsgraph::MpsGraph, 2>::zeros([3, 4], &Default::default());
    assert_refused(&["3"], || x.clone().cross(x.clone(), 1));
}
