//! Sums of products of parts become one product.

use super::*;

/// The sum of products of `[batch.., 3, 10]` and `[batch.., 10, 2]` by these parts of the inner extent; whether it is
/// one product. Its elements are checked.
fn is_joined(batch: &[usize], parts: &[[usize; 2]]) -> bool {
    let mut nodes = Nodes::default();
    let shape = |rows: usize, columns: usize| [batch, &[rows, columns]].concat();
    let a = push(&mut nodes, Leaf::Placeholder, [], f32s(&shape(3, 10)));
    let b = push(&mut nodes, Leaf::Placeholder, [], f32s(&shape(10, 2)));
    let (rank, result) = (batch.len() + 2, f32s(&shape(3, 2)));
    let mut sum = None;
    for &[low, high] in parts {
        let mut part = |x, axis: usize, shape: Vec<usize>| {
            let mut starts = vec![0; rank];
            starts[axis] = low;
            push(&mut nodes, ViewOp::Slice { starts, strides: vec![1; rank] }, [x], f32s(&shape))
        };
        let left = part(a, rank - 1, shape(3, high - low));
        let right = part(b, rank - 2, shape(high - low, 2));
        let product = push(&mut nodes, Op::MatMul, [left, right], result.clone());
        sum = Some(sum.map_or(product, |sum| binary(&mut nodes, BinaryOp::Add, sum, product)));
    }
    let plan = compile(&nodes, &[a, b], &[sum.expect("there are parts")]);
    let count: usize = batch.iter().product();
    let [a, b] = [(count * 30, 1), (count * 20, 2)].map(|(count, salt)| numbers(count, salt));
    let found = run(&plan, &[&a, &b]);
    let [a, b, found] = [&a, &b, &found[0]].map(|bytes| bytemuck::cast_slice::<u8, f32>(bytes));
    for (at, found) in found.iter().enumerate() {
        let (of, row, column) = (at / 6, at / 2 % 3, at % 2);
        let term = |l: usize| a[of * 30 + row * 10 + l] * b[of * 20 + l * 2 + column];
        let expected: f32 = parts.iter().flat_map(|&[low, high]| low..high).map(term).sum();
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{parts:?} at {at}: {found}, {expected}");
    }
    plan.describe().lines().count() == 1
}

#[test]
fn sums_over_parts_of_the_inner_extent() {
    assert!(is_joined(&[], &[[0, 5], [5, 10]]));
    assert!(is_joined(&[], &[[0, 4], [4, 8], [8, 10]]));
    assert!(is_joined(&[2], &[[0, 9], [9, 10]]));
}

#[test]
fn sums_of_other_parts_stay() {
    for parts in
        [&[[0, 5], [5, 9]][..], &[[1, 5], [5, 10]], &[[0, 5], [4, 10]], &[[5, 10], [0, 5]], &[[0, 10], [0, 10]]]
    {
        assert!(!is_joined(&[], parts), "{parts:?}");
    }
}
