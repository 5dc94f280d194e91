//! Steps on the same rows become one step, with the bits that the nodes give one by one.

use super::*;

fn number(nodes: &mut Nodes, number: f32) -> ValueId {
    splat(nodes, number, f32s(&[1]))
}

/// `x` over its last axes, with a scale and a shift for each column: feeds and targets.
pub fn normalization(nodes: &mut Nodes, shape: &[usize], axes: usize) -> (Vec<ValueId>, ValueId) {
    let kept = shape.len() - axes;
    let columns: usize = shape[kept..].iter().product();
    let mut narrow = shape.to_vec();
    narrow[kept..].fill(1);
    let mut row = vec![1; kept];
    row.extend(&shape[kept..]);
    let x = push(nodes, Leaf::Placeholder, [], f32s(shape));
    let [scale, shift] = [0; 2].map(|_| push(nodes, Leaf::Placeholder, [], f32s(&row)));
    let (count, epsilon) = (number(nodes, columns as f32), number(nodes, 1e-5));
    let mean = |nodes: &mut Nodes, x: ValueId| {
        let op = Reduce { op: ReduceOp::Sum, axes: (kept..shape.len()).collect() };
        let sum = push(nodes, op, [x], f32s(&narrow));
        binary(nodes, BinaryOp::Div, sum, count)
    };
    let middle = mean(nodes, x);
    let centered = binary(nodes, BinaryOp::Sub, x, middle);
    let squares = binary(nodes, BinaryOp::Mul, centered, centered);
    let variance = mean(nodes, squares);
    let moved = binary(nodes, BinaryOp::Add, variance, epsilon);
    let deviation = unary(nodes, UnaryOp::Sqrt, moved);
    let normal = binary(nodes, BinaryOp::Div, centered, deviation);
    let scaled = binary(nodes, BinaryOp::Mul, normal, scale);
    (vec![x, scale, shift], binary(nodes, BinaryOp::Add, scaled, shift))
}

fn check(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId], steps: usize) -> usize {
    let plan = compile(nodes, feeds, targets);
    assert_eq!(plan.steps(), steps, "{}", plan.describe());
    let inputs: Vec<Vec<u8>> =
        feeds.iter().zip(1..).map(|(&id, seed)| numbers(nodes.ty(id).elements(), seed)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let wanted = unfused(nodes, feeds, &inputs, targets);
    assert!(run(&plan, &inputs) == wanted, "{}", plan.describe());
    plan.scratch_bytes()
}

#[test]
fn a_normalization_is_one_step() {
    for (shape, axes) in [(&[601, 130][..], 1), (&[5000, 17], 1), (&[3, 50, 7, 90], 2), (&[2, 70_001], 1)] {
        let mut nodes = Nodes::default();
        let (feeds, target) = normalization(&mut nodes, shape, axes);
        check(&nodes, &feeds, &[target], 1);
    }
}

#[test]
fn what_nothing_else_reads_is_not_whole_in_memory() {
    let mut nodes = Nodes::default();
    let (feeds, target) = normalization(&mut nodes, &[40_000, 64], 1);
    let scratch = check(&nodes, &feeds, &[target], 1);
    assert!(scratch < 40_000 * 64 * 4, "{scratch} bytes");
}

#[test]
fn values_that_others_read_stay_whole() {
    let mut nodes = Nodes::default();
    let (mut feeds, target) = normalization(&mut nodes, &[700, 100], 1);
    // The columns' sums of what one step has made, and one of the values between.
    let sums = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0] }, [target], f32s(&[1, 100]));
    let other = push(&mut nodes, Leaf::Placeholder, [], f32s(&[100, 700]));
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [target], f32s(&[100, 700]));
    let across = binary(&mut nodes, BinaryOp::Add, turned, other);
    feeds.push(other);
    check(&nodes, &feeds, &[target, sums, across], 4);
}

#[test]
fn rows_of_other_rows_are_not_joined() {
    // Each row is read with the sum of the row before it in the order of columns.
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[400, 400]));
    let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![1] }, [x], f32s(&[400, 1]));
    let row = push(&mut nodes, ViewOp::Reshape, [sum], f32s(&[1, 400]));
    let y = binary(&mut nodes, BinaryOp::Sub, x, row);
    check(&nodes, &[x], &[y], 2);
}

#[test]
fn small_values_are_not_joined() {
    let mut nodes = Nodes::default();
    let (feeds, target) = normalization(&mut nodes, &[60, 100], 1);
    check(&nodes, &feeds, &[target], 4);
}
