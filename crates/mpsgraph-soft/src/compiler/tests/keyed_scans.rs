//! Scans of keys of floats become one kernel, with the bits that the nodes give one by one.

use super::*;
use crate::kernels::cumulative::{Cumulative, Running};

fn number(nodes: &mut Nodes, number: i32) -> ValueId {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&number.to_ne_bytes());
    push(nodes, Leaf::Splat(bytes), [], TensorType::new(DType::I32, [1]))
}

fn turned(nodes: &mut Nodes, bits: ValueId) -> ValueId {
    let (by, magnitude) = (number(nodes, 31), number(nodes, i32::MAX));
    let sign = binary(nodes, BinaryOp::Shr, bits, by);
    let mask = binary(nodes, BinaryOp::BitAnd, sign, magnitude);
    binary(nodes, BinaryOp::BitXor, bits, mask)
}

/// A running extreme of `x` along `axis`, in which NaN has the key `beyond`.
fn extreme(nodes: &mut Nodes, x: ValueId, running: Running, axis: usize, beyond: i32) -> ValueId {
    let shape = nodes.ty(x).shape.clone();
    let ints = TensorType::new(DType::I32, shape.clone());
    let is_nan = push(nodes, UnaryOp::IsNan, [x], TensorType::new(DType::Bool, shape.clone()));
    let bits = push(nodes, ViewOp::Reinterpret, [x], ints.clone());
    let (nan, key) = (number(nodes, beyond), turned(nodes, bits));
    let keys = push(nodes, ElementwiseOp::Select, [is_nan, nan, key], ints.clone());
    let scan = push(nodes, Op::Kernel(Cumulative { running, axis }.into()), [keys], ints);
    let back = turned(nodes, scan);
    let floats = push(nodes, ViewOp::Reinterpret, [back], f32s(&shape));
    let is_nan = push(nodes, UnaryOp::IsNan, [floats], TensorType::new(DType::Bool, shape.clone()));
    let magnitude = push(nodes, UnaryOp::Abs, [floats], f32s(&shape));
    push(nodes, ElementwiseOp::Select, [is_nan, magnitude, floats], f32s(&shape))
}

#[test]
fn one_step_with_the_same_bits() {
    let specials = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.5, -2.5, 1e-40];
    for (running, beyond) in [(Running::Minimum, i32::MIN), (Running::Maximum, i32::MAX)] {
        for (shape, axis) in [([3, 50], 1), ([50, 3], 0), ([2, 600], 1)] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&shape));
            let y = extreme(&mut nodes, x, running, axis, beyond);
            let plan = compile(&nodes, &[x], &[y]);
            assert_eq!(plan.steps(), 1, "{}", plan.describe());
            let count = shape[0] * shape[1];
            let element = |at: usize| if at % 5 == 4 { specials[at / 5 % 9] } else { (at * 31 % 97) as f32 - 40.0 };
            // NaN is rare enough that something else comes before it.
            let numbers: Vec<f32> =
                (0..count).map(|at| if at % 50 < 20 { at as f32 % 7.0 } else { element(at) }).collect();
            let bytes: &[u8] = bytemuck::cast_slice(&numbers);
            assert_eq!(run(&plan, &[bytes]), unfused(&nodes, &[x], &[bytes], &[y]), "{running:?} {shape:?}");
        }
    }
}

#[test]
fn other_numbers_stay_as_they_are() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 40]));
    let sum = extreme(&mut nodes, x, Running::Sum, 1, i32::MAX);
    let other_key = extreme(&mut nodes, x, Running::Maximum, 1, 7);
    for y in [sum, other_key] {
        let plan = compile(&nodes, &[x], &[y]);
        assert_eq!(plan.steps(), 4, "{}", plan.describe());
    }
}
