//! Products whose leading axes were flattened for them.

use super::*;

/// Heads that stand side by side in the rows of `x`, `[samples, rows, heads, columns]`: as matrices with two leading
/// axes, or turned ones.
fn heads(nodes: &mut Nodes, x: ValueId, turned: bool) -> ValueId {
    let [a, b, c, d] = nodes.ty(x).shape[..] else { unreachable!() };
    let (perm, shape) = if turned { (vec![0, 2, 3, 1], [a, c, d, b]) } else { (vec![0, 2, 1, 3], [a, c, b, d]) };
    push(nodes, ViewOp::Transpose { perm }, [x], f32s(&shape))
}

fn flat(nodes: &mut Nodes, x: ValueId) -> ValueId {
    let [a, b, c, d] = nodes.ty(x).shape[..] else { unreachable!() };
    push(nodes, ViewOp::Reshape, [x], f32s(&[a * b, c, d]))
}

/// Compares with a plan for each node, in which the operands are copied. The numbers are whole, so that every order of
/// summation is exact.
fn check(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId], steps: usize) {
    let plan = compile(nodes, feeds, targets);
    assert_eq!(plan.steps(), steps, "{}", plan.describe());
    let whole = |count: usize| (0..count).flat_map(|at| ((at * 37 % 17) as f32 - 8.0).to_ne_bytes()).collect();
    let inputs: Vec<Vec<u8>> = feeds.iter().map(|&id| whole(nodes.ty(id).elements())).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(run(&plan, &inputs), unfused(nodes, feeds, &inputs, targets));
}

#[test]
fn heads_are_multiplied_where_they_are() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 5, 3, 8]));
    let y = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 7, 3, 8]));
    let [queries, keys] = [(x, false), (y, true)].map(|(x, turned)| heads(&mut nodes, x, turned));
    let [queries, keys] = [queries, keys].map(|x| flat(&mut nodes, x));
    let scores = push(&mut nodes, Op::MatMul, [queries, keys], f32s(&[6, 5, 7]));
    check(&nodes, &[x, y], &[scores], 1);
    // The flat axis is read elsewhere, too.
    let values = heads(&mut nodes, y, false);
    let values = flat(&mut nodes, values);
    let sums = push(&mut nodes, Op::MatMul, [scores, values], f32s(&[6, 5, 8]));
    let twice = binary(&mut nodes, BinaryOp::Add, sums, sums);
    check(&nodes, &[x, y], &[twice, values], 4);
}

#[test]
fn one_operand_has_heads() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 5, 3, 8]));
    let heads = heads(&mut nodes, x, false);
    let heads = flat(&mut nodes, heads);
    for shape in [&[6, 8, 4][..], &[1, 8, 4], &[8, 4]] {
        let mut nodes = nodes.clone();
        let y = push(&mut nodes, Leaf::Placeholder, [], f32s(shape));
        let product = push(&mut nodes, Op::MatMul, [heads, y], f32s(&[6, 5, 4]));
        check(&nodes, &[x, y], &[product], 1);
    }
}

/// A product with more axes than the flat one is another batch.
#[test]
fn an_operand_with_more_axes() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 5, 3, 8]));
    let heads = heads(&mut nodes, x, false);
    let heads = flat(&mut nodes, heads);
    for batch in [2, 5] {
        let mut nodes = nodes.clone();
        let y = push(&mut nodes, Leaf::Placeholder, [], f32s(&[batch, 1, 8, 4]));
        let product = push(&mut nodes, Op::MatMul, [heads, y], f32s(&[batch, 6, 5, 4]));
        check(&nodes, &[x, y], &[product], 2);
    }
}

#[test]
fn other_leading_axes_are_copied() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 5, 3, 8]));
    let y = push(&mut nodes, Leaf::Placeholder, [], f32s(&[3, 8, 2, 4]));
    let [a, b] = [x, y].map(|x| heads(&mut nodes, x, false));
    let [a, b] = [a, b].map(|x| flat(&mut nodes, x));
    let product = push(&mut nodes, Op::MatMul, [a, b], f32s(&[6, 5, 4]));
    check(&nodes, &[x, y], &[product], 2);
}
