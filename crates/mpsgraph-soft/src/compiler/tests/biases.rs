//! Biases that convolutions add themselves.

use super::*;
use crate::kernels::convolution::{Convolution, Wanted, Window};

#[test]
fn a_convolution_adds_its_bias() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 3, 4, 5]));
    let w = push(&mut nodes, Leaf::Placeholder, [], f32s(&[6, 3, 1, 1]));
    let b = push(&mut nodes, Leaf::Placeholder, [], f32s(&[6]));
    let window = Window { stride: 1, dilation: 1, before: 0 };
    let op = Convolution { wanted: Wanted::Output, windows: [window; 2], groups: 1 };
    let output = push(&mut nodes, op, [x, w], f32s(&[2, 6, 4, 5]));
    let column = push(&mut nodes, ViewOp::Reshape, [b], f32s(&[1, 6, 1, 1]));
    let sum = binary(&mut nodes, BinaryOp::Add, output, column);
    // As one dimension is convolved: reshaped, then added to a column with the bias in front.
    let flat = push(&mut nodes, ViewOp::Reshape, [output], f32s(&[2, 6, 20]));
    let short = push(&mut nodes, ViewOp::Reshape, [b], f32s(&[6, 1]));
    let turned = push(&mut nodes, BinaryOp::Add, [short, flat], f32s(&[2, 6, 20]));
    let feeds = [x, w, b];
    let inputs = [numbers(120, 1), numbers(18, 2), numbers(6, 3)];
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    for target in [sum, turned] {
        let plan = compile(&nodes, &feeds, &[target]);
        assert_eq!(plan.steps(), 1, "{}", plan.describe());
        assert_eq!(run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &[target]));
    }
    // What else is read is made without the bias, and so is what the bias makes larger.
    for targets in [&[sum, output][..], &[sum, turned]] {
        let plan = compile(&nodes, &feeds, targets);
        assert!(plan.steps() > 1, "{}", plan.describe());
        assert_eq!(run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, targets));
    }
    let rows = push(&mut nodes, ViewOp::Slice { starts: vec![0], strides: vec![1] }, [b], f32s(&[5]));
    let rows = binary(&mut nodes, BinaryOp::Add, output, rows);
    let plan = compile(&nodes, &feeds, &[rows]);
    assert_eq!(plan.steps(), 2, "{}", plan.describe());
}
