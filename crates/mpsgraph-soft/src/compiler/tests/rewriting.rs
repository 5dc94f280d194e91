//! Casts to larger types that change nothing, and sums of products.

use super::*;
use crate::kernels::cumulative::{Cumulative, Running};
use crate::kernels::gather::Gather;
use crate::kernels::rows::Indexing;

fn ty(dtype: DType, shape: &[usize]) -> TensorType {
    TensorType::new(dtype, shape)
}

/// The plan's text, which has one line per step, after its results have been compared with those of single nodes.
fn described(nodes: &Nodes, feeds: &[ValueId], inputs: &[&[u8]], target: ValueId) -> String {
    let plan = compile(nodes, feeds, &[target]);
    assert_eq!(run(&plan, inputs), unfused(nodes, feeds, inputs, &[target]), "{}", plan.describe());
    plan.describe()
}

#[test]
fn a_gather_between_casts_moves_the_small_type() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], ty(DType::Bool, &[4, 3]));
    let at = push(&mut nodes, Leaf::Placeholder, [], ty(DType::I32, &[2]));
    let wide = cast(&mut nodes, x, DType::F32);
    let rows = Gather(Indexing::Axis { axis: 0, batch: 0 });
    let rows = push(&mut nodes, rows, [wide, at], f32s(&[2, 3]));
    let zero = splat(&mut nodes, 0.0, f32s(&[1]));
    let back = push(&mut nodes, BinaryOp::NotEqual, [rows, zero], ty(DType::Bool, &[2, 3]));
    let inputs: [&[u8]; 2] = [&[1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0], &[3, 0, 0, 0, 1, 0, 0, 0]];
    let text = described(&nodes, &[x, at], &inputs, back);
    assert!(text.lines().count() == 1 && text.contains("kernel [2, 3] Gather"), "{text}");
    // What is read as the large type is cast behind the gather.
    let text = described(&nodes, &[x, at], &inputs, rows);
    assert!(text.lines().count() == 2 && text.lines().nth(1).is_some_and(|line| line.contains("Cast")), "{text}");
}

#[test]
fn a_reduction_between_casts_happens_in_the_small_type() {
    for (op, small, large, narrow) in [
        (ReduceOp::Sum, DType::I8, DType::I32, true),
        (ReduceOp::Prod, DType::U8, DType::I32, true),
        (ReduceOp::Max, DType::I8, DType::F32, true),
        (ReduceOp::Or, DType::Bool, DType::I32, true),
        (ReduceOp::Sum, DType::Bool, DType::I32, true),
        // No integer is NaN.
        (ReduceOp::MaxNan, DType::I8, DType::F32, true),
        (ReduceOp::MinNan, DType::Bool, DType::F32, true),
        // So many may be true that their sum wraps to 0.
        (ReduceOp::Sum, DType::Bool, DType::U8, false),
        // A sum in f32 saturates when it is cast back, u32 has another order than i8, and only floats have means.
        (ReduceOp::Sum, DType::I8, DType::F32, false),
        (ReduceOp::Max, DType::I8, DType::U32, false),
        (ReduceOp::Mean, DType::I8, DType::F32, false),
    ] {
        let mut nodes = Nodes::default();
        let x = push(&mut nodes, Leaf::Placeholder, [], ty(small, &[2, 40]));
        let wide = cast(&mut nodes, x, large);
        let reduced = push(&mut nodes, Reduce { op, axes: vec![1] }, [wide], ty(large, &[2, 1]));
        let back = cast(&mut nodes, reduced, small);
        let bytes: Vec<u8> =
            (0..80u8).map(|at| if small == DType::Bool { at % 2 } else { at.wrapping_mul(37) | 1 }).collect();
        let text = described(&nodes, &[x], &[&bytes], back);
        assert_eq!(text.lines().count() == 1, narrow, "{op:?} of {small:?} in {large:?}: {text}");
    }
}

#[test]
fn a_scan_between_casts_happens_in_the_small_type() {
    for (running, small, large, narrow) in [
        (Running::Sum, DType::I8, DType::I32, true),
        (Running::Product, DType::I32, DType::I64, true),
        (Running::Maximum, DType::U8, DType::I32, true),
        (Running::Minimum, DType::I16, DType::I32, true),
        (Running::Sum, DType::I32, DType::I64, true),
        (Running::Maximum, DType::I16, DType::F32, true),
        // Whether a sum differs from 0 is another sum of bools; a sum in f32 saturates when it is cast back.
        (Running::Sum, DType::Bool, DType::I32, false),
        (Running::Sum, DType::I8, DType::F32, false),
        (Running::Sum, DType::U32, DType::I64, false),
        (Running::Product, DType::U16, DType::I32, false),
    ] {
        for shape in [[3, 300], [300, 3]] {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], ty(small, &shape));
            let wide = cast(&mut nodes, x, large);
            let op = Cumulative { running, axis: usize::from(shape[0] < shape[1]) };
            let scan = push(&mut nodes, op, [wide], ty(large, &shape));
            let back = cast(&mut nodes, scan, small);
            let bytes: Vec<u8> = (0..900 * small.size())
                .map(|at| if small == DType::Bool { at as u8 % 2 } else { (at as u8).wrapping_mul(37) | 1 })
                .collect();
            let text = described(&nodes, &[x], &[&bytes], back);
            assert_eq!(text.lines().count() == 1, narrow, "{running:?} of {small:?} in {large:?}: {text}");
        }
    }
}

/// How often plans name a cast.
fn casts(text: &str) -> usize {
    text.matches("Cast").count()
}

#[test]
fn a_cast_of_a_cast_to_a_larger_type_is_one() {
    for (small, large, to, expected) in [
        (DType::I16, DType::I32, DType::U8, 1),
        (DType::U8, DType::I32, DType::I16, 1),
        (DType::I16, DType::I64, DType::U32, 1),
        (DType::U16, DType::I32, DType::F32, 1),
        (DType::I16, DType::I32, DType::F16, 1),
        (DType::I16, DType::F32, DType::Bool, 1),
        (DType::Bool, DType::I32, DType::U16, 1),
        // -1 is 0 as an unsigned number if it was a float, and 255 if it was not.
        (DType::I16, DType::F32, DType::U8, 2),
        // The sign is read in another way.
        (DType::I16, DType::U32, DType::I64, 2),
    ] {
        let mut nodes = Nodes::default();
        let x = push(&mut nodes, Leaf::Placeholder, [], ty(small, &[300]));
        let wide = cast(&mut nodes, x, large);
        let target = cast(&mut nodes, wide, to);
        let bytes: Vec<u8> = (0..300 * small.size())
            .map(|at| if small == DType::Bool { at as u8 % 2 } else { (at as u8).wrapping_mul(37) })
            .collect();
        let text = described(&nodes, &[x], &[&bytes], target);
        assert_eq!(casts(&text), expected, "{small:?} to {large:?} to {to:?}: {text}");
    }
}

#[test]
fn integers_of_one_small_type_are_compared_as_they_are() {
    for (small, other, large, expected) in [
        (DType::U16, DType::U16, DType::I32, 0),
        (DType::I8, DType::I8, DType::F32, 0),
        (DType::U8, DType::I8, DType::I32, 2),
        (DType::I16, DType::I16, DType::U32, 2),
    ] {
        let mut nodes = Nodes::default();
        let feeds = [small, other].map(|dtype| push(&mut nodes, Leaf::Placeholder, [], ty(dtype, &[300])));
        let wide = feeds.map(|feed| cast(&mut nodes, feed, large));
        let target = binary(&mut nodes, BinaryOp::Greater, wide[0], wide[1]);
        let bytes = |by: u8| -> Vec<u8> { (0..300 * small.size()).map(|at| (at as u8).wrapping_mul(by)).collect() };
        let text = described(&nodes, &feeds, &[&bytes(37), &bytes(91)], target);
        assert_eq!(casts(&text), expected, "{small:?} and {other:?} in {large:?}: {text}");
    }
}

#[test]
fn a_sum_of_a_table_of_products_makes_no_table() {
    for (dtype, contracted) in [(DType::I32, true), (DType::F32, false)] {
        let mut nodes = Nodes::default();
        let a = push(&mut nodes, Leaf::Placeholder, [], ty(dtype, &[3, 1, 8]));
        let b = push(&mut nodes, Leaf::Placeholder, [], ty(dtype, &[1, 5, 8]));
        let table = push(&mut nodes, BinaryOp::Mul, [a, b], ty(dtype, &[3, 5, 8]));
        let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![2] }, [table], ty(dtype, &[3, 5, 1]));
        let text = described(&nodes, &[a, b], &[&numbers(24, 1), &numbers(40, 2)], sum);
        assert_eq!(text.contains("Contraction"), contracted, "{text}");
        // A table that is asked for itself is made.
        let plan = compile(&nodes, &[a, b], &[sum, table]);
        assert!(!plan.describe().contains("Contraction"), "{}", plan.describe());
    }
}

#[test]
fn bits_of_another_size_are_not_copied() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], ty(DType::I64, &[4, 2]));
    let at = push(&mut nodes, Leaf::Placeholder, [], ty(DType::I32, &[3]));
    let halves = push(&mut nodes, ViewOp::Reinterpret, [x], f32s(&[4, 4]));
    let rows = Gather(Indexing::Axis { axis: 0, batch: 0 });
    let rows = push(&mut nodes, rows, [halves, at], f32s(&[3, 4]));
    let back = push(&mut nodes, ViewOp::Reinterpret, [rows], ty(DType::I64, &[3, 2]));
    let at_bytes: Vec<u8> = [2i32, 0, 3].iter().flat_map(|at| at.to_ne_bytes()).collect();
    let text = described(&nodes, &[x, at], &[&numbers(16, 3), &at_bytes], back);
    assert_eq!(text.lines().count(), 1, "{text}");
    // The bits themselves are asked for too: each target has memory of its own.
    let plan = compile(&nodes, &[x, at], &[back, rows, halves]);
    let results = run(&plan, &[&numbers(16, 3), &at_bytes]);
    assert_eq!(results[0], results[1], "{}", plan.describe());
    assert_eq!(results[2], numbers(16, 3), "{}", plan.describe());
}

#[test]
fn movements_read_views_in_place() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[4, 6]));
    let one = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 1]));
    let filled = push(&mut nodes, ViewOp::Broadcast, [one], f32s(&[4, 3]));
    let update = crate::kernels::movement::Movement::SliceUpdate { starts: vec![0, 4], strides: vec![1, -2] };
    let updated = push(&mut nodes, update, [x, filled], f32s(&[4, 6]));
    let text = described(&nodes, &[x, one], &[&numbers(24, 4), &numbers(1, 5)], updated);
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains("copy")), "{text}");
    let turned = push(&mut nodes, ViewOp::Transpose { perm: vec![1, 0] }, [x], f32s(&[6, 4]));
    let joined = crate::kernels::movement::Movement::Concat { axis: 1 };
    let joined = push(&mut nodes, joined, [turned, turned], f32s(&[6, 8]));
    let text = described(&nodes, &[x, one], &[&numbers(24, 4), &numbers(1, 5)], joined);
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains("copy")), "{text}");
}

#[test]
fn a_concatenation_that_is_a_part_of_another_one_is_not_made() {
    let concat = |axis| crate::kernels::movement::Movement::Concat { axis };
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 3]));
    let y = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 1]));
    let z = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 4]));
    let band = push(&mut nodes, concat(1), [y, x], f32s(&[2, 4]));
    let whole = push(&mut nodes, concat(0), [z, band, z], f32s(&[4, 4]));
    let twice = push(&mut nodes, concat(0), [whole, z], f32s(&[5, 4]));
    let inputs = [&numbers(6, 1)[..], &numbers(2, 2), &numbers(4, 3)];
    let text = described(&nodes, &[x, y, z], &inputs, twice);
    assert!(text.lines().count() == 5 && text.lines().all(|line| line.contains("copy")), "{text}");
    // One that is read elsewhere, or in another shape, is made.
    let negative = unary(&mut nodes, UnaryOp::Neg, band);
    let both = push(&mut nodes, concat(0), [whole, negative], f32s(&[6, 4]));
    let text = described(&nodes, &[x, y, z], &inputs, both);
    assert!(text.lines().any(|line| line.contains("[2, 4] Concat")), "{text}");
    let flat = push(&mut nodes, ViewOp::Reshape, [band], f32s(&[1, 8]));
    let again = push(&mut nodes, concat(1), [flat, z], f32s(&[1, 12]));
    let text = described(&nodes, &[x, y, z], &inputs, again);
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains("Concat")), "{text}");
    let many = push(&mut nodes, concat(0), [z, z, z, band], f32s(&[5, 4]));
    let text = described(&nodes, &[x, y, z], &inputs, many);
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains("Concat")), "{text}");
    // One that the caller asks for is made.
    let plan = compile(&nodes, &[x, y, z], &[whole, band]);
    let results = run(&plan, &inputs);
    assert_eq!(results, unfused(&nodes, &[x, y, z], &inputs, &[whole, band]), "{}", plan.describe());
}
