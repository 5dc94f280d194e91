//! Positions of extremes become one kernel, with the positions that the nodes give one by one.

use super::*;
use crate::kernels::iota::Iota;

fn reinterpreted(nodes: &mut Nodes, x: ValueId, dtype: DType) -> ValueId {
    let shape = nodes.ty(x).shape.clone();
    push(nodes, ViewOp::Reinterpret, [x], TensorType::new(dtype, shape))
}

fn reduced(nodes: &mut Nodes, op: ReduceOp, x: ValueId, axis: usize) -> ValueId {
    let mut ty = nodes.ty(x).clone();
    ty.shape[axis] = 1;
    push(nodes, Op::Kernel(Reduce { op, axes: vec![axis] }.into()), [x], ty)
}

/// Where `x` equals `value` first, or is NaN where `tested` is.
fn first(nodes: &mut Nodes, x: ValueId, value: ValueId, tested: Option<ValueId>, axis: usize) -> ValueId {
    let mut hits = binary(nodes, BinaryOp::Equal, x, value);
    if let Some(tested) = tested {
        let ty = nodes.ty(hits).clone();
        let is_nan = push(nodes, UnaryOp::IsNan, [tested], ty);
        hits = binary(nodes, BinaryOp::Or, hits, is_nan);
    }
    let ty = TensorType::new(DType::I32, nodes.ty(x).shape.clone());
    let extent = ty.shape[axis];
    first_place(nodes, hits, (axis, extent as i32), ty)
}

/// The least place along the axis that is hit, or else `none`.
fn first_place(nodes: &mut Nodes, hits: ValueId, (axis, none): (usize, i32), ty: TensorType) -> ValueId {
    let mut along = vec![1; ty.shape.len()];
    along[axis] = ty.shape[axis];
    let places = push(nodes, Op::Kernel(Iota { axis }.into()), [], TensorType::new(DType::I32, along));
    let none = number(nodes, none.into(), DType::I32);
    let places = push(nodes, ElementwiseOp::Select, [hits, places, none], ty);
    reduced(nodes, ReduceOp::Min, places, axis)
}

/// The elements of rows in which numbers are found twice, and NaN and infinities now and then.
fn specials(n: usize) -> Vec<f32> {
    let specials = [f32::NAN, -0.0, f32::INFINITY, f32::NEG_INFINITY, 0.0, -f32::NAN];
    (0..n).map(|at| if at % 23 == 22 { specials[at / 23 % 6] } else { (at * 31 % 19) as f32 - 9.0 }).collect()
}

#[track_caller]
fn is_found(nodes: &Nodes, x: ValueId, bytes: &[u8], y: ValueId, steps: usize) {
    let plan = compile(nodes, &[x], &[y]);
    assert_eq!(plan.steps(), steps, "{}", plan.describe());
    assert!(plan.describe().contains("ArgReduce") && !plan.describe().contains("Equal"), "{}", plan.describe());
    assert_eq!(run(&plan, &[bytes]), unfused(nodes, &[x], &[bytes], &[y]), "{}", plan.describe());
}

#[test]
fn one_step_with_the_same_positions() {
    for (shape, axis) in [([4, 50], 1), ([50, 4], 0), ([30, 10], 1), ([3, 300], 0)] {
        let floats = specials(shape[0] * shape[1]);
        for op in [ReduceOp::MinNan, ReduceOp::MaxNan] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&shape));
            let value = reduced(&mut nodes, op, x, axis);
            let y = first(&mut nodes, x, value, Some(x), axis);
            is_found(&nodes, x, bytemuck::cast_slice(&floats), y, 1);

            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::F16, shape));
            let wide = cast(&mut nodes, x, DType::F32);
            let value = reduced(&mut nodes, op, wide, axis);
            let value = cast(&mut nodes, value, DType::F16);
            let y = first(&mut nodes, x, value, Some(x), axis);
            let halves: Vec<half::f16> = floats.iter().map(|&x| half::f16::from_f32(x)).collect();
            is_found(&nodes, x, bytemuck::cast_slice(&halves), y, 2);
        }
        let ints: Vec<i32> = (0..floats.len() as i32).map(|at| at.wrapping_mul(1_640_531_527) >> 9 << 9).collect();
        for op in [ReduceOp::Min, ReduceOp::Max] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, shape));
            let value = reduced(&mut nodes, op, x, axis);
            let y = first(&mut nodes, x, value, None, axis);
            is_found(&nodes, x, bytemuck::cast_slice(&ints), y, 1);
        }
    }
}

#[test]
fn unsigned_and_turned() {
    let ints: Vec<i32> = (0..200).map(|at: i32| at.wrapping_mul(1_640_531_527)).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&ints);
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::U32, [10, 20]));
    let bits = reinterpreted(&mut nodes, x, DType::I32);
    let least = push(&mut nodes, Leaf::Splat([0, 0, 0, 0x80, 0, 0, 0, 0]), [], TensorType::new(DType::I32, [1]));
    let moved = binary(&mut nodes, BinaryOp::Add, bits, least);
    let value = reduced(&mut nodes, ReduceOp::Max, moved, 1);
    let value = binary(&mut nodes, BinaryOp::Add, value, least);
    let value = reinterpreted(&mut nodes, value, DType::U32);
    let value = reinterpreted(&mut nodes, value, DType::I32);
    let y = first(&mut nodes, bits, value, None, 1);
    is_found(&nodes, x, bytes, y, 2);

    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [10, 20]));
    let turned = ViewOp::Transpose { perm: vec![1, 0] };
    let turned = push(&mut nodes, turned, [x], TensorType::new(DType::I32, [20, 10]));
    let value = reduced(&mut nodes, ReduceOp::Min, turned, 0);
    let y = first(&mut nodes, turned, value, None, 0);
    is_found(&nodes, x, bytes, y, 2);
}

#[test]
fn other_positions_stay_as_they_are() {
    let shape = [20, 20];
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&shape));
    let other = unary(&mut nodes, UnaryOp::Exp, x);
    let sum = reduced(&mut nodes, ReduceOp::Sum, x, 1);
    let without_nan = reduced(&mut nodes, ReduceOp::Max, x, 1);
    let of_another = reduced(&mut nodes, ReduceOp::MaxNan, other, 1);
    let along_another = reduced(&mut nodes, ReduceOp::MaxNan, x, 0);
    let value = reduced(&mut nodes, ReduceOp::MaxNan, x, 1);
    let cases = [
        (sum, Some(x)),
        (without_nan, Some(x)),
        (without_nan, None),
        (of_another, Some(x)),
        (along_another, Some(x)),
        (value, Some(other)),
        (value, None),
    ];
    let floats = specials(400);
    let bytes: &[u8] = bytemuck::cast_slice(&floats);
    for (value, tested) in cases {
        let y = first(&mut nodes, x, value, tested, 1);
        let plan = compile(&nodes, &[x], &[y]);
        assert!(plan.describe().contains("Equal"), "{}", plan.describe());
        assert_eq!(run(&plan, &[bytes]), unfused(&nodes, &[x], &[bytes], &[y]), "{}", plan.describe());
    }

    // Places that count along another axis.
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [4, 10, 10]));
    let value = reduced(&mut nodes, ReduceOp::Max, x, 1);
    let hits = binary(&mut nodes, BinaryOp::Equal, x, value);
    let places = push(&mut nodes, Op::Kernel(Iota { axis: 1 }.into()), [], TensorType::new(DType::I32, [10, 10]));
    let none = number(&mut nodes, 10, DType::I32);
    let ty = nodes.ty(x).clone();
    let places = push(&mut nodes, ElementwiseOp::Select, [hits, places, none], ty);
    let y = reduced(&mut nodes, ReduceOp::Min, places, 1);
    let plan = compile(&nodes, &[x], &[y]);
    assert_eq!(run(&plan, &[bytes]), unfused(&nodes, &[x], &[bytes], &[y]), "{}", plan.describe());

    // The kernel has no such place for what is not hit.
    let mut nodes = Nodes::default();
    let ty = TensorType::new(DType::I32, shape);
    let x = push(&mut nodes, Leaf::Placeholder, [], ty.clone());
    let value = reduced(&mut nodes, ReduceOp::Max, x, 1);
    let hits = binary(&mut nodes, BinaryOp::Equal, x, value);
    let y = first_place(&mut nodes, hits, (1, 7), ty);
    let plan = compile(&nodes, &[x], &[y]);
    assert!(plan.describe().contains("Equal"), "{}", plan.describe());
    assert_eq!(run(&plan, &[bytes]), unfused(&nodes, &[x], &[bytes], &[y]), "{}", plan.describe());
}
