//! Weighted sums of rows become one kernel, with the bits that the nodes give one by one.

use super::*;
use crate::kernels::gather::Gather;
use crate::kernels::rows::Indexing;

const OUTER: usize = 3;
const EXTENT: usize = 50;

/// The steps of such sums, and whether they have the bits of the nodes one by one.
fn made(slots: usize, count: usize, inner: usize, also_products: bool) -> usize {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[OUTER, EXTENT, inner]));
    let indices = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [slots * count]));
    let weights = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, slots, count, 1]));
    let gather = Gather(Indexing::Axis { axis: 1, batch: 0 });
    let read = push(&mut nodes, gather, [x, indices], f32s(&[OUTER, slots * count, inner]));
    let apart = push(&mut nodes, ViewOp::Reshape, [read], f32s(&[OUTER, slots, count, inner]));
    let products = binary(&mut nodes, BinaryOp::Mul, apart, weights);
    let sum = Reduce { op: ReduceOp::Sum, axes: vec![1] };
    let sums = push(&mut nodes, sum, [products], f32s(&[OUTER, 1, count, inner]));
    let targets = &[sums, products][..1 + usize::from(also_products)];
    let feeds = [x, indices, weights];
    let plan = compile(&nodes, &feeds, targets);
    let floats = |ty: &TensorType| (0..ty.elements()).flat_map(|i| ((i * 37 % 101) as f32 / 7.0 - 5.0).to_ne_bytes());
    let [x, weights] = [x, weights].map(|id| floats(nodes.ty(id)).collect::<Vec<u8>>());
    let places: Vec<i32> = (0..slots * count).map(|i| (i * 7 % EXTENT) as i32).collect();
    let inputs = [&x[..], bytemuck::cast_slice(&places), &weights];
    assert!(run(&plan, &inputs) == unfused(&nodes, &feeds, &inputs, targets), "{slots} {count} {inner}");
    plan.describe().lines().count()
}

#[test]
fn one_kernel_with_the_same_bits() {
    let in_order = [(1, 7, 1), (2, 40, 1), (3, 300, 1), (2, 9, 40), (6, 30, 20), (100, 20, 20)];
    let interleaved = [(3, 100, 1), (4, 100, 1), (9, 50, 1), (40, 9, 3), (128, 2, 1)];
    for (slots, count, inner) in in_order.into_iter().chain(interleaved) {
        assert_eq!(made(slots, count, inner, false), 1, "{slots} {count} {inner}");
    }
}

/// Sums in another order stay as they are, and products that somebody wants.
#[test]
fn other_sums_stay_as_they_are() {
    for (slots, count, inner) in [(8, 1, 1), (150, 30, 20)] {
        assert!(made(slots, count, inner, false) > 1, "{slots} {count} {inner}");
    }
    assert!(made(2, 40, 1, true) > 1);
}
