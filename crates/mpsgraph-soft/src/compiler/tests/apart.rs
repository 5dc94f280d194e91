//! Reductions read what is not packed where it is, with the bits that a packed copy gives.

use super::*;
use crate::ir::ViewOp;

const ALL: [ReduceOp; 7] =
    [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::MinNan, ReduceOp::MaxNan, ReduceOp::Mean];

/// `shape` without some elements at both ends of each axis of a feed that has those, too.
fn cut(nodes: &mut Nodes, shape: &[usize], margins: &[usize]) -> [ValueId; 2] {
    let whole: Vec<usize> = shape.iter().zip(margins).map(|(extent, margin)| extent + 2 * margin).collect();
    let x = push(nodes, Leaf::Placeholder, [], f32s(&whole));
    let slice = ViewOp::Slice { starts: margins.to_vec(), strides: vec![1; shape.len()] };
    [x, push(nodes, slice, [x], f32s(shape))]
}

/// How many steps the reduction is; compares its results with those of nodes by themselves.
fn steps(nodes: &mut Nodes, op: ReduceOp, [feed, x]: [ValueId; 2], axes: &[usize]) -> usize {
    let mut narrow = nodes.ty(x).shape.clone();
    axes.iter().for_each(|&axis| narrow[axis] = 1);
    let reduced = push(nodes, Reduce { op, axes: axes.to_vec() }, [x], f32s(&narrow));
    let plan = compile(nodes, &[feed], &[reduced]);
    for special in [None, Some(f32::NAN), Some(f32::INFINITY), Some(0.0)] {
        let mut input = numbers(nodes.ty(feed).elements(), 5);
        if let Some(special) = special {
            let middle = input.len() / 8 * 4;
            input[middle..middle + 4].copy_from_slice(&special.to_ne_bytes());
        }
        let wanted = unfused(nodes, &[feed], &[&input], &[reduced]);
        assert!(run(&plan, &[&input]) == wanted, "{special:?}\n{}", plan.describe());
    }
    plan.steps()
}

#[test]
fn slices_are_read_where_they_are() {
    for (shape, margins, axes) in [
        (&[60, 300][..], &[1, 2][..], &[1][..]),
        (&[60, 300], &[1, 2], &[0]),
        (&[700, 1100], &[3, 1], &[0]),
        (&[300, 1500], &[0, 7], &[1]),
        (&[3, 9000], &[1, 1], &[1]),
        (&[20, 40, 200], &[0, 1, 1], &[1]),
        (&[5, 30, 40], &[2, 0, 0], &[1, 2]),
        (&[7, 4, 6, 150], &[0, 1, 1, 1], &[0, 2]),
        (&[7, 4, 6, 150], &[0, 1, 1, 0], &[1, 3]),
        // In phases, for which rows are packed.
        (&[9, 20, 6, 5], &[0, 1, 0, 0], &[0, 2]),
        (&[3, 9, 20, 6, 5], &[1, 1, 0, 0, 0], &[1, 3]),
        (&[9, 20, 7], &[0, 1, 0], &[0, 2]),
        (&[2, 3, 4], &[0, 1, 0], &[0, 2]),
    ] {
        for op in ALL {
            let mut nodes = Nodes::default();
            let cut = cut(&mut nodes, shape, margins);
            assert_eq!(steps(&mut nodes, op, cut, axes), 1, "{op:?} of {shape:?} over {axes:?}");
        }
    }
}

#[test]
fn what_a_copy_orders_in_another_way_is_copied() {
    // All elements are one segment of a copy; short rows are taken several at a time; phases need packed rows.
    for (shape, axes) in [
        (&[60, 300][..], &[0, 1][..]),
        (&[600, 20], &[0]),
        (&[50, 8, 40], &[1]),
        (&[9, 31, 7], &[0, 2]),
        (&[7, 4, 6, 5], &[1, 3]),
        (&[9, 40, 6, 5], &[0, 2]),
    ] {
        let mut nodes = Nodes::default();
        let margins = vec![1; shape.len()];
        let cut = cut(&mut nodes, shape, &margins);
        assert_eq!(steps(&mut nodes, ReduceOp::Sum, cut, axes), 2, "{shape:?} over {axes:?}");
    }
}

#[test]
fn a_row_that_is_repeated_is_read_again() {
    for axes in [[0], [1]] {
        let mut nodes = Nodes::default();
        let row = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 500]));
        let all = push(&mut nodes, ViewOp::Broadcast, [row], f32s(&[400, 500]));
        assert_eq!(steps(&mut nodes, ReduceOp::Sum, [row, all], &axes), 1, "{axes:?}");
    }
}

#[test]
fn a_normalization_of_a_slice_is_one_step() {
    for (shape, margins) in [(&[901, 130][..], &[2, 1][..]), (&[30, 30, 130], &[1, 0, 0])] {
        let mut nodes = Nodes::default();
        let [feed, x] = cut(&mut nodes, shape, margins);
        let last = shape.len() - 1;
        let narrow = f32s(&[&shape[..last], &[1]].concat());
        let mean = push(&mut nodes, Reduce { op: ReduceOp::Mean, axes: vec![last] }, [x], narrow);
        let centered = binary(&mut nodes, BinaryOp::Sub, x, mean);
        let plan = compile(&nodes, &[feed], &[centered]);
        let input = numbers(nodes.ty(feed).elements(), 5);
        assert!(run(&plan, &[&input]) == unfused(&nodes, &[feed], &[&input], &[centered]), "{}", plan.describe());
        assert_eq!(plan.steps(), 1, "{}", plan.describe());
    }
}
