//! Shifts of 64-bit integers become one step, with the bits that the nodes give one by one.

use super::*;

/// The low and the high halves, as columns.
fn halves(nodes: &mut Nodes, x: ValueId) -> [ValueId; 2] {
    let shape = nodes.ty(x).shape.clone();
    let mut flat = shape.clone();
    *flat.last_mut().expect("an axis") *= 2;
    let with = |extent: usize| TensorType::new(DType::I32, [&shape[..], &[extent]].concat());
    let bits = push(nodes, ViewOp::Reinterpret, [x], TensorType::new(DType::I32, flat));
    let pairs = push(nodes, ViewOp::Reshape, [bits], with(2));
    [0, 1].map(|half| {
        let starts = [vec![0; shape.len()], vec![half]].concat();
        let strides = vec![1; starts.len()];
        push(nodes, ViewOp::Slice { starts, strides }, [pairs], with(1))
    })
}

/// `x >> count`, in which the highest place of a half is `most`, filled with copies of the sign or with zeros.
fn shifted(nodes: &mut Nodes, [x, count]: [ValueId; 2], most: i64, is_unsigned: bool) -> ValueId {
    let [low, high] = halves(nodes, x);
    let [count, _] = halves(nodes, count);
    let [minus_one, zero, most, far] = [-1, 0, most, 32].map(|value| number(nodes, value, DType::I32));
    let [one, minus_two] = [1, -2].map(|value| number(nodes, value, DType::I64));
    let near = both(nodes, BinaryOp::BitAnd, count, most);
    let far = both(nodes, BinaryOp::BitAnd, count, far);
    let is_far = both(nodes, BinaryOp::NotEqual, far, zero);
    let up = both(nodes, BinaryOp::Sub, most, near);
    let half = both(nodes, BinaryOp::Shl, minus_one, up);
    let rest = both(nodes, BinaryOp::Sub, minus_one, half);
    let ones = both(nodes, BinaryOp::Sub, rest, half);
    let wide_half = cast(nodes, half, DType::I64);
    let place = both(nodes, BinaryOp::Mul, wide_half, minus_two);
    let place = choice(nodes, is_far, one, place);
    let down = choice(nodes, is_far, near, zero);
    let high = both(nodes, BinaryOp::Shr, high, down);
    let high = if is_unsigned {
        let kept = choice(nodes, is_far, ones, minus_one);
        let high = both(nodes, BinaryOp::BitAnd, high, kept);
        unsigned(nodes, high)
    } else {
        cast(nodes, high, DType::I64)
    };
    let kept = choice(nodes, is_far, zero, ones);
    let low = both(nodes, BinaryOp::Shr, low, near);
    let low = both(nodes, BinaryOp::BitAnd, low, kept);
    let low = unsigned(nodes, low);
    let high = both(nodes, BinaryOp::Mul, high, place);
    both(nodes, BinaryOp::Add, high, low)
}

fn unsigned(nodes: &mut Nodes, half: ValueId) -> ValueId {
    let bits = TensorType::new(DType::U32, nodes.ty(half).shape.clone());
    let bits = push(nodes, ViewOp::Reinterpret, [half], bits);
    cast(nodes, bits, DType::I64)
}

/// An operation in which one operand may have fewer axes.
fn both(nodes: &mut Nodes, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
    let shape = [a, b].map(|id| nodes.ty(id).shape.clone()).into_iter().max_by_key(Vec::len).expect("two shapes");
    let dtype = if op.is_comparison() { DType::Bool } else { nodes.ty(a).dtype };
    push(nodes, op, [a, b], TensorType::new(dtype, shape))
}

fn choice(nodes: &mut Nodes, test: ValueId, yes: ValueId, no: ValueId) -> ValueId {
    let shape = [test, yes, no].map(|id| nodes.ty(id).shape.clone());
    let shape = shape.into_iter().max_by_key(|shape| shape.len()).expect("three shapes");
    let output = TensorType::new(nodes.ty(yes).dtype, shape);
    push(nodes, ElementwiseOp::Select, [test, yes, no], output)
}

#[test]
fn one_step_with_the_same_bits() {
    let numbers: Vec<i64> = (0..60).map(|at: i64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
    let counts: Vec<i64> = (0..60).map(|at| [at, at + 32, -at, 64 * at + 31, i64::MAX, 0][at as usize % 6]).collect();
    for counted in [vec![3, 20], vec![20], vec![1]] {
        for (most, is_unsigned, is_whole) in [(31, false, true), (31, true, true), (15, false, false)] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I64, [3, 20]));
            let count = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I64, counted.clone()));
            let y = shifted(&mut nodes, [x, count], most, is_unsigned);
            let plan = compile(&nodes, &[x, count], &[y]);
            assert_eq!(plan.describe().matches("Shr").count(), if is_whole { 1 } else { 2 }, "{}", plan.describe());
            let counts = &counts[..counted.iter().product()];
            let inputs: [&[u8]; 2] = [bytemuck::cast_slice(&numbers), bytemuck::cast_slice(counts)];
            assert_eq!(run(&plan, &inputs), unfused(&nodes, &[x, count], &inputs, &[y]), "{counted:?} {most}");
        }
    }
}
