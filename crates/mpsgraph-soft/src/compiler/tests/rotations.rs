//! Products that rotate their result.

use super::*;
use std::sync::Arc;

/// Row-major elements as a constant.
fn constant(nodes: &mut Nodes, shape: &[usize], element: impl Fn(usize) -> f32) -> ValueId {
    let bytes: Vec<u8> = (0..shape.iter().product()).flat_map(|at| element(at).to_ne_bytes()).collect();
    push(nodes, Leaf::Constant(Arc::from(bytes)), [], f32s(shape))
}

#[test]
fn a_folded_product_rotates_its_result() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[3, 16, 20]));
    // Signs whose columns and rows are equal but for signs: whole numbers, so that every order of sums is exact.
    let signs =
        constant(&mut nodes, &[16, 16], |at| if ((at / 16) & (at % 16)).count_ones() % 2 == 0 { 1.0 } else { -1.0 });
    let product = push(&mut nodes, Op::MatMul, [signs, x], f32s(&[3, 16, 20]));
    let pairs = push(&mut nodes, ViewOp::Reshape, [product], f32s(&[3, 8, 2, 20]));
    let exchanged = push(&mut nodes, ViewOp::Reverse { axes: vec![2] }, [pairs], f32s(&[3, 8, 2, 20]));
    let own = constant(&mut nodes, &[1, 8, 2, 20], |at| (at % 7) as f32);
    let other = constant(&mut nodes, &[1, 8, 2, 20], |at| (at % 5) as f32 - 3.0);
    let terms = [(pairs, own), (exchanged, other)].map(|(x, table)| binary(&mut nodes, BinaryOp::Mul, x, table));
    let sum = binary(&mut nodes, BinaryOp::Add, terms[0], terms[1]);
    let bytes: Vec<u8> = (0..3 * 16 * 20).flat_map(|at| ((at * 37 % 17) as f32 - 8.0).to_ne_bytes()).collect();
    let inputs: [&[u8]; 1] = [&bytes];
    let plan = compile(&nodes, &[x], &[sum]);
    assert_eq!(plan.steps(), 1, "{}", plan.describe());
    assert!(plan.describe().contains("rotated"), "{}", plan.describe());
    assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x], &inputs, &[sum]));
    // What else is read is made without the rotation; so is what has its columns exchanged, or other tables.
    let plan = compile(&nodes, &[x], &[sum, product]);
    assert_eq!(plan.steps(), 2, "{}", plan.describe());
    assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x], &inputs, &[sum, product]));
    for term in terms {
        let plan = compile(&nodes, &[x], &[sum, term]);
        assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x], &inputs, &[sum, term]), "{}", plan.describe());
    }
    let mirrored = push(&mut nodes, ViewOp::Reverse { axes: vec![3] }, [pairs], f32s(&[3, 8, 2, 20]));
    let column = constant(&mut nodes, &[1, 8, 2, 1], |at| at as f32);
    for (view, table) in [(mirrored, other), (exchanged, column)] {
        let term = binary(&mut nodes, BinaryOp::Mul, view, table);
        let sum = binary(&mut nodes, BinaryOp::Add, terms[0], term);
        let plan = compile(&nodes, &[x], &[sum]);
        assert_eq!(plan.steps(), 2, "{}", plan.describe());
        assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x], &inputs, &[sum]));
    }
}

/// Along another axis than the last one, all numbers side by side are rotated alike.
#[test]
fn neighbours_that_share_a_rotation() {
    const INNER: usize = 32;
    for inner in [INNER, 8] {
        let mut nodes = Nodes::default();
        let columns = 3 * inner;
        let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 16, columns]));
        let signs =
            constant(
                &mut nodes,
                &[16, 16],
                |at| {
                    if ((at / 16) & (at % 16)).count_ones() % 2 == 0 { 1.0 } else { -1.0 }
                },
            );
        let product = push(&mut nodes, Op::MatMul, [signs, x], f32s(&[2, 16, columns]));
        let shape = [2, 8, 2, 3, inner];
        let pairs = push(&mut nodes, ViewOp::Reshape, [product], f32s(&shape));
        let exchanged = push(&mut nodes, ViewOp::Reverse { axes: vec![2] }, [pairs], f32s(&shape));
        let own = constant(&mut nodes, &[1, 8, 2, 3, 1], |at| (at % 7) as f32);
        let other = constant(&mut nodes, &[1, 8, 2, 3, 1], |at| (at % 5) as f32 - 3.0);
        let terms = [(pairs, own), (exchanged, other)].map(|(x, table)| binary(&mut nodes, BinaryOp::Mul, x, table));
        let sum = binary(&mut nodes, BinaryOp::Add, terms[0], terms[1]);
        let bytes: Vec<u8> = (0..2 * 16 * columns).flat_map(|at| ((at * 37 % 17) as f32 - 8.0).to_ne_bytes()).collect();
        let plan = compile(&nodes, &[x], &[sum]);
        // So few neighbours are not a whole tile.
        assert_eq!(plan.steps(), if inner == INNER { 1 } else { 2 }, "{}", plan.describe());
        assert_eq!(run(&plan, &[&bytes]), unfused(&nodes, &[x], &[&bytes], &[sum]));
    }
}

/// The loop of a rotation, of what is no product or reads a part of a larger constant.
#[test]
fn parts_of_something_larger_are_no_tables() {
    for is_constant in [false, true] {
        for is_product in [false, true] {
            let mut nodes = Nodes::default();
            let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&[4, 4])));
            let mut feeds = vec![x, y];
            let large = if is_constant {
                constant(&mut nodes, &[8, 4], |at| at as f32)
            } else {
                let large = push(&mut nodes, Leaf::Placeholder, [], f32s(&[8, 4]));
                feeds.push(large);
                large
            };
            let rows = |nodes: &mut Nodes, first: usize| {
                let op = ViewOp::Slice { starts: vec![first, 0], strides: vec![1, 1] };
                push(nodes, op, [large], f32s(&[4, 4]))
            };
            let parts = [rows(&mut nodes, 0), rows(&mut nodes, 3)];
            let factors = if is_product { [push(&mut nodes, Op::MatMul, [x, y], f32s(&[4, 4])); 2] } else { [x, y] };
            let terms = [0, 1].map(|at| binary(&mut nodes, BinaryOp::Mul, parts[at], factors[at]));
            let sum = binary(&mut nodes, BinaryOp::Add, terms[0], terms[1]);
            let inputs: Vec<Vec<u8>> = feeds.iter().map(|&id| numbers(nodes.ty(id).elements(), 5)).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let plan = compile(&nodes, &feeds, &[sum]);
            assert_eq!(run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &[sum]), "{}", plan.describe());
        }
    }
}
