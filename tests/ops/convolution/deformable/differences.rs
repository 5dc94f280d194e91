//! Gradients against differences. Between pixels the output is linear in each number of each operand, so the
//! differences are exact but for rounding.

use burn::tensor::module::deform_conv2d;
use burn::tensor::ops::DeformConvOptions;
use burn::tensor::{DType, Tensor};

use super::{Operands, mask_shape, operands, quarters};
use crate::differences::{self, B};

/// Small enough that no offset comes to the next pixel.
const STEP: f32 = 1.0 / 32.0;

/// Checks each element of the gradient for a leaf with these values.
fn check<const D: usize>(what: &str, leaf: Tensor<B, D>, function: impl Fn(Tensor<B, D>) -> Tensor<B, 4>) {
    let sum = |leaf: Tensor<B, D>| {
        let output = function(leaf);
        let weights = quarters::<B, 4>(output.dims(), DType::F32, 5);
        (output * weights).sum()
    };
    differences::check(what, &leaf.into_data(), STEP, sum);
}

fn check_all(shapes: [[usize; 4]; 2], options: &DeformConvOptions<2>) {
    let operands = || operands::<B>(shapes, options, DType::F32);
    let mask = || quarters::<B, 4>(mask_shape(shapes, options), DType::F32, 3);
    let bias = || quarters::<B, 1>([shapes[1][0]], DType::F32, 2);
    let run = |Operands { x, offset, weight }, mask, bias| {
        deform_conv2d(x, offset, weight, Some(mask), Some(bias), options.clone())
    };
    let (x, offset, weight) = (operands().x, operands().offset, operands().weight);
    check("x", x, |x| run(Operands { x, ..operands() }, mask(), bias()));
    check("offset", offset, |offset| run(Operands { offset, ..operands() }, mask(), bias()));
    check("weight", weight, |weight| run(Operands { weight, ..operands() }, mask(), bias()));
    check("mask", mask(), |mask| run(operands(), mask, bias()));
    check("bias", bias(), |bias| run(operands(), mask(), bias));
}

#[test]
fn of_plain() {
    check_all([[2, 2, 3, 4], [3, 2, 2, 2]], &DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1));
}

#[test]
fn of_every_option() {
    check_all([[1, 6, 4, 3], [2, 3, 2, 3]], &DeformConvOptions::new([2, 1], [1, 2], [1, 2], 2, 3));
}
