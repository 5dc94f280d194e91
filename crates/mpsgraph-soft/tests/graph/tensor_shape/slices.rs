//! Slices, by bounds and by length.

use mpsgraph_soft::objc::Id;

use super::{counted, moved, refuses};
use crate::graph::session::{F32, Graph, Value, ints, run_one};
use crate::support::{Documented, Probed, Reported, msg, refused, rule};

const SLICE: &str = "sliceTensor:starts:ends:strides:name:";
const LENGTH: &str = "sliceTensor:dimension:start:length:name:";

fn slice(from: &[usize], starts: &[i64], ends: &[i64], strides: &[i64]) -> Value {
    moved(from, SLICE, &[starts, ends, strides])
}

fn by_length(graph: &Graph, x: Id, dimension: usize, start: isize, length: isize) -> Id {
    msg!(
        graph.id(), LENGTH,
        x => Id, dimension => usize, start => isize, length => isize, Id::NIL => Id; Id
    )
}

#[test]
fn slices_by_bounds_and_strides() {
    let _test = rule(Documented("Apple's MPSGraphTensorShapeOps.h"));
    assert_eq!(slice(&[3, 3], &[1, 0], &[3, 3], &[1, 2]), ints(&[2, 2], &[3, 5, 6, 8]));
    assert_eq!(slice(&[5], &[0], &[-1], &[3]), ints(&[2], &[0, 3]));
}

#[test]
fn slices_count_negative_starts_from_the_end_and_clip_ends() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(slice(&[5], &[-2], &[9], &[1]), ints(&[2], &[3, 4]));
    let result = run_one(&[counted(&[2, 3])], |graph, x| by_length(graph, x[0], 1, -2, 2));
    assert_eq!(result, ints(&[2, 2], &[1, 2, 4, 5]));
}

#[test]
fn slices_go_backwards() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(slice(&[5], &[4], &[0], &[-2]), ints(&[2], &[4, 2]));
    assert_eq!(slice(&[5], &[-1], &[-6], &[-3]), ints(&[2], &[4, 1]));
}

#[test]
fn slice_refuses_a_start_outside() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"start value 9 does not fit dimension size\""));
    refuses(&[5], SLICE, &[&[5], &[6], &[1]], "out of bounds");
    refuses(&[5], SLICE, &[&[-6], &[6], &[1]], "out of bounds");
}

#[test]
fn slice_refuses_an_empty_result() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: a tensor of no elements, and \"device may not be nil\" when it is run",
    ));
    refuses(&[5], SLICE, &[&[2], &[2], &[1]], "aborts when run");
    refuses(&[5], SLICE, &[&[2], &[4], &[-1]], "aborts when run");
}

#[test]
fn slice_refuses_a_stride_of_0() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"stride cannot be 0\""));
    refuses(&[5], SLICE, &[&[2], &[4], &[0]], "stride 0");
}

#[test]
fn slice_refuses_another_number_of_bounds_than_dimensions() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs"));
    let (two, one): (&[i64], &[i64]) = (&[1, 1], &[1]);
    for arrays in [[one, two, two], [two, one, two], [two, two, one]] {
        refuses(&[5, 5], SLICE, &arrays, "1 numbers for 2 dimensions");
    }
}

#[test]
fn slice_by_length_refuses_what_leaves_the_tensor() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: \"length value 9 does not fit within the dimension size\""));
    for (dimension, start, length, reason) in [
        (2, 0, 1, "dimension 2 is not one of 2"),
        (1, 2, 2, "out of bounds"),
        (1, -4, 1, "out of bounds"),
        (1, 0, 0, "empty"),
        (1, 0, -1, "empty"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(LENGTH, reason, || by_length(&graph, x, dimension, start, length));
    }
}
