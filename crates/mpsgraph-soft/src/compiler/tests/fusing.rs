//! Random graphs: fusing changes no bit.

use super::*;

/// Random numbers below a bound.
fn dice(seed: u32) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(99);
    move |below| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 10) as usize % below
    }
}

/// Elementwise nodes, views and reductions at random, over operands of every broadcast shape: feeds, then all values.
fn random_nodes(
    nodes: &mut Nodes,
    next: &mut impl FnMut(usize) -> usize,
    dtype: DType,
    (rows, columns): (usize, usize),
) -> (Vec<ValueId>, Vec<ValueId>) {
    let of = |shape: &[usize]| TensorType::new(dtype, shape);
    let full = of(&[rows, columns]);
    let shapes = [vec![rows, columns], vec![1, columns], vec![rows, 1], vec![columns], vec![1]];
    let feeds: Vec<ValueId> = shapes.iter().map(|shape| push(nodes, Leaf::Placeholder, [], of(shape))).collect();
    let (mut values, mut wide) = (feeds.clone(), vec![feeds[0]]);
    for _ in 0..3 + next(12) {
        let x = wide[next(wide.len())];
        let other = values[next(values.len())];
        let new = match next(10) {
            0..4 => {
                let ops = [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Sub, BinaryOp::Max, BinaryOp::Div];
                push(nodes, ops[next(5)], [x, other], full.clone())
            }
            4 => unary(nodes, [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Relu][next(3)], x),
            5 => {
                let mask = push(nodes, BinaryOp::Less, [x, other], TensorType::new(DType::Bool, [rows, columns]));
                push(nodes, ElementwiseOp::Select, [mask, other, x], full.clone())
            }
            6 => {
                let turned = push(nodes, ViewOp::Transpose { perm: vec![1, 0] }, [x], of(&[columns, rows]));
                push(nodes, ViewOp::Reshape, [turned], full.clone())
            }
            7 => push(nodes, ViewOp::Reverse { axes: vec![next(2)] }, [x], full.clone()),
            8 => {
                let largest = Reduce { op: ReduceOp::Max, axes: vec![1] };
                values.push(push(nodes, largest, [x], of(&[rows, 1])));
                continue;
            }
            _ => {
                let flat = push(nodes, ViewOp::Reshape, [x], of(&[rows * columns]));
                let flat = unary(nodes, UnaryOp::Square, flat);
                push(nodes, ViewOp::Reshape, [flat], full.clone())
            }
        };
        values.push(new);
        wide.push(new);
    }
    (feeds, values)
}

/// A number as an element of one of the types of the random graphs.
fn element(x: f32, dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 => x.to_ne_bytes().to_vec(),
        DType::F16 => half::f16::from_f32(x).to_ne_bytes().to_vec(),
        DType::BF16 => half::bf16::from_f32(x).to_ne_bytes().to_vec(),
        DType::I32 => ((x * 100.0) as i32).to_ne_bytes().to_vec(),
        DType::U8 => vec![(x * 100.0) as i32 as u8],
        DType::I8 | DType::I16 | DType::I64 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => {
            unreachable!("{dtype:?} is none of theirs")
        }
    }
}

#[test]
fn fused_is_unfused_bit_for_bit() {
    for seed in 0..150u32 {
        let mut next = dice(seed);
        let extents = [(5, 7), (3, 300), (40, 10), (1, 1)][next(4)];
        let dtype = [DType::F32, DType::F16, DType::BF16, DType::I32, DType::U8][next(5)];
        let mut nodes = Nodes::default();
        let (feeds, values) = random_nodes(&mut nodes, &mut next, dtype, extents);
        let targets: Vec<ValueId> =
            values[feeds.len()..].iter().copied().filter(|_| next(3) == 0).chain(values.last().copied()).collect();
        let mut input = |&feed: &ValueId| -> Vec<u8> {
            let values = floats(&numbers(nodes.ty(feed).elements(), next(1000) as u32));
            values.into_iter().flat_map(|x| element(x, dtype)).collect()
        };
        let inputs: Vec<Vec<u8>> = feeds.iter().map(&mut input).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let plan = compile(&nodes, &feeds, &targets);
        let (got, want) = (run(&plan, &inputs), unfused(&nodes, &feeds, &inputs, &targets));
        assert!(got == want, "seed {seed} {dtype:?} {nodes:?}\n{}", plan.describe());
        assert_eq!(run(&plan, &inputs), want, "the second run of seed {seed}");
    }
}

/// Many batches in one graph, as a loop records them that never reads.
#[test]
fn batches_do_not_wait_for_each_other() {
    let scratch = |batches: usize| {
        let mut nodes = Nodes::default();
        let [x, weights, bias] =
            [[1024, 8], [8, 16], [1, 16]].map(|shape| push(&mut nodes, Leaf::Placeholder, [], f32s(&shape)));
        let mut total = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 1]));
        let total_of_before = total;
        for batch in 0..batches {
            let number = splat(&mut nodes, batch as f32, f32s(&[1]));
            let own = binary(&mut nodes, BinaryOp::Mul, x, number);
            let product = push(&mut nodes, Op::MatMul, [own, weights], f32s(&[1024, 16]));
            let moved = binary(&mut nodes, BinaryOp::Add, product, bias);
            let active = unary(&mut nodes, UnaryOp::Relu, moved);
            let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0, 1] }, [active], f32s(&[1, 1]));
            total = binary(&mut nodes, BinaryOp::Add, total, sum);
        }
        compile(&nodes, &[x, weights, bias, total_of_before], &[total]).scratch_bytes()
    };
    let batch = 4 * 1024 * 16;
    assert!(scratch(100) < scratch(20) + batch, "{} bytes for 100 batches, {} for 20", scratch(100), scratch(20));
}
