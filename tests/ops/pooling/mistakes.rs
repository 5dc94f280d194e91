//! Mistakes in pooling are refused by name.

use burn::tensor::backend::BackendTypes;
use burn::tensor::ops::ModuleOps;
use burn::tensor::{DType, Int, Tensor};
use burn_mpsgraph::MpsGraph;
use test_support::assert_refused;

type B = MpsGraph<f32, i32>;
type Primitive = <B as BackendTypes>::FloatTensorPrimitive;

fn floats<const D: usize>(shape: [usize; D]) -> Primitive {
    Tensor::<B, D>::zeros(shape, &Default::default()).into_primitive().tensor()
}

#[test]
fn kernels_larger_than_the_padded_input() {
    let parts = ["kernel of 4", "dilation 2", "7 elements", "axis 3", "[1, 2, 9, 4]", "padding 1", "smaller kernel"];
    assert_refused(&[&["max_pool2d"], &parts[..]].concat(), || {
        B::max_pool2d(floats([1, 2, 9, 4]), [2, 4], [1, 1], [0, 1], [1, 2], false)
    });
    assert_refused(&["avg_pool1d", "kernel of 6", "[1, 2, 5]"], || {
        B::avg_pool1d(floats([1, 2, 5]), 6, 1, 0, true, false)
    });
    assert_refused(&["avg_pool2d_backward", "kernel of 6"], || {
        B::avg_pool2d_backward(floats([1, 2, 5, 5]), floats([1, 2, 1, 1]), [6, 1], [1, 1], [0, 0], true, false)
    });
}

#[test]
fn zeros_among_the_options() {
    let parts = ["at least 1", "[1, 2, 5, 5]"];
    for (kernel, stride, dilation) in [([0, 1], [1, 1], [1, 1]), ([1, 1], [1, 0], [1, 1]), ([1, 1], [1, 1], [0, 1])] {
        assert_refused(&[&["max_pool2d_with_indices"], &parts[..]].concat(), || {
            B::max_pool2d_with_indices(floats([1, 2, 5, 5]), kernel, stride, [0, 0], dilation, false).output
        });
    }
    assert_refused(&["avg_pool1d", "stride [0]"], || B::avg_pool1d(floats([1, 2, 5]), 2, 0, 0, true, false));
}

#[test]
fn too_many_elements() {
    let parts = ["avg_pool2d", "2^30", "2 planes", "[40005, 40005]", "fewer planes"];
    assert_refused(&parts, || B::avg_pool2d(floats([1, 2, 5, 5]), [1, 1], [1, 1], [20_000, 20_000], true, false));
    let parts = ["max_pool2d", "2^30", "1 planes", "pad less"];
    assert_refused(&parts, || B::max_pool2d(floats([1, 1, 5, 5]), [2, 2], [1, 1], [1 << 29, 1], [1, 1], false));
    assert_refused(&["max_pool1d", "2^31", "padding"], || {
        B::max_pool1d(floats([1, 2, 5]), 1, 1, usize::MAX / 2, 1, false)
    });
}

#[test]
fn gradients_of_other_shapes() {
    assert_refused(&["avg_pool1d_backward", "[1, 2, 3]", "[1, 2, 2]", "[1, 2, 4]"], || {
        B::avg_pool1d_backward(floats([1, 2, 4]), floats([1, 2, 3]), 2, 2, 0, true, false)
    });
    assert_refused(&["adaptive_avg_pool2d_backward", "[2, 2, 1, 1]", "[1, 2, 1, 1]"], || {
        B::adaptive_avg_pool2d_backward(floats([1, 2, 4, 4]), floats([2, 2, 1, 1]))
    });
    let half = Tensor::<B, 3>::zeros([1, 2, 2], (&Default::default(), DType::F16)).into_primitive().tensor();
    assert_refused(&["adaptive_avg_pool1d_backward", "F16", "F32"], || {
        B::adaptive_avg_pool1d_backward(floats([1, 2, 4]), half)
    });
}

#[test]
fn indices_of_other_shapes() {
    let indices = |shape: [usize; 4]| Tensor::<B, 4, Int>::zeros(shape, &Default::default()).into_primitive();
    let backward = |indices| {
        let (x, grad) = (floats([1, 2, 4, 4]), floats([1, 2, 2, 2]));
        B::max_pool2d_with_indices_backward(x, [2, 2], [2, 2], [0, 0], [1, 1], false, grad, indices).x_grad
    };
    let parts = ["max_pool2d_with_indices_backward", "[1, 2, 2, 1]", "[1, 2, 2, 2]"];
    assert_refused(&parts, || backward(indices([1, 2, 2, 1])));
    assert_refused(&["max_pool2d_with_indices_backward", "F32"], || backward(floats([1, 2, 2, 2])));
}

#[test]
fn positions_that_the_dtype_cannot_hold() {
    let parts = ["max_pool2d_with_indices", "399", "U8", "i32"];
    assert_refused(&parts, || {
        MpsGraph::<f32, u8>::max_pool2d_with_indices(floats([1, 1, 20, 20]), [20, 20], [1, 1], [0, 0], [1, 1], false)
    });
    let fits =
        MpsGraph::<f32, u8>::max_pool2d_with_indices(floats([1, 1, 16, 16]), [2, 2], [2, 2], [0, 0], [1, 1], false);
    let last = Tensor::<MpsGraph<f32, u8>, 4, Int>::from_primitive(fits.indices).slice([0..1, 0..1, 7..8, 7..8]);
    assert_eq!(last.into_data().to_vec::<u8>().ok(), Some(vec![238]));
}

#[test]
fn other_ranks() {
    assert_refused(&["max_pool2d", "[2, 4, 4]", "rank 4"], || {
        B::max_pool2d(floats([2, 4, 4]), [2, 2], [2, 2], [0, 0], [1, 1], false)
    });
    assert_refused(&["adaptive_avg_pool1d", "[4, 4]", "rank 3"], || B::adaptive_avg_pool1d(floats([4, 4]), 2));
}
