//! Plans as a whole: what is fused, what is copied, where results go, and that fusing changes no bit.

use super::assembly::Parts;
use super::step::{Copy, Operand, Step};
use super::*;
use crate::ir::{BinaryOp, DType, ElementwiseOp, Leaf, Node, Op, TensorType, UnaryOp, ViewOp};
use crate::kernels::block;
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::kernels::storage::Storage;

mod apart;
mod batches;
mod biases;
mod blends;
mod choices;
mod digits;
mod fusing;
mod idioms;
mod inner_parts;
mod keyed_scans;
mod masks;
mod orders;
mod past_caches;
mod positions;
mod powers;
mod rewriting;
mod rotations;
mod row_sums;
mod rows;
mod totals;
mod turned;
mod turned_factors;
mod views;
mod whole_filters;
mod wide_shifts;
mod wide_sums;

fn f32s(shape: &[usize]) -> TensorType {
    TensorType::new(DType::F32, shape)
}

fn push(nodes: &mut Nodes, op: impl Into<Op>, inputs: impl Into<Vec<ValueId>>, output: TensorType) -> ValueId {
    nodes.push(Node { op: op.into(), inputs: inputs.into(), output, method: "test" })
}

fn unary(nodes: &mut Nodes, op: UnaryOp, x: ValueId) -> ValueId {
    let ty = nodes.ty(x).clone();
    push(nodes, op, [x], ty)
}

/// Result of the shape of `a`.
fn binary(nodes: &mut Nodes, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
    let ty = nodes.ty(a).clone();
    let dtype = if op.is_comparison() { DType::Bool } else { ty.dtype };
    push(nodes, op, [a, b], TensorType::new(dtype, ty.shape))
}

fn splat(nodes: &mut Nodes, value: f32, ty: TensorType) -> ValueId {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_ne_bytes());
    push(nodes, Leaf::Splat(bytes), [], ty)
}

/// One number, of one axis.
fn number(nodes: &mut Nodes, number: i64, dtype: DType) -> ValueId {
    push(nodes, Leaf::Splat(number.to_ne_bytes()), [], TensorType::new(dtype, [1]))
}

fn cast(nodes: &mut Nodes, x: ValueId, dtype: DType) -> ValueId {
    let shape = nodes.ty(x).shape.clone();
    push(nodes, ElementwiseOp::Cast, [x], TensorType::new(dtype, shape))
}

fn run(plan: &Plan, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let sizes: Vec<usize> = plan.targets().iter().map(TensorType::bytes).collect();
    block::with_memory(inputs, &sizes, |inputs, outputs| plan.run_on(inputs, outputs))
}

/// Every node by a plan of its own.
fn unfused(nodes: &Nodes, feeds: &[ValueId], inputs: &[&[u8]], targets: &[ValueId]) -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    for (id, node) in nodes.iter() {
        let lost = |input: &ValueId| values[input.0 as usize].is_empty();
        if !feeds.contains(&id) && (node.op == Leaf::Placeholder.into() || node.inputs.iter().any(lost)) {
            // Nodes before the feeds: no target needs them.
            values.push(Vec::new());
            continue;
        }
        if let Some(feed) = feeds.iter().position(|&feed| feed == id) {
            values.push(inputs[feed].to_vec());
            continue;
        }
        let bytes: Vec<&[u8]> = node.inputs.iter().map(|input| &values[input.0 as usize][..]).collect();
        let mut distinct: Vec<(ValueId, &[u8])> = node.inputs.iter().copied().zip(bytes).collect();
        distinct.sort();
        distinct.dedup();
        let (feeds, inputs): (Vec<ValueId>, Vec<&[u8]>) = distinct.into_iter().unzip();
        let value = run(&compile(nodes, &feeds, &[id]), &inputs).remove(0);
        values.push(value);
    }
    targets.iter().map(|target| values[target.0 as usize].clone()).collect()
}

fn numbers(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    (0..n)
        .flat_map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 22) as f32 - 2.0).to_ne_bytes()
        })
        .collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// One step of Adam for a parameter of shape `shape`; feeds, then targets.
fn adam(nodes: &mut Nodes, shape: &[usize]) -> (Vec<ValueId>, Vec<ValueId>) {
    let ty = f32s(shape);
    let feeds: Vec<ValueId> = (0..4).map(|_| push(nodes, Leaf::Placeholder, [], ty.clone())).collect();
    let rate = push(nodes, Leaf::Placeholder, [], f32s(&[1]));
    let [p, g, m, v] = feeds[..] else { unreachable!() };
    let decay = |nodes: &mut Nodes, state, update, beta: f32| {
        let beta_value = splat(nodes, beta, ty.clone());
        let rest = splat(nodes, 1.0 - beta, ty.clone());
        let kept = binary(nodes, BinaryOp::Mul, state, beta_value);
        let new = binary(nodes, BinaryOp::Mul, update, rest);
        binary(nodes, BinaryOp::Add, kept, new)
    };
    let m = decay(nodes, m, g, 0.9);
    let g2 = unary(nodes, UnaryOp::Square, g);
    let v = decay(nodes, v, g2, 0.999);
    let root = unary(nodes, UnaryOp::Sqrt, v);
    let epsilon = splat(nodes, 1e-5, ty.clone());
    let root = binary(nodes, BinaryOp::Add, root, epsilon);
    let step = binary(nodes, BinaryOp::Div, m, root);
    let step = binary(nodes, BinaryOp::Mul, step, rate);
    let p = binary(nodes, BinaryOp::Sub, p, step);
    ([feeds, vec![rate]].concat(), vec![p, m, v])
}

#[test]
fn adam_is_one_pass() {
    let mut nodes = Nodes::default();
    let (feeds, targets) = adam(&mut nodes, &[7, 300]);
    let plan = compile(&nodes, &feeds, &targets);
    assert_eq!(plan.steps(), 1, "{}", plan.describe());
    assert_eq!(plan.scratch_bytes(), 0);
    let inputs: Vec<Vec<u8>> = (0..4).map(|seed| numbers(2100, seed)).chain([numbers(1, 9)]).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &targets));
}

#[test]
fn large_loops_are_the_same_on_all_threads() {
    let mut nodes = Nodes::default();
    let (feeds, targets) = adam(&mut nodes, &[70_001]);
    let plan = compile(&nodes, &feeds, &targets);
    let inputs: Vec<Vec<u8>> = (0..4).map(|seed| numbers(70_001, seed)).chain([numbers(1, 9)]).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &targets));
}

#[test]
fn bias_and_relu_with_the_mask_that_a_gradient_needs() {
    for (rows, columns) in [(3, 5), (64, 512), (5, 130), (9, 1)] {
        let mut nodes = Nodes::default();
        let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[rows, 20]));
        let w = push(&mut nodes, Leaf::Placeholder, [], f32s(&[columns, 20]));
        let b = push(&mut nodes, Leaf::Placeholder, [], f32s(&[columns]));
        let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [w], f32s(&[20, columns]));
        let product = push(&mut nodes, Op::MatMul, [x, turned], f32s(&[rows, columns]));
        let sum = binary(&mut nodes, BinaryOp::Add, product, b);
        let out = unary(&mut nodes, UnaryOp::Relu, sum);
        let zero = splat(&mut nodes, 0.0, f32s(&[1]));
        let mask = binary(&mut nodes, BinaryOp::Greater, sum, zero);
        let (feeds, targets) = ([x, w, b], [out, mask]);
        let plan = compile(&nodes, &feeds, &targets);
        assert_eq!(plan.steps(), 2, "{}", plan.describe());
        let inputs = [numbers(rows * 20, 1), numbers(columns * 20, 2), numbers(columns, 3)];
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let got = run(&plan, &inputs);
        // The product as this plan makes it: the order in which `gemm` sums depends on an operand's strides.
        let tail = [product, b];
        let products = run(&compile(&nodes, &feeds, &[product]), &inputs).remove(0);
        assert_eq!(got, run(&compile(&nodes, &tail, &targets), &[&products, inputs[2]]));
        assert_eq!(got[1], unfused(&nodes, &tail, &[&products, inputs[2]], &[mask])[0]);
        let (x, w, b) = (floats(inputs[0]), floats(inputs[1]), floats(inputs[2]));
        for (at, &got) in floats(&got[0]).iter().enumerate() {
            let (i, j) = (at / columns, at % columns);
            let sum: f32 = (0..20).map(|k| x[i * 20 + k] * w[j * 20 + k]).sum::<f32>() + b[j];
            assert!((got - sum.max(0.0)).abs() < 1e-4, "{got} {sum}");
        }
    }
}

#[test]
fn log_softmax_reads_row_values_in_place() {
    let mut nodes = Nodes::default();
    let (wide, narrow) = (f32s(&[6, 10]), f32s(&[6, 1]));
    let x = push(&mut nodes, Leaf::Placeholder, [], wide.clone());
    let axes = vec![1];
    let max = push(&mut nodes, Reduce { op: ReduceOp::Max, axes: axes.clone() }, [x], narrow.clone());
    let shifted = binary(&mut nodes, BinaryOp::Sub, x, max);
    let exp = unary(&mut nodes, UnaryOp::Exp, shifted);
    let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes }, [exp], narrow);
    let log = unary(&mut nodes, UnaryOp::Log, sum);
    let out = binary(&mut nodes, BinaryOp::Sub, shifted, log);
    let plan = compile(&nodes, &[x], &[out]);
    // Maximum; shift and exponential; sum; logarithm; difference.
    assert_eq!(plan.steps(), 5, "{}", plan.describe());
    let input = numbers(60, 4);
    let got = floats(&run(&plan, &[&input])[0]);
    for (row, got) in floats(&input).chunks(10).zip(got.chunks(10)) {
        let sum: f64 = row.iter().map(|&x| (x as f64).exp()).sum();
        for (x, got) in row.iter().zip(got) {
            assert!((*x as f64 - sum.ln() - *got as f64).abs() < 1e-6);
        }
    }
}

#[test]
fn dead_nodes_go_and_equal_ones_merge() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[8]));
    let unused = push(&mut nodes, Leaf::Placeholder, [], f32s(&[8]));
    let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0] }, [x], f32s(&[1]));
    let again = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0] }, [x], f32s(&[1]));
    let _dead = push(&mut nodes, Reduce { op: ReduceOp::Max, axes: vec![0] }, [unused], f32s(&[1]));
    let both = binary(&mut nodes, BinaryOp::Add, sum, again);
    let plan = compile(&nodes, &[x], &[both]);
    assert_eq!(plan.steps(), 2, "{}", plan.describe());
    assert_eq!(floats(&run(&plan, &[&numbers(8, 1)])[0])[0], 2.0 * floats(&numbers(8, 1)).iter().sum::<f32>());
}

#[test]
fn targets_that_are_views_feeds_constants_or_named_twice() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 3]));
    let y = unary(&mut nodes, UnaryOp::Neg, x);
    let flat = push(&mut nodes, ViewOp::Reshape, [y], f32s(&[6]));
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [y], f32s(&[3, 2]));
    let ones = splat(&mut nodes, 1.0, f32s(&[2, 2]));
    let targets = [flat, y, turned, x, ones, turned];
    let plan = compile(&nodes, &[x], &targets);
    let input: Vec<u8> = (1..=6).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    let got: Vec<Vec<f32>> = run(&plan, &[&input]).iter().map(|bytes| floats(bytes)).collect();
    let negative = vec![-1.0, -2.0, -3.0, -4.0, -5.0, -6.0];
    let across = vec![-1.0, -4.0, -2.0, -5.0, -3.0, -6.0];
    assert_eq!(got, [negative.clone(), negative, across.clone(), floats(&input), vec![1.0; 4], across]);
    assert!(plan.describe().starts_with("0: loop [2, 3] Neg: in0 -> out0\n"), "{}", plan.describe());
}

#[test]
fn a_value_that_waits_for_its_reader_is_not_stored() {
    // The scaled input is only read by the loop after the matrix product.
    let mut nodes = Nodes::default();
    let ty = f32s(&[16, 16]);
    let x = push(&mut nodes, Leaf::Placeholder, [], ty.clone());
    let half = splat(&mut nodes, 0.5, f32s(&[1]));
    let scaled = binary(&mut nodes, BinaryOp::Mul, x, half);
    let product = push(&mut nodes, Op::MatMul, [x, x], ty);
    let out = binary(&mut nodes, BinaryOp::Add, product, scaled);
    let plan = compile(&nodes, &[x], &[out]);
    assert_eq!((plan.steps(), plan.scratch_bytes()), (2, 1024), "{}", plan.describe());
}

#[test]
fn reads_through_every_view() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[4, 6]));
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [x], f32s(&[6, 4]));
    let flat = push(&mut nodes, ViewOp::Reshape, [turned], f32s(&[3, 8]));
    let steps = ViewOp::Slice { starts: vec![0, 7], strides: vec![1, -2] };
    let slice = push(&mut nodes, steps, [flat], f32s(&[3, 4]));
    let back = push(&mut nodes, ViewOp::Reverse { axes: vec![0] }, [slice], f32s(&[3, 4]));
    let row = push(&mut nodes, ViewOp::Slice { starts: vec![1, 1], strides: vec![1, 1] }, [x], f32s(&[1, 4]));
    let wide = push(&mut nodes, ViewOp::Broadcast, [row], f32s(&[3, 4]));
    let sum = binary(&mut nodes, BinaryOp::Add, back, wide);
    let out = unary(&mut nodes, UnaryOp::Tanh, sum);
    let plan = compile(&nodes, &[x], &[out]);
    let input = numbers(24, 5);
    let got = floats(&run(&plan, &[&input])[0]);
    let x = floats(&input);
    for (at, got) in got.into_iter().enumerate() {
        let (i, j) = (at / 4, at % 4);
        let flat = (2 - i) * 8 + 7 - 2 * j;
        let expected = x[flat % 4 * 6 + flat / 4] + x[6 + 1 + j];
        assert!((got - expected.tanh()).abs() < 1e-6);
    }
    assert_eq!(run(&plan, &[&input]), unfused(&nodes, &[ValueId(0)], &[&input], &[out]));
}

#[test]
#[should_panic(expected = "needed but not fed")]
fn a_placeholder_must_be_fed() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1]));
    let y = unary(&mut nodes, UnaryOp::Neg, x);
    compile(&nodes, &[], &[y]);
}

#[test]
fn scratch_of_a_kernel_is_apart_from_what_it_reads_and_writes() {
    let ty = f32s(&[16]);
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], ty.clone());
    let job = Job { nodes, feeds: vec![x], targets: vec![x] };
    let (shape, strides) = (vec![16], vec![1]);
    let copied = Storage::Scratch(0);
    let copy = |from, to| {
        let (shape, strides, to_strides) = (shape.clone(), strides.clone(), strides.clone());
        Step::Copy(Copy { size: 4, from, offset: 0, shape, strides, to, to_offset: 0, to_strides })
    };
    let kernel = Step::Kernel {
        op: Reduce { op: ReduceOp::Sum, axes: vec![] }.into(),
        method: "test",
        inputs: vec![Operand { storage: copied, offset: 0, ty: ty.clone(), strides: None }],
        to: Storage::Scratch(1),
        ty,
        scratch: Some(Storage::Scratch(2)),
    };
    let steps = vec![copy(Storage::Input(0), copied), kernel, copy(Storage::Scratch(1), Storage::Output(0))];
    let plan = Plan::new(&job, Parts { steps, constants: vec![], scratch: vec![64, 64, 100] });
    assert_eq!(plan.scratch_bytes(), 64 + 64 + 128, "all three live at one time");
    let input = numbers(16, 1);
    assert_eq!(run(&plan, &[&input]), [input]);
}

#[test]
fn steps_are_timed_when_somebody_asks() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 3]));
    let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![1] }, [x], f32s(&[2, 1]));
    let plan = compile(&nodes, &[x], &[sum]);
    let input: Vec<u8> = bytemuck::cast_slice(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).to_vec();
    let (results, times) = time_steps(|| run(&plan, &[&input]));
    assert_eq!(results, [bytemuck::cast_slice::<f32, u8>(&[6.0, 15.0])]);
    // Other tests may run plans meanwhile.
    let own = plan.describe();
    let own = own.split_once(": ").expect("a line begins with its number").1.trim_end();
    assert!(times.iter().any(|(step, _)| step == own), "{own} is not among {times:?}");
}
