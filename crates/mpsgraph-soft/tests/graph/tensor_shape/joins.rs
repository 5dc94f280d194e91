//! Concatenations, stacks and splits.

use mpsgraph_soft::objc::Id;

use super::counted;
use crate::graph::messages::{alone, array, msg, numbers, objects, refused};
use crate::graph::session::{F16, F32, Graph, ints, run};

const CONCAT: &str = "concatTensors:dimension:name:";
const CONCAT_TWO: &str = "concatTensor:withTensor:dimension:name:";
const INTERLEAVED: &str = "concatTensors:dimension:interleave:name:";
const STACK: &str = "stackTensors:axis:name:";
const SIZES: &str = "splitTensor:splitSizes:axis:name:";
const COUNT: &str = "splitTensor:numSplits:axis:name:";

fn concat_two(graph: &Graph, a: Id, b: Id, dimension: isize) -> Id {
    msg!(graph.id(), CONCAT_TWO, a => Id, b => Id, dimension => isize, Id::NIL => Id; Id)
}

fn interleaved(graph: &Graph, tensors: &[Id], dimension: isize) -> Id {
    let tensors = array(tensors);
    msg!(
        graph.id(), INTERLEAVED, tensors => Id, dimension => isize, true => bool, Id::NIL => Id; Id
    )
}

/// Checks that tensors of these types are neither concatenated nor stacked.
#[track_caller]
fn join_refused(selectors: &[&str], tensors: &[(&[i64], u32)], axis: isize, reason: &str) {
    let tensors =
        |graph: &Graph| -> Vec<Id> { tensors.iter().map(|&(shape, code)| graph.placeholder(shape, code)).collect() };
    for &selector in selectors {
        let graph = Graph::new();
        let tensors = tensors(&graph);
        refused(selector, reason, || match selector {
            CONCAT_TWO => concat_two(&graph, tensors[0], tensors[1], axis),
            INTERLEAVED => interleaved(&graph, &tensors, axis),
            _ => graph.axis_op(selector, array(&tensors), axis),
        });
    }
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn concatenations_and_stacks() {
    let _alone = alone();
    let operands = [ints(&[2, 1], &[1, 2]), ints(&[2, 2], &[3, 4, 5, 6]), ints(&[2, 1], &[7, 8])];
    let results = run(&operands, |graph, x| {
        vec![
            graph.axis_op(CONCAT, array(x), -1),
            concat_two(graph, x[0], x[2], 0),
            interleaved(graph, &[x[0], x[2]], 0),
            graph.axis_op(STACK, array(&[x[0], x[2]]), 0),
            graph.axis_op(STACK, array(&[x[0], x[2]]), -1),
        ]
    });
    assert_eq!(results[0], ints(&[2, 4], &[1, 3, 4, 7, 2, 5, 6, 8]));
    assert_eq!(results[1], ints(&[4, 1], &[1, 2, 7, 8]));
    assert_eq!(results[2], ints(&[4, 1], &[1, 7, 2, 8]));
    assert_eq!(results[3], ints(&[2, 2, 1], &[1, 2, 7, 8]));
    assert_eq!(results[4], ints(&[2, 1, 2], &[1, 7, 2, 8]));
}

/// kern0x1b/charon probes on macOS 27.0: a tensor whose shape is nil.
#[test]
fn concat_and_stack_refuse_no_tensors() {
    let _alone = alone();
    join_refused(&[CONCAT, INTERLEAVED, STACK], &[], 0, "no tensors");
}

/// kern0x1b/charon probes on macOS 27.0: "element type of operand and result differ".
#[test]
fn concat_and_stack_refuse_different_element_types() {
    let _alone = alone();
    let tensors: [(&[i64], u32); 2] = [(&[2], F32), (&[2], F16)];
    let all = [CONCAT, CONCAT_TWO, INTERLEAVED, STACK];
    join_refused(&all, &tensors, 0, "differ in element type");
}

/// kern0x1b/charon probes on macOS 27.0: "all input shapes must match except at axis", whatever the header says of
/// broadcasting.
#[test]
fn concat_refuses_extents_that_differ_off_the_axis() {
    let _alone = alone();
    let all = [CONCAT, CONCAT_TWO, INTERLEAVED];
    for other in [&[3, 2][..], &[1, 2], &[2]] {
        join_refused(&all, &[(&[2, 2], F32), (other, F32)], 1, "do not fit");
    }
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn stack_refuses_shapes_that_differ() {
    let _alone = alone();
    for other in [&[1, 2][..], &[2]] {
        join_refused(&[STACK], &[(&[2, 2], F32), (other, F32)], 0, "do not fit");
    }
}

/// kern0x1b/charon probes on macOS 27.0: "all input shapes must match along axis dimension when interleaving".
#[test]
fn interleaving_refuses_extents_that_differ_on_the_axis() {
    let _alone = alone();
    let tensors: [(&[i64], u32); 2] = [(&[2, 4], F32), (&[2, 1], F32)];
    join_refused(&[INTERLEAVED], &tensors, 1, "do not fit");
}

/// kern0x1b/charon probes on macOS 27.0: "invalid axis"; a stack has one dimension more.
#[test]
fn concat_and_stack_refuse_axes_outside_the_rank() {
    let _alone = alone();
    let tensors: [(&[i64], u32); 2] = [(&[2], F32), (&[2], F32)];
    let concats = [CONCAT, CONCAT_TWO, INTERLEAVED];
    join_refused(&concats, &tensors, 1, "not one of 1 dimensions");
    join_refused(&[STACK], &tensors, 2, "not one of 2 dimensions");
}

fn by_sizes(graph: &Graph, x: Id, sizes: &[i64], axis: isize) -> Id {
    let sizes = numbers(sizes);
    msg!(graph.id(), SIZES, x => Id, sizes => Id, axis => isize, Id::NIL => Id; Id)
}

fn by_count(graph: &Graph, x: Id, count: usize, axis: isize) -> Id {
    msg!(graph.id(), COUNT, x => Id, count => usize, axis => isize, Id::NIL => Id; Id)
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn splits_by_sizes() {
    let _alone = alone();
    let results = run(&[counted(&[2, 4])], |graph, x| objects(by_sizes(graph, x[0], &[1, 3], -1)));
    assert_eq!(results[0], ints(&[2, 1], &[0, 4]));
    assert_eq!(results[1], ints(&[2, 3], &[1, 2, 3, 5, 6, 7]));
}

/// kern0x1b/charon probes on macOS 27.0: not of equal size, as the header has it, but all rounded up except the last.
#[test]
fn splits_by_count_are_rounded_up() {
    let _alone = alone();
    for (extent, sizes) in [(4, &[2, 2][..]), (5, &[2, 2, 1]), (7, &[2, 2, 2, 1]), (10, &[4, 4, 2]), (3, &[3])] {
        let results = run(&[counted(&[extent])], |graph, x| objects(by_count(graph, x[0], sizes.len(), 0)));
        let given: Vec<usize> = results.iter().map(|part| part.shape[0]).collect();
        assert_eq!(given, sizes);
        let elements: Vec<i32> = results.iter().flat_map(|part| part.elements()).collect();
        assert_eq!(elements, counted(&[extent]).elements::<i32>());
    }
}

/// kern0x1b/charon probes on macOS 27.0: "infer split sizes … failed" where the last would have nothing left.
#[test]
fn split_refuses_counts_that_leave_nothing_for_the_last() {
    let _alone = alone();
    for (extent, count) in [(4, 3), (6, 4), (12, 5), (1, 2), (4, 0), (4, usize::MAX)] {
        let graph = Graph::new();
        let x = graph.placeholder(&[extent], F32);
        refused(COUNT, "no split sizes can be inferred", || by_count(&graph, x, count, 0));
    }
}

#[track_caller]
fn sizes_refused(sizes: &[i64], reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 4], F32);
    refused(SIZES, reason, || by_sizes(&graph, x, sizes, 1));
}

/// kern0x1b/charon probes on macOS 27.0: "sum of result dimension lengths … must equal input dimension length".
#[test]
fn split_refuses_sizes_that_do_not_sum_up() {
    let _alone = alone();
    sizes_refused(&[1, 2], "do not sum up");
    sizes_refused(&[3, 3], "do not sum up");
    sizes_refused(&[i64::MAX, i64::MAX, 6], "do not sum up");
}

/// kern0x1b/charon probes on macOS 27.0: NSInvalidArgumentException.
#[test]
fn split_refuses_sizes_of_zero() {
    let _alone = alone();
    sizes_refused(&[0, 4], "zero raises an exception");
    sizes_refused(&[], "zero raises an exception");
}

/// kern0x1b/charon probes on macOS 27.0: a segmentation fault.
#[test]
fn split_refuses_negative_sizes() {
    let _alone = alone();
    sizes_refused(&[5, -1], "a negative size crashes");
}
