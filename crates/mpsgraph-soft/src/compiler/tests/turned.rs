//! Reductions read what was turned for them as it was before.

use super::*;

/// Reduces `x` along its second axis, which becomes the last one first.
fn reduced(nodes: &mut Nodes, x: ValueId, op: ReduceOp) -> ValueId {
    let TensorType { dtype, shape } = nodes.ty(x).clone();
    let [a, b, c] = shape[..] else { unreachable!() };
    let turn = || ViewOp::Transpose { perm: vec![0, 2, 1] };
    let turned = push(nodes, turn(), [x], TensorType::new(dtype, [a, c, b]));
    let reduced = push(nodes, Reduce { op, axes: vec![2] }, [turned], TensorType::new(dtype, [a, c, 1]));
    push(nodes, turn(), [reduced], TensorType::new(dtype, [a, 1, c]))
}

#[test]
fn integers_are_not_moved() {
    let shape = [3, 50, 70];
    for dtype in [DType::I8, DType::I32, DType::I64, DType::Bool] {
        for op in [ReduceOp::Prod, ReduceOp::Sum, ReduceOp::Max] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, shape));
            let y = reduced(&mut nodes, x, op);
            let plan = compile(&nodes, &[x], &[y]);
            assert!(!plan.describe().contains("copy [3, 70, 50]"), "{}", plan.describe());
            let highest = if dtype == DType::Bool { 2 } else { 7 };
            let numbers = (0..10_500_i64).map(|at| at * at * 31 % 11 % highest);
            let bytes: Vec<u8> = numbers.flat_map(|x| x.to_ne_bytes()[..dtype.size()].to_vec()).collect();
            assert_eq!(run(&plan, &[&bytes]), unfused(&nodes, &[x], &[&bytes], &[y]), "{dtype:?} {op:?}");
        }
    }
}

#[test]
fn floats_keep_the_order_of_their_steps() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[3, 50, 70]));
    let y = reduced(&mut nodes, x, ReduceOp::Prod);
    let plan = compile(&nodes, &[x], &[y]);
    let bytes = numbers(10_500, 5);
    assert_eq!(run(&plan, &[&bytes]), unfused(&nodes, &[x], &[&bytes], &[y]));
}
