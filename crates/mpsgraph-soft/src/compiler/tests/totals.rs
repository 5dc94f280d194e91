//! Loops and the reduction of all that they make become one step, with the bits of a reduction of a value in memory.

use super::*;
use crate::kernels::threads;

/// Numbers of which the sums overflow in parts, but not one after the other.
fn alternating(count: usize) -> Vec<u8> {
    (0..count).flat_map(|at| (if at % 2 == 0 { 3e38_f32 } else { -3e38 }).to_ne_bytes()).collect()
}

/// The target as a plan of so many steps computes it, which has to be what the nodes give one by one.
fn reduced(nodes: &Nodes, feeds: &[ValueId], inputs: &[Vec<u8>], targets: &[ValueId], steps: usize) -> Vec<Vec<u8>> {
    let plan = compile(nodes, feeds, targets);
    assert_eq!(plan.steps(), steps, "{}", plan.describe());
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let wanted = unfused(nodes, feeds, &inputs, targets);
    let found = run(&plan, &inputs);
    assert!(found == wanted, "{}", plan.describe());
    found
}

fn of(nodes: &Nodes, feeds: &[ValueId]) -> Vec<Vec<u8>> {
    feeds.iter().zip(1..).map(|(&id, seed)| numbers(nodes.ty(id).elements(), seed)).collect()
}

/// `x * y` of so many elements, where `y` has a row: feeds and product.
fn product(nodes: &mut Nodes, [rows, columns]: [usize; 2]) -> (Vec<ValueId>, ValueId) {
    let x = push(nodes, Leaf::Placeholder, [], f32s(&[rows, columns]));
    let y = push(nodes, Leaf::Placeholder, [], f32s(&[1, columns]));
    (vec![x, y], binary(nodes, BinaryOp::Mul, x, y))
}

/// Such a product reduced to one number: feeds, product and result.
fn total(nodes: &mut Nodes, extents: [usize; 2], op: ReduceOp) -> (Vec<ValueId>, ValueId, ValueId) {
    let (feeds, made) = product(nodes, extents);
    let flat = push(nodes, ViewOp::Reshape, [made], f32s(&[extents[0] * extents[1]]));
    let result = push(nodes, Reduce { op, axes: vec![0] }, [flat], f32s(&[1]));
    (feeds, made, result)
}

/// Such a product with each of its columns reduced to one number: feeds and result.
fn columns(nodes: &mut Nodes, extents: [usize; 2], op: ReduceOp) -> (Vec<ValueId>, ValueId) {
    let (feeds, made) = product(nodes, extents);
    let result = push(nodes, Reduce { op, axes: vec![0] }, [made], f32s(&[1, extents[1]]));
    (feeds, result)
}

#[test]
fn a_product_is_reduced_as_it_is_made() {
    for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::MaxNan, ReduceOp::Min, ReduceOp::Prod] {
        for extents in [[100, 1024], [70_001, 1], [1, 99_999], [33_000, 8], [2000, 4096]] {
            let mut nodes = Nodes::default();
            let (feeds, _, result) = total(&mut nodes, extents, op);
            reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result], 1);
        }
    }
}

#[test]
fn columns_of_a_product_are_reduced_as_it_is_made() {
    for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::MaxNan, ReduceOp::Min] {
        for extents in [[256, 400], [200, 400], [600, 129], [1000, 1000], [5000, 200], [400, 16_384]] {
            let mut nodes = Nodes::default();
            let (feeds, result) = columns(&mut nodes, extents, op);
            reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result], 1);
        }
    }
}

#[test]
fn columns_in_another_order_are_reduced_by_a_step_of_its_own() {
    for (extents, op) in [
        ([300, 1000], ReduceOp::Sum),
        ([128, 4096], ReduceOp::Sum),
        ([1000, 128], ReduceOp::Sum),
        ([1000, 1000], ReduceOp::Prod),
        ([256, 16_385], ReduceOp::Sum),
    ] {
        let mut nodes = Nodes::default();
        let (feeds, result) = columns(&mut nodes, extents, op);
        reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result], 2);
    }
}

/// The axes in front are one, and what is made is read by others too.
#[test]
fn columns_behind_several_axes_are_reduced_as_they_are_made() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 20, 30, 300]));
    let made = unary(&mut nodes, UnaryOp::Neg, x);
    let reduce = Reduce { op: ReduceOp::Sum, axes: vec![0, 1, 2] };
    let sums = push(&mut nodes, reduce, [made], f32s(&[1, 1, 1, 300]));
    reduced(&nodes, &[x], &of(&nodes, &[x]), &[sums, made], 1);
    let middle = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![2] }, [made], f32s(&[1, 20, 1, 300]));
    reduced(&nodes, &[x], &of(&nodes, &[x]), &[middle], 2);
}

/// Each column for itself: one overflows in parts alone, one holds an infinity, one a NaN, and the rest are finite.
#[test]
fn columns_that_overflow_in_parts_are_found_in_order() {
    let [rows, width] = [1000, 200];
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[rows, width]));
    let negative = unary(&mut nodes, UnaryOp::Neg, x);
    for op in [ReduceOp::Sum, ReduceOp::Mean] {
        let sums = push(&mut nodes, Reduce { op, axes: vec![0] }, [negative], f32s(&[1, width]));
        let element = |at: usize| match (at / width, at % width) {
            (999, 5) => f32::INFINITY,
            (500, 7) => f32::NAN,
            // The second block overflows, and not behind the first.
            (0 | 1 | 300, 3 | 5 | 7) => -1.5e38,
            (128..=130, 3 | 5 | 7) => 1.5e38,
            (row, column) => (row + column) as f32,
        };
        let x_bytes: Vec<u8> = (0..rows * width).flat_map(|at| element(at).to_ne_bytes()).collect();
        let found = floats(&reduced(&nodes, &[x], &[x_bytes], &[sums], 1)[0]);
        assert!(found[5].is_infinite() && found[7].is_nan());
        assert_eq!(found.iter().filter(|sum| !sum.is_finite()).count(), 2, "{found:?}");
    }
}

#[test]
fn what_nothing_else_reads_is_not_whole_in_memory() {
    let mut nodes = Nodes::default();
    let (feeds, made, result) = total(&mut nodes, [4000, 1024], ReduceOp::Sum);
    // The value has 16 MB; each thread has blocks of its own.
    let bytes = compile(&nodes, &feeds, &[result]).scratch_bytes();
    assert!(bytes < 300_000 * threads::count(), "{bytes} bytes");
    reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result, made], 1);
}

#[test]
fn other_types_are_reduced_as_they_are_made() {
    let count = 150_001;
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[count]));
    let zero = splat(&mut nodes, 0.0, f32s(&[1]));
    let above = push(&mut nodes, BinaryOp::Greater, [x, zero], TensorType::new(DType::Bool, [count]));
    let ones = push(&mut nodes, ElementwiseOp::Cast, [above], TensorType::new(DType::I32, [count]));
    let positive =
        push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0] }, [ones], TensorType::new(DType::I32, [1]));
    let found = reduced(&nodes, &[x], &of(&nodes, &[x]), &[positive], 1);
    let wanted = floats(&numbers(count, 1)).into_iter().filter(|&x| x > 0.0).count();
    assert_eq!(found[0], (wanted as i32).to_ne_bytes());
}

#[test]
fn sums_that_overflow_in_parts_are_found_in_order() {
    let count = 300_001;
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[count]));
    let negative = unary(&mut nodes, UnaryOp::Neg, x);
    let sum = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes: vec![0] }, [negative], f32s(&[1]));
    let found = reduced(&nodes, &[x], &[alternating(count)], &[sum], 1);
    assert_eq!(found[0], (-3e38_f32).to_ne_bytes());
    // An infinite element explains the sum.
    let mut infinite = alternating(count);
    infinite[4 * 77_777..][..4].copy_from_slice(&f32::INFINITY.to_ne_bytes());
    let found = reduced(&nodes, &[x], &[infinite], &[sum], 1);
    assert!(!floats(&found[0])[0].is_finite());
}

#[test]
fn rows_of_which_a_block_has_a_part_are_multiplied_before() {
    let mut nodes = Nodes::default();
    let (feeds, _, result) = total(&mut nodes, [257, 1000], ReduceOp::Sum);
    reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result], 2);
}

#[test]
fn small_values_are_reduced_by_a_step_of_its_own() {
    let mut nodes = Nodes::default();
    let (feeds, _, result) = total(&mut nodes, [60, 1000], ReduceOp::Sum);
    reduced(&nodes, &feeds, &of(&nodes, &feeds), &[result], 2);
}
