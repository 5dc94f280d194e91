//! What products read turned is made as it lies, with the bits of one that was turned first.

use super::*;

/// `a` times the larger of a turned matrix and a number; feeds, the larger numbers, and the product.
fn product(nodes: &mut Nodes, batch: &[usize], [m, k, n]: [usize; 3]) -> (Vec<ValueId>, ValueId, ValueId) {
    let shape = |extents: [usize; 2]| f32s(&[batch, &extents].concat());
    let a = push(nodes, Leaf::Placeholder, [], shape([m, k]));
    let b = push(nodes, Leaf::Placeholder, [], shape([n, k]));
    let least = push(nodes, Leaf::Placeholder, [], f32s(&[1]));
    let mut perm: Vec<usize> = (0..batch.len() + 2).collect();
    perm.swap(batch.len(), batch.len() + 1);
    let turned = push(nodes, ViewOp::Transpose { perm }, [b], shape([k, n]));
    let larger = binary(nodes, BinaryOp::MaxNan, turned, least);
    let product = push(nodes, Op::MatMul, [a, larger], shape([m, n]));
    (vec![a, b, least], larger, product)
}

/// The plan's steps, after a check of what it makes of small integers.
fn steps(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> String {
    let plan = compile(nodes, feeds, targets);
    let inputs: Vec<Vec<u8>> = feeds
        .iter()
        .map(|&id| (0..nodes.ty(id).elements()).flat_map(|at| ((at * 5 % 11) as f32 - 4.0).to_ne_bytes()).collect())
        .collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert!(run(&plan, &inputs) == unfused(nodes, feeds, &inputs, targets), "{}", plan.describe());
    plan.describe()
}

#[test]
fn a_factor_is_made_as_it_lies() {
    for batch in [&[][..], &[3], &[2, 3]] {
        let mut nodes = Nodes::default();
        let (feeds, _, product) = product(&mut nodes, batch, [4, 50, 30]);
        let made = [batch, &[30, 50]].concat();
        let steps = steps(&nodes, &feeds, &[product]);
        assert!(steps.contains(&format!("loop {made:?} MaxNan")), "{steps}");
    }
}

#[test]
fn parts_of_a_factor_stay_parts() {
    let mut nodes = Nodes::default();
    let (mut feeds, larger, _) = product(&mut nodes, &[], [4, 50, 30]);
    let part = ViewOp::Slice { starts: vec![10, 0], strides: vec![1, 1] };
    let part = push(&mut nodes, part, [larger], f32s(&[20, 30]));
    let a = push(&mut nodes, Leaf::Placeholder, [], f32s(&[4, 20]));
    let product = push(&mut nodes, Op::MatMul, [a, part], f32s(&[4, 30]));
    feeds[0] = a;
    let steps = steps(&nodes, &feeds, &[product]);
    assert!(steps.contains("loop [30, 50] MaxNan"), "{steps}");
}

#[test]
fn what_others_read_is_turned() {
    let mut nodes = Nodes::default();
    let (feeds, larger, product) = product(&mut nodes, &[], [4, 50, 30]);
    let steps = steps(&nodes, &feeds, &[product, larger]);
    assert!(steps.contains("loop [50, 30] MaxNan"), "{steps}");
}
