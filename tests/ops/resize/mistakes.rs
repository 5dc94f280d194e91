//! Images that cannot be resized are refused by name.

use burn::tensor::ops::{InterpolateMode, InterpolateOptions, ModuleOps};
use burn::tensor::{DType, Tensor};
use burn_mpsgraph::MpsGraph;
use test_support::assert_refused;

type Primitive = <MpsGraph as burn::tensor::backend::BackendTypes>::FloatTensorPrimitive;

fn zeros<const D: usize>(shape: [usize; D], dtype: DType) -> Primitive {
    Tensor::<MpsGraph, D>::zeros(shape, (&Default::default(), dtype)).into_primitive().tensor()
}

fn resized(x: Primitive, size: [usize; 2]) -> Primitive {
    MpsGraph::<f32>::interpolate(x, size, InterpolateOptions::new(InterpolateMode::Bilinear))
}

#[test]
fn images_without_pixels_or_axes() {
    assert_refused(&["interpolate", "[1, 2, 0, 3]", "[4, 4]"], || resized(zeros([1, 2, 0, 3], DType::F32), [4, 4]));
    assert_refused(&["interpolate", "[2, 3, 3]"], || resized(zeros([2, 3, 3], DType::F32), [4, 4]));
}

#[test]
fn results_beyond_the_device() {
    let parts = ["interpolate", "2^31", "split the tensor"];
    for size in [[1 << 16, 1 << 16], [2, 1 << 40], [1 << 32, 1 << 32]] {
        assert_refused(&parts, || resized(zeros([1, 1, 2, 2], DType::F32), size));
    }
}

#[test]
fn integers() {
    let x = Tensor::<MpsGraph, 4, burn::tensor::Int>::zeros([1, 1, 2, 2], &Default::default()).into_primitive();
    assert_refused(&["interpolate", "I32", "cast"], || resized(x.clone(), [4, 4]));
}

#[test]
fn gradients_of_other_images() {
    let backward = |grad: Primitive| {
        let x = zeros([1, 1, 2, 2], DType::F32);
        MpsGraph::<f32>::interpolate_backward(x, grad, [4, 4], InterpolateOptions::new(InterpolateMode::Nearest))
    };
    assert_refused(&["interpolate_backward", "[1, 1, 4, 5]", "the shape [1, 1, 4, 4]"], || {
        backward(zeros([1, 1, 4, 5], DType::F32))
    });
    assert_refused(&["interpolate_backward", "F16", "the same dtype"], || backward(zeros([1, 1, 4, 4], DType::F16)));
}
