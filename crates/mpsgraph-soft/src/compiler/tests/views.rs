//! Views that are stored, against the index formulas of their definitions.

use super::*;
use crate::kernels::row_major::{coordinates, flat};

/// Stores `op` of an operand whose elements count on, for several element sizes; `expected` gives the element for the
/// coordinates of each result.
fn check(op: &ViewOp, shape: &[usize], out_shape: &[usize], expected: impl Fn(&[usize]) -> usize) {
    let expected: Vec<usize> = (0..out_shape.iter().product()).map(|i| expected(&coordinates(out_shape, i))).collect();
    for dtype in [DType::U8, DType::I16, DType::I64] {
        let mut nodes = Nodes::default();
        let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, shape));
        let y = push(&mut nodes, op.clone(), [x], TensorType::new(dtype, out_shape));
        let bytes = |at: usize| at.to_le_bytes()[..dtype.size()].to_vec();
        let input: Vec<u8> = (0..shape.iter().product()).flat_map(bytes).collect();
        let got = run(&compile(&nodes, &[x], &[y]), &[&input]).remove(0);
        let expected: Vec<u8> = expected.iter().copied().flat_map(bytes).collect();
        assert!(got == expected, "{op:?} of {shape:?}: {got:?} is not {expected:?}");
    }
}

#[test]
fn transpose() {
    let perm = [2usize, 0, 3, 1];
    let shape = [3, 5, 2, 7];
    check(&ViewOp::Transpose { perm: perm.to_vec() }, &shape, &[2, 3, 7, 5], |at| {
        let mut from = [0; 4];
        perm.iter().zip(at).for_each(|(&axis, &at)| from[axis] = at);
        flat(&shape, &from)
    });
}

#[test]
fn broadcast() {
    check(&ViewOp::Broadcast, &[3, 1, 4], &[2, 3, 5, 4], |at| at[1] * 4 + at[3]);
    check(&ViewOp::Broadcast, &[], &[2, 3], |_| 0);
    check(&ViewOp::Broadcast, &[1, 1], &[1, 1], |_| 0);
}

#[test]
fn slice() {
    for step in [1isize, 2, 3, -1, -2] {
        for extent in 1..=6 {
            let starts = vec![1, if step < 0 { 15 } else { 0 }];
            let op = ViewOp::Slice { starts: starts.clone(), strides: vec![2, step] };
            check(&op, &[8, 16], &[3, extent], |at| {
                (1 + 2 * at[0]) * 16 + (starts[1] as isize + at[1] as isize * step) as usize
            });
        }
    }
}

#[test]
fn reverse() {
    check(&ViewOp::Reverse { axes: vec![0, 2] }, &[3, 4, 5], &[3, 4, 5], |at| {
        flat(&[3, 4, 5], &[2 - at[0], at[1], 4 - at[2]])
    });
    check(&ViewOp::Reverse { axes: vec![] }, &[3], &[3], |at| at[0]);
}

#[test]
fn bits_of_a_transposed_tensor_as_a_narrower_type() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [2, 3]));
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [x], TensorType::new(DType::I32, [3, 2]));
    let halves = push(&mut nodes, ViewOp::Reinterpret, [turned], TensorType::new(DType::I16, [3, 4]));
    let plan = compile(&nodes, &[x], &[halves]);
    let bytes = |numbers: &[i32]| numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let got = run(&plan, &[&bytes(&[1, -2, 3, 1 << 20, 5, -6])]);
    assert_eq!(got, [bytes(&[1, 1 << 20, -2, 5, 3, -6])]);
    assert_eq!(plan.steps(), 1, "{}", plan.describe());
}

/// What every matrix of a batch reads is brought into order once.
#[test]
fn a_transposed_operand_that_is_repeated_is_copied_once() {
    let (batch, side) = (16, 64);
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[batch, side, side]));
    let w = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, side, side]));
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![0, 2, 1] }, [w], f32s(&[1, side, side]));
    let sum = binary(&mut nodes, BinaryOp::Add, x, turned);
    let plan = compile(&nodes, &[x, w], &[sum]);
    assert!(plan.scratch_bytes() <= 2 * 4 * side * side, "{}", plan.describe());
    let inputs: Vec<Vec<u8>> = [x, w].iter().map(|&id| numbers(nodes.ty(id).elements(), 3)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x, w], &inputs, &[sum]));
}
