//! Other shapes and orders of the same elements.

use mpsgraph_soft::objc::Id;

use super::{counted, moved, refuses};
use crate::graph::messages::{numbers, shape};
use crate::graph::session::{F32, Graph, ints, run};
use crate::support::{Documented, Probed, msg, rule};

const RESHAPE: &str = "reshapeTensor:withShape:name:";
const PERMUTE: &str = "transposeTensor:permutation:name:";
const REVERSE: &str = "reverseTensor:axes:name:";
const BROADCAST: &str = "broadcastTensor:toShape:name:";
const COORDINATE: &str = "coordinateAlongAxis:withShape:name:";

#[test]
fn reshape_keeps_the_order_of_the_elements() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: row-major, one extent may be -1"));
    assert_eq!(moved(&[2, 3], RESHAPE, &[&[3, 2]]), counted(&[3, 2]));
    assert_eq!(moved(&[2, 3], RESHAPE, &[&[3, -1, 1]]), counted(&[3, 2, 1]));
}

#[test]
fn reshape_refuses_another_volume() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: \"the result shape is not compatible with the input shape\"",
    ));
    refuses(&[2, 3], RESHAPE, &[&[5]], "another volume");
    refuses(&[2, 3], RESHAPE, &[&[-1, 4]], "another volume");
    refuses(&[2, 3], RESHAPE, &[&[1 << 40, 1 << 40]], "another volume");
}

#[test]
fn reshape_refuses_two_open_extents() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"NDArray dimension length > INT_MAX\""));
    refuses(&[2, 3], RESHAPE, &[&[-1, -1]], "two extents open");
}

#[test]
fn reshape_refuses_empty_shapes_and_zero_extents() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    refuses(&[2, 3], RESHAPE, &[&[]], "empty");
    refuses(&[2, 3], RESHAPE, &[&[0, 6]], "zero");
    refuses(&[2, 3], RESHAPE, &[&[-2, 3]], "negative extent");
}

#[test]
fn transposes() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(moved(&[2, 3], PERMUTE, &[&[1, 0]]), ints(&[3, 2], &[0, 3, 1, 4, 2, 5]));
    assert_eq!(moved(&[1, 2, 2], PERMUTE, &[&[2, 0, 1]]), ints(&[2, 1, 2], &[0, 2, 1, 3]));
}

#[test]
fn transpose_refuses_what_is_no_permutation() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: \"perm tensor length must equal input tensor rank\""));
    refuses(&[2, 3], PERMUTE, &[&[1]], "1 numbers for 2 dimensions");
    refuses(&[2, 3], PERMUTE, &[&[1, 1]], "not a permutation");
    refuses(&[2, 3], PERMUTE, &[&[0, 2]], "not a permutation");
    refuses(&[2, 3], PERMUTE, &[&[0, -1]], "not a permutation");
}

#[test]
fn reverse_takes_axes_from_either_end() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(moved(&[2, 2], REVERSE, &[&[-1]]), ints(&[2, 2], &[1, 0, 3, 2]));
    assert_eq!(moved(&[2, 2], REVERSE, &[&[0]]), ints(&[2, 2], &[2, 3, 0, 1]));
}

#[test]
fn reverse_of_no_axes_reverses_all() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: unlike reductions, which then have no axis"));
    assert_eq!(moved(&[2, 2], REVERSE, &[&[]]), ints(&[2, 2], &[3, 2, 1, 0]));
}

#[test]
fn reverse_refuses_an_axis_twice() {
    let _test =
        rule(Probed("Apple's MPSGraphTensorShapeOps.h; kern0x1b/charon probes on macOS 27.0: \"axis must be unique\""));
    refuses(&[2, 2], REVERSE, &[&[0, -2]], "twice");
}

#[test]
fn broadcasts() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(moved(&[2, 1], BROADCAST, &[&[2, 2, 2]]), ints(&[2, 2, 2], &[0, 0, 1, 1, 0, 0, 1, 1]));
}

#[test]
fn broadcast_refuses_what_would_be_filled_with_zeros() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: eight zeros after the eight elements of a 2x4 in a 4x4"));
    for (from, to) in [(&[2, 4][..], &[4, 4][..]), (&[2, 1], &[3, 2]), (&[2, 2], &[2]), (&[2, 2], &[2, 1])] {
        refuses(from, BROADCAST, &[to], "silently filled with 0");
    }
}

#[test]
fn coordinates() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let coordinate = |graph: &Graph, axis: isize, extents: &[i64]| {
        let shape = numbers(extents);
        msg!(graph.id(), COORDINATE, axis => isize, shape => Id, Id::NIL => Id; Id)
    };
    let results = run(&[], |graph, _| vec![coordinate(graph, 0, &[3, 2]), coordinate(graph, -1, &[2, 2])]);
    assert_eq!(results[0], ints(&[3, 2], &[0, 0, 1, 1, 2, 2]));
    assert_eq!(results[1], ints(&[2, 2], &[0, 1, 0, 1]));
}

#[test]
fn shapes_are_known_while_building() {
    let _test = rule(Documented("Apple's MPSGraphTensor.h"));
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 3], F32);
    let y = graph.op(PERMUTE, &[x, numbers(&[1, 0])]);
    assert_eq!(shape(y), [3, 2]);
}
