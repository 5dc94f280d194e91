//! Mistakes, which are refused by name before anything is recorded.

use burn::tensor::DType;
use burn::tensor::ops::{DeformConvOptions, ModuleOps};
use test_support::assert_refused;

use crate::convolution::mistakes::{B, f32, zeros};

fn plain() -> DeformConvOptions<2> {
    DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1)
}

/// A convolution of an image and one filter of these shapes with offsets of shape `offset`.
fn refused(parts: &[&str], [x, offset, weight]: [[usize; 4]; 3], options: DeformConvOptions<2>) {
    let run = || B::deform_conv2d(f32(x), f32(offset), f32(weight), None, None, options.clone());
    assert_refused(&[&["deform_conv2d: "], parts].concat(), run);
    let run = || {
        let grad = f32([1, 1, 1, 1]);
        B::deform_conv2d_backward(f32(x), f32(offset), f32(weight), None, None, grad, options.clone())
    };
    assert_refused(&[&["deform_conv2d_backward: "], parts].concat(), run);
}

#[test]
fn options_that_do_not_fit() {
    let shapes = [[1, 4, 3, 3], [1, 8, 2, 2], [2, 4, 2, 2]];
    for options in [
        DeformConvOptions { stride: [0, 1], ..plain() },
        DeformConvOptions { dilation: [1, 0], ..plain() },
        DeformConvOptions { weight_groups: 0, ..plain() },
    ] {
        refused(&["must be 1 or more", "[1, 4, 3, 3]"], shapes, options);
    }
    refused(&["offset groups, 1 or more"], shapes, DeformConvOptions { offset_groups: 0, ..plain() });
    let three = DeformConvOptions { offset_groups: 3, ..plain() };
    refused(&["4 channels of x must divide by the offset groups", "offset_groups: 3"], shapes, three);
    let two = DeformConvOptions { weight_groups: 2, ..plain() };
    refused(&["groups times 4 channels", "[2, 4, 2, 2]"], shapes, two);
}

#[test]
fn shapes_that_do_not_go_together() {
    let x = [1, 1, 3, 3];
    refused(&["reaches over 4 elements of 3", "padding larger"], [x, [1, 8, 1, 1], [1, 1, 4, 1]], plain());
    refused(&["offset must have the shape [1, 8, 2, 2]"], [x, [1, 4, 2, 2], [1, 1, 2, 2]], plain());
    refused(&["offset must have the shape [1, 8, 2, 2]", "[1, 8, 3, 2]"], [x, [1, 8, 3, 2], [1, 1, 2, 2]], plain());
    refused(&["filter must have elements"], [x, [1, 0, 3, 3], [1, 1, 0, 1]], plain());
    assert_refused(&["deform_conv2d", "mask must have the shape [1, 4, 2, 2]", "[1, 8, 2, 2]"], || {
        B::deform_conv2d(f32(x), f32([1, 8, 2, 2]), f32([1, 1, 2, 2]), Some(f32([1, 8, 2, 2])), None, plain())
    });
    assert_refused(&["deform_conv2d", "bias of shape [2] for 1"], || {
        B::deform_conv2d(f32(x), f32([1, 8, 2, 2]), f32([1, 1, 2, 2]), None, Some(f32([2])), plain())
    });
    assert_refused(&["deform_conv2d", "4 dimensions"], || {
        B::deform_conv2d(f32([1, 3, 3]), f32([1, 8, 2, 2]), f32([1, 1, 2, 2]), None, None, plain())
    });
    assert_refused(&["deform_conv2d_backward", "[1, 1, 3, 2]", "[1, 1, 2, 2]"], || {
        let grad = f32([1, 1, 3, 2]);
        B::deform_conv2d_backward(f32(x), f32([1, 8, 2, 2]), f32([1, 1, 2, 2]), None, None, grad, plain())
    });
}

#[test]
fn dtypes_that_differ() {
    let half = |shape| zeros(shape, DType::F16);
    assert_refused(&["deform_conv2d", "F32", "F16", "cast"], || {
        B::deform_conv2d(f32([1, 1, 3, 3]), half([1, 8, 2, 2]), f32([1, 1, 2, 2]), None, None, plain())
    });
    assert_refused(&["deform_conv2d", "F32", "F16", "cast"], || {
        let mask = Some(half([1, 4, 2, 2]));
        B::deform_conv2d(f32([1, 1, 3, 3]), f32([1, 8, 2, 2]), f32([1, 1, 2, 2]), mask, None, plain())
    });
}

/// Nothing of these tensors is computed: they are recorded only.
#[test]
fn more_than_a_graph_holds() {
    let shapes = [[256, 1024, 32, 32], [256, 18, 32, 32], [1, 1024, 3, 3]];
    let wide = DeformConvOptions { padding: [1, 1], ..plain() };
    let parts = ["unsupported", "take 2415919104 elements", "pass fewer images at a time"];
    refused(&parts, shapes, wide);
    let long = 1 << 24;
    let parts = ["unsupported", "16777216 pixels", "convolve parts of the image"];
    refused(&parts, [[1, 1, 1, long], [1, 2, 1, long], [1, 1, 1, 1]], plain());
}
