//! Convolutions of nothing, and mistakes, which are refused by name before anything is recorded.

use burn::tensor::backend::BackendTypes;
use burn::tensor::module::{conv_transpose2d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, ModuleOps};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::assert_refused;

use crate::compare::assert_gives;

pub(super) type B = MpsGraph<f32, i32>;
type Primitive = <B as BackendTypes>::FloatTensorPrimitive;

pub(super) fn zeros<const D: usize>(shape: [usize; D], dtype: DType) -> Primitive {
    Tensor::<B, D>::zeros(shape, (&Default::default(), dtype)).into_primitive().tensor()
}

pub(super) fn f32<const D: usize>(shape: [usize; D]) -> Primitive {
    zeros(shape, DType::F32)
}

fn plain<const N: usize>() -> ConvOptions<N> {
    ConvOptions::new([1; N], [0; N], [1; N], 1)
}

fn transposed<const N: usize>() -> ConvTransposeOptions<N> {
    ConvTransposeOptions::new([1; N], [0; N], [0; N], [1; N], 1)
}

#[test]
fn of_nothing() {
    let ones = |shape: [usize; 4]| Tensor::<MpsGraph, 4>::ones(shape, &Default::default());
    let bias = || Tensor::<MpsGraph, 1>::from_floats([1.0, 2.0], &Default::default());
    // No samples.
    let empty = TensorData::new(Vec::<f32>::new(), [0, 2, 2, 2]);
    let weight = || ones([2, 3, 2, 2]);
    let found = || conv2d(ones([0, 3, 3, 3]), weight(), Some(bias()), plain()).into_data();
    assert_gives("no samples", &empty, found, Exact);
    // No channels: the bias alone.
    let found = || conv2d(ones([1, 0, 1, 2]), ones([2, 0, 1, 1]), Some(bias()), plain()).into_data();
    assert_gives("no channels", &TensorData::from([[[[1f32, 1.0]], [[2.0, 2.0]]]]), found, Exact);
    let found = || conv_transpose2d(ones([0, 3, 1, 1]), ones([3, 2, 2, 2]), Some(bias()), transposed()).into_data();
    assert_gives("no samples, transposed", &empty, found, Exact);
    let cube = |shape: [usize; 5]| Tensor::<MpsGraph, 5>::ones(shape, &Default::default());
    let empty = TensorData::new(Vec::<f32>::new(), [0, 2, 2, 2, 2]);
    let found = || conv3d(cube([0, 3, 3, 3, 3]), cube([2, 3, 2, 2, 2]), Some(bias()), plain()).into_data();
    assert_gives("no samples in three dimensions", &empty, found, Exact);
}

#[test]
fn gradients_of_nothing() {
    let grad = B::conv2d_weight_backward(f32([0, 3, 3, 3]), f32([2, 3, 2, 2]), f32([0, 2, 2, 2]), plain());
    let grad = Tensor::<B, 4>::new(burn::tensor::TensorPrimitive::Float(grad)).into_data();
    assert_eq!(grad, TensorData::new(vec![0f32; 24], [2, 3, 2, 2]));
    let grad = B::conv2d_bias_backward(f32([0, 3, 3, 3]), f32([2]), f32([0, 2, 2, 2]));
    let grad = Tensor::<B, 1>::new(burn::tensor::TensorPrimitive::Float(grad)).into_data();
    assert_eq!(grad, TensorData::from([0f32, 0.0]));
}

#[test]
fn options_of_zero() {
    let zero = |stride, dilation, groups| ConvOptions { stride, padding: [0; 2], dilation, groups };
    for options in [zero([0, 1], [1, 1], 1), zero([1, 1], [1, 0], 1), zero([1, 1], [1, 1], 0)] {
        let run = || B::conv2d(f32([1, 1, 2, 2]), f32([1, 1, 1, 1]), None, options.clone());
        assert_refused(&["conv2d", "must be 1 or more", "[1, 1, 2, 2]", "stride"], run);
    }
    let far = |stride, padding, dilation| ConvOptions { stride, padding, dilation, groups: 1 };
    let half = usize::MAX / 2;
    for options in [far([1, half], [0, 0], [1, 1]), far([1, 1], [0, half], [1, 1]), far([1, 1], [0, 0], [half, 1])] {
        let run = || B::conv2d(f32([1, 1, 2, 2]), f32([1, 1, 2, 2]), None, options.clone());
        assert_refused(&["conv2d", "less than 2^31"], run);
    }
    assert_refused(&["conv_transpose1d", "less than 2^31"], || {
        let options = ConvTransposeOptions::new([half], [0], [0], [1], 1);
        B::conv_transpose1d(f32([1, 1, 2]), f32([1, 1, 3]), None, options)
    });
    let options = ConvTransposeOptions { stride: [0], padding: [0], padding_out: [0], dilation: [1], groups: 1 };
    let run = || B::conv_transpose1d_x_backward(f32([1, 1, 1]), f32([1, 1, 2]), options.clone());
    assert_refused(&["conv_transpose1d_x_backward", "strides of 1 or more"], run);
    assert_refused(&["conv_transpose1d", "must be 1 or more"], || {
        B::conv_transpose1d(f32([1, 1, 2]), f32([1, 1, 1]), None, options.clone())
    });
}

#[test]
fn results_that_are_too_large() {
    let padded = |padding| ConvOptions { padding: [padding; 2], ..plain() };
    assert_refused(&["conv2d", "[1, 1, 65537, 65537]", "2^31", "split"], || {
        B::conv2d(f32([1, 1, 1, 1]), f32([1, 1, 1, 1]), None, padded(1 << 15))
    });
    assert_refused(&["conv1d", "[1, 4, 1073741825]", "2^31", "split"], || {
        let options = ConvOptions { padding: [1 << 29], ..plain() };
        B::conv1d(f32([1, 1, 1]), f32([4, 1, 1]), None, options)
    });
    assert_refused(&["conv_transpose2d", "[1, 1, 65536, 65536]", "2^31", "split"], || {
        let options = ConvTransposeOptions { stride: [65535; 2], ..transposed() };
        B::conv_transpose2d(f32([1, 1, 2, 2]), f32([1, 1, 1, 1]), None, options)
    });
}

#[test]
fn shapes_that_do_not_go_together() {
    assert_refused(&["conv1d", "[1, 3, 4]", "[2, 2, 1]", "groups times 2 channels"], || {
        B::conv1d(f32([1, 3, 4]), f32([2, 2, 1]), None, plain())
    });
    let groups = ConvOptions::new([1, 1], [0, 0], [1, 1], 2);
    assert_refused(&["conv2d", "[3, 2, 1, 1]", "divide by groups"], || {
        B::conv2d(f32([1, 4, 2, 2]), f32([3, 2, 1, 1]), None, groups)
    });
    assert_refused(&["conv3d", "reaches over 5 elements of 4", "padding larger"], || {
        let options = ConvOptions::new([1; 3], [1, 0, 0], [2, 1, 1], 1);
        B::conv3d(f32([1, 1, 2, 2, 2]), f32([1, 1, 3, 1, 1]), None, options)
    });
    assert_refused(&["conv2d", "filter must have elements"], || {
        B::conv2d(f32([1, 1, 2, 2]), f32([1, 1, 0, 1]), None, plain())
    });
    assert_refused(&["conv2d", "4 dimensions", "[1, 1, 2]"], || {
        B::conv2d(f32([1, 1, 2]), f32([1, 1, 1, 1]), None, plain())
    });
    assert_refused(&["conv2d", "bias of shape [3] for 2"], || {
        B::conv2d(f32([1, 1, 2, 2]), f32([2, 1, 1, 1]), Some(f32([3])), plain())
    });
    assert_refused(&["conv2d", "F32", "F16"], || {
        B::conv2d(f32([1, 1, 2, 2]), zeros([1, 1, 1, 1], DType::F16), None, plain())
    });
    assert_refused(&["conv_transpose2d", "weight's 2 channels", "[1, 3, 2, 2]"], || {
        B::conv_transpose2d(f32([1, 3, 2, 2]), f32([2, 1, 1, 1]), None, transposed())
    });
    assert_refused(&["conv_transpose1d", "leaves nothing of 2"], || {
        let options = ConvTransposeOptions::new([1], [1], [0], [1], 1);
        B::conv_transpose1d(f32([1, 1, 2]), f32([1, 1, 1]), None, options)
    });
    assert_refused(&["conv_transpose1d", "dimension 2 of x has no elements"], || {
        B::conv_transpose1d(f32([1, 1, 0]), f32([1, 1, 1]), None, transposed())
    });
}

#[test]
fn gradients_of_another_shape() {
    let (x, weight, grad) = (|| f32([1, 1, 3, 3]), || f32([1, 1, 2, 2]), || f32([1, 1, 3, 2]));
    let parts = |name| [name, "[1, 1, 3, 2]", "[1, 1, 2, 2]"];
    assert_refused(&parts("conv2d_x_backward"), || B::conv2d_x_backward(x(), weight(), grad(), plain()));
    assert_refused(&parts("conv2d_weight_backward"), || B::conv2d_weight_backward(x(), weight(), grad(), plain()));
    assert_refused(&["conv2d_bias_backward", "[2]"], || B::conv2d_bias_backward(x(), f32([2]), grad()));
    assert_refused(&["conv_transpose2d_weight_backward", "[1, 1, 4, 4]"], || {
        B::conv_transpose2d_weight_backward(x(), weight(), grad(), transposed())
    });
    assert_refused(&["conv_transpose2d_x_backward", "fewer elements"], || {
        B::conv_transpose2d_x_backward(f32([1, 1, 5, 1]), grad(), transposed())
    });
}
