//! Scatters of the digits of integers become scatters of the integers, with the bits that the nodes give one by one.

use super::*;
use crate::kernels::movement::Movement;
use crate::kernels::rows::Indexing;
use crate::kernels::scatter::{Scatter, ScatterMode};

const DIGIT: u32 = 8;

fn cast_if_other(nodes: &mut Nodes, x: ValueId, to: DType) -> ValueId {
    if nodes.ty(x).dtype == to { x } else { cast(nodes, x, to) }
}

/// The part from column `from` on that is `columns` wide.
fn part(nodes: &mut Nodes, x: ValueId, from: usize, columns: usize) -> ValueId {
    let TensorType { dtype, mut shape } = nodes.ty(x).clone();
    let mut starts = vec![0; shape.len()];
    (*starts.last_mut().unwrap(), *shape.last_mut().unwrap()) = (from, columns);
    let strides = vec![1; shape.len()];
    push(nodes, ViewOp::Slice { starts, strides }, [x], TensorType::new(dtype, shape))
}

fn beside(nodes: &mut Nodes, parts: &[ValueId]) -> ValueId {
    let TensorType { dtype, mut shape } = nodes.ty(parts[0]).clone();
    let axis = shape.len() - 1;
    shape[axis] *= parts.len();
    push(nodes, Op::Kernel(Movement::Concat { axis }.into()), parts, TensorType::new(dtype, shape))
}

/// The i32 that integers are made of, lowest first.
fn words(nodes: &mut Nodes, x: ValueId) -> Vec<ValueId> {
    let TensorType { dtype, shape } = nodes.ty(x).clone();
    if dtype.size() < 8 {
        return vec![cast_if_other(nodes, x, DType::I32)];
    }
    let [doubled, apart] = [1, 2].map(|pairs| {
        let mut doubled = shape.clone();
        if pairs == 1 {
            *doubled.last_mut().unwrap() *= 2
        } else {
            doubled.push(2)
        }
        TensorType::new(DType::I32, doubled)
    });
    let bits = push(nodes, ViewOp::Reinterpret, [x], doubled);
    let pairs = push(nodes, ViewOp::Reshape, [bits], apart);
    let halves = [0, 1].map(|half| part(nodes, pairs, half, 1));
    halves.map(|half| push(nodes, ViewOp::Reshape, [half], TensorType::new(DType::I32, shape.clone()))).to_vec()
}

/// `data` with `updates` added digit by digit, each digit worth `radix` of the one before.
fn add(nodes: &mut Nodes, data: ValueId, indices: ValueId, updates: ValueId, by: (Indexing, i64)) -> ValueId {
    let (indexing, radix) = by;
    let TensorType { dtype, shape } = nodes.ty(data).clone();
    let wide = if dtype.size() == 8 { DType::I64 } else { DType::I32 };
    let mask = number(nodes, (1 << DIGIT) - 1, DType::I32);
    let mut digits = vec![];
    for word in words(nodes, updates) {
        for shift in (0..8 * dtype.size().min(4) as i64).step_by(DIGIT as usize) {
            let shift = number(nodes, shift, DType::I32);
            let shifted = binary(nodes, BinaryOp::Shr, word, shift);
            let digit = binary(nodes, BinaryOp::BitAnd, shifted, mask);
            digits.push(cast_if_other(nodes, digit, DType::F32));
        }
    }
    let (count, columns) = (digits.len(), *shape.last().unwrap());
    let mut indices = indices;
    let mut table = digits[0];
    if count > 1 {
        table = beside(nodes, &digits);
        if matches!(indexing, Indexing::Along { .. }) {
            indices = beside(nodes, &vec![indices; count]);
        }
    }
    let mut into = shape.clone();
    *into.last_mut().unwrap() *= count;
    let scatter = Scatter { indexing, mode: ScatterMode::Add };
    let sums = push(nodes, Op::Kernel(scatter.into()), [table, indices], f32s(&into));
    let mut total = None;
    for digit in (0..count).rev() {
        let sum = if count == 1 { sums } else { part(nodes, sums, digit * columns, columns) };
        let sum = cast_if_other(nodes, sum, DType::I32);
        let sum = cast_if_other(nodes, sum, wide);
        let radix = number(nodes, radix, wide);
        total = Some(match total {
            None => sum,
            Some(total) => {
                let above = binary(nodes, BinaryOp::Mul, total, radix);
                binary(nodes, BinaryOp::Add, above, sum)
            }
        });
    }
    let data = cast_if_other(nodes, data, wide);
    let sum = binary(nodes, BinaryOp::Add, data, total.unwrap());
    cast_if_other(nodes, sum, dtype)
}

fn integers(ty: &TensorType, seed: u64) -> Vec<u8> {
    let number = |at: usize| (at as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_ne_bytes();
    (0..ty.elements()).flat_map(|at| number(at)[..ty.dtype.size()].to_vec()).collect()
}

/// The plan of such a sum, and what it gives by itself and node by node.
fn made(dtype: DType, indexing: Indexing, radix: i64) -> (String, [Vec<Vec<u8>>; 2]) {
    let mut nodes = Nodes::default();
    let fed = |nodes: &mut Nodes, dtype: DType, shape: &[usize]| {
        push(nodes, Leaf::Placeholder, [], TensorType::new(dtype, shape))
    };
    let data = fed(&mut nodes, dtype, &[2, 5, 3]);
    let updates = fed(&mut nodes, dtype, &[2, 40, 3]);
    let at: &[usize] = if matches!(indexing, Indexing::Along { .. }) { &[2, 40, 3] } else { &[40] };
    let indices = fed(&mut nodes, DType::I32, at);
    let feeds = [data, indices, updates];
    let sum = add(&mut nodes, data, indices, updates, (indexing, radix));
    let plan = compile(&nodes, &feeds, &[sum]);
    let places: Vec<i32> = (0..nodes.ty(indices).elements() as i32).map(|at| at * 7 % 5).collect();
    let [data, updates] = [(data, 1), (updates, 100)].map(|(id, seed)| integers(nodes.ty(id), seed));
    let inputs = [&data[..], bytemuck::cast_slice(&places), &updates];
    (plan.describe(), [run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &[sum])])
}

const FORMS: [Indexing; 2] = [Indexing::Axis { axis: 1, batch: 0 }, Indexing::Along { axis: 1 }];

#[test]
fn one_scatter_with_the_same_bits() {
    for dtype in [DType::I8, DType::U8, DType::I16, DType::I32, DType::I64] {
        for indexing in FORMS {
            let (plan, [got, wanted]) = made(dtype, indexing, 1 << DIGIT);
            assert_eq!(plan.lines().count(), 1, "{dtype:?} {indexing:?}\n{plan}");
            assert_eq!(got, wanted, "{dtype:?} {indexing:?}");
        }
    }
}

#[test]
fn other_sums_stay_as_they_are() {
    for indexing in FORMS {
        let (plan, [got, wanted]) = made(DType::I32, indexing, 1 << (DIGIT - 1));
        assert!(plan.lines().count() > 1, "{plan}");
        assert_eq!(got, wanted);
    }
}
