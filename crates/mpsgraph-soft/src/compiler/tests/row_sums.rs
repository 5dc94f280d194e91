//! Sums of products without a table of them, with the bits that the nodes give one by one.

use super::*;

const SHAPE: [usize; 2] = [7, 150];

fn sum(nodes: &mut Nodes, x: ValueId, axis: usize) -> ValueId {
    let mut shape = SHAPE;
    shape[axis] = 1;
    push(nodes, Reduce { op: ReduceOp::Sum, axes: vec![axis] }, [x], f32s(&shape))
}

fn check(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId], sums: usize) {
    check_steps(nodes, feeds, targets, "RowSum", sums);
}

/// So many steps have that in their names.
fn check_steps(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId], name: &str, count: usize) {
    let plan = compile(nodes, feeds, targets);
    assert_eq!(plan.describe().matches(name).count(), count, "{}", plan.describe());
    let inputs: Vec<Vec<u8>> =
        feeds.iter().zip(1..).map(|(&id, seed)| numbers(nodes.ty(id).elements(), seed)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert!(run(&plan, &inputs) == unfused(nodes, feeds, &inputs, targets), "{}", plan.describe());
}

#[test]
fn products_of_what_is_in_memory() {
    let mut nodes = Nodes::default();
    let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE)));
    let products = binary(&mut nodes, BinaryOp::Mul, x, y);
    let squares = unary(&mut nodes, UnaryOp::Square, x);
    let sums = [products, squares].map(|table| sum(&mut nodes, table, 1));
    check(&nodes, &[x, y], &sums, 2);
    // The caller wants the products, too.
    check(&nodes, &[x, y], &[sums[0], products], 0);
}

/// A reduction finds sums that overflow anew, unless a term explains them.
#[test]
fn sums_that_overflow() {
    let mut nodes = Nodes::default();
    let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE)));
    let products = binary(&mut nodes, BinaryOp::Mul, x, y);
    let total = sum(&mut nodes, products, 1);
    let terms: [&[(usize, f32)]; SHAPE[0]] = [
        &[(0, 3e38), (1, 3e38), (32, -3e38), (33, -3e38), (64, -3e38), (65, -3e38)],
        &[(0, f32::INFINITY), (1, -3e38), (33, -3e38)],
        &[(0, 3e38), (32, 3e38), (64, -3e38)],
        &[(0, 3e38), (1, -3e38), (32, 3e38), (33, -3e38)],
        &[(3, f32::NAN), (0, 3e38), (32, 3e38)],
        &[(100, f32::NEG_INFINITY), (0, 3e38), (32, 3e38)],
        &[(0, -3e38), (70, -3e38), (102, 3e38), (149, 3e38)],
    ];
    let mut rows = [[0.0f32; SHAPE[1]]; SHAPE[0]];
    terms.iter().zip(&mut rows).for_each(|(terms, row)| terms.iter().for_each(|&(at, term)| row[at] = term));
    let ones = [1.0f32; SHAPE[0] * SHAPE[1]];
    let inputs: [&[u8]; 2] = [bytemuck::cast_slice(rows.as_flattened()), bytemuck::cast_slice(&ones)];
    let plan = compile(&nodes, &[x, y], &[total]);
    assert!(plan.describe().contains("RowSum"), "{}", plan.describe());
    assert!(run(&plan, &inputs) == unfused(&nodes, &[x, y], &inputs, &[total]));
}

/// Products and quotients that are too small to be normal are zeros, whoever makes them.
#[test]
fn what_is_too_small_to_be_normal() {
    let mut nodes = Nodes::default();
    let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE)));
    let products = binary(&mut nodes, BinaryOp::Mul, x, y);
    let total = sum(&mut nodes, products, 1);
    let small = |number: f32| [number; SHAPE[0] * SHAPE[1]].map(f32::to_ne_bytes).concat();
    let (factors, zeros) = ([small(1e-20), small(1e-20)], [0.0_f32; SHAPE[0]].map(f32::to_ne_bytes).concat());
    let inputs = [&factors[0][..], &factors[1][..]];
    assert!(unfused(&nodes, &[x, y], &inputs, &[total]) == [zeros.clone()]);
    assert!(run(&compile(&nodes, &[x, y], &[total]), &inputs) == [zeros]);
}

#[test]
fn squares_of_differences_from_a_number_of_each_row() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE));
    let middle = push(&mut nodes, Leaf::Placeholder, [], f32s(&[SHAPE[0], 1]));
    let difference = binary(&mut nodes, BinaryOp::Sub, x, middle);
    let square = binary(&mut nodes, BinaryOp::Mul, difference, difference);
    let total = sum(&mut nodes, square, 1);
    let scaled = binary(&mut nodes, BinaryOp::Mul, difference, total);
    check(&nodes, &[x, middle], &[scaled], 1);
}

#[test]
fn what_would_have_to_be_stored_for_it_stays() {
    let mut nodes = Nodes::default();
    let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE)));
    let row = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, SHAPE[1]]));
    // Of columns, of an operand that is repeated, and of values that no memory holds.
    let products = binary(&mut nodes, BinaryOp::Mul, x, y);
    let columns = sum(&mut nodes, products, 0);
    let repeated = binary(&mut nodes, BinaryOp::Mul, x, row);
    let repeated = sum(&mut nodes, repeated, 1);
    let [near, far] = [x, y].map(|x| unary(&mut nodes, UnaryOp::Abs, x));
    let made = binary(&mut nodes, BinaryOp::Mul, near, far);
    let made = sum(&mut nodes, made, 1);
    check(&nodes, &[x, y, row], &[columns, repeated, made], 0);
}

#[test]
fn a_sum_that_is_divided_by_its_length_is_a_mean() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&SHAPE));
    let [length, other] = [SHAPE[1], SHAPE[1] - 1].map(|count| splat(&mut nodes, count as f32, f32s(&[1])));
    let total = sum(&mut nodes, x, 1);
    let [mean, wide] = [length, other].map(|count| binary(&mut nodes, BinaryOp::Div, total, count));
    for (targets, means) in [(&[mean][..], 1), (&[wide], 0), (&[mean, wide], 0)] {
        check_steps(&nodes, &[x], targets, "Mean", means);
    }
}
