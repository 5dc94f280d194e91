//! Other shapes and orders of the same elements.

use mpsgraph_soft::objc::Id;

use super::{counted, moved, refuses};
use crate::graph::messages::{alone, msg, numbers, refused, shape};
use crate::graph::session::{F32, Graph, ints, run, run_one};

const RESHAPE: &str = "reshapeTensor:withShape:name:";
const PERMUTE: &str = "transposeTensor:permutation:name:";
const SWAP: &str = "transposeTensor:dimension:withDimension:name:";
const REVERSE: &str = "reverseTensor:axes:name:";
const BROADCAST: &str = "broadcastTensor:toShape:name:";
const TILE: &str = "tileTensor:withMultiplier:name:";
const EXPAND: &str = "expandDimsOfTensor:axes:name:";
const SQUEEZE: &str = "squeezeTensor:axes:name:";
const FLATTEN: &str = "flatten2DTensor:axis:name:";
const COORDINATE: &str = "coordinateAlongAxis:withShape:name:";

/// kern0x1b/charon probes on macOS 27.0: row-major, one extent may be -1.
#[test]
fn reshape_keeps_the_order_of_the_elements() {
    let _alone = alone();
    assert_eq!(moved(&[2, 3], RESHAPE, &[&[3, 2]]), counted(&[3, 2]));
    assert_eq!(moved(&[2, 3], RESHAPE, &[&[3, -1, 1]]), counted(&[3, 2, 1]));
}

/// kern0x1b/charon probes on macOS 27.0: "the result shape is not compatible with the input shape".
#[test]
fn reshape_refuses_another_volume() {
    let _alone = alone();
    refuses(&[2, 3], RESHAPE, &[&[5]], "another volume");
    refuses(&[2, 3], RESHAPE, &[&[-1, 4]], "another volume");
    refuses(&[2, 3], RESHAPE, &[&[1 << 40, 1 << 40]], "another volume");
}

/// kern0x1b/charon probes on macOS 27.0: "NDArray dimension length > INT_MAX".
#[test]
fn reshape_refuses_two_open_extents() {
    let _alone = alone();
    refuses(&[2, 3], RESHAPE, &[&[-1, -1]], "two extents open");
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn reshape_refuses_empty_shapes_and_zero_extents() {
    let _alone = alone();
    refuses(&[2, 3], RESHAPE, &[&[]], "empty");
    refuses(&[2, 3], RESHAPE, &[&[0, 6]], "zero");
    refuses(&[2, 3], RESHAPE, &[&[-2, 3]], "negative extent");
}

fn swap(graph: &Graph, x: Id, a: usize, b: usize) -> Id {
    msg!(graph.id(), SWAP, x => Id, a => usize, b => usize, Id::NIL => Id; Id)
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn transposes() {
    let _alone = alone();
    assert_eq!(moved(&[2, 3], PERMUTE, &[&[1, 0]]), ints(&[3, 2], &[0, 3, 1, 4, 2, 5]));
    assert_eq!(moved(&[1, 2, 2], PERMUTE, &[&[2, 0, 1]]), ints(&[2, 1, 2], &[0, 2, 1, 3]));
    let swapped = run_one(&[counted(&[2, 3])], |graph, x| swap(graph, x[0], 0, 1));
    assert_eq!(swapped, ints(&[3, 2], &[0, 3, 1, 4, 2, 5]));
    let same = run_one(&[counted(&[2, 3])], |graph, x| swap(graph, x[0], 1, 1));
    assert_eq!(same, counted(&[2, 3]));
}

/// kern0x1b/charon probes on macOS 27.0: "perm tensor length must equal input tensor rank".
#[test]
fn transpose_refuses_what_is_no_permutation() {
    let _alone = alone();
    refuses(&[2, 3], PERMUTE, &[&[1]], "1 numbers for 2 dimensions");
    refuses(&[2, 3], PERMUTE, &[&[1, 1]], "no permutation");
    refuses(&[2, 3], PERMUTE, &[&[0, 2]], "no permutation");
    refuses(&[2, 3], PERMUTE, &[&[0, -1]], "no permutation");
}

/// kern0x1b/charon probes on macOS 27.0: a tensor whose shape is nil, without a word.
#[test]
fn transpose_refuses_dimensions_outside_the_rank() {
    let _alone = alone();
    for (a, b) in [(0, 2), (2, 0), (usize::MAX, 0)] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(SWAP, "the result has no shape", || swap(&graph, x, a, b));
    }
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn reverse_takes_axes_from_either_end() {
    let _alone = alone();
    assert_eq!(moved(&[2, 2], REVERSE, &[&[-1]]), ints(&[2, 2], &[1, 0, 3, 2]));
    assert_eq!(moved(&[2, 2], REVERSE, &[&[0]]), ints(&[2, 2], &[2, 3, 0, 1]));
}

/// kern0x1b/charon probes on macOS 27.0: unlike reductions, which then have no axis.
#[test]
fn reverse_of_no_axes_reverses_all() {
    let _alone = alone();
    let wanted = ints(&[2, 2], &[3, 2, 1, 0]);
    assert_eq!(moved(&[2, 2], "reverseTensor:name:", &[]), wanted);
    assert_eq!(moved(&[2, 2], REVERSE, &[&[]]), wanted);
}

/// Apple's MPSGraphTensorShapeOps.h; kern0x1b/charon probes on macOS 27.0: "axis must be unique".
#[test]
fn reverse_refuses_an_axis_twice() {
    let _alone = alone();
    refuses(&[2, 2], REVERSE, &[&[0, -2]], "twice");
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn broadcasts() {
    let _alone = alone();
    assert_eq!(moved(&[2, 1], BROADCAST, &[&[2, 2, 2]]), ints(&[2, 2, 2], &[0, 0, 1, 1, 0, 0, 1, 1]));
}

/// kern0x1b/charon probes on macOS 27.0: eight zeros after the eight elements of a 2x4 in a 4x4.
#[test]
fn broadcast_refuses_what_would_be_filled_with_zeros() {
    let _alone = alone();
    for (from, to) in [(&[2, 4][..], &[4, 4][..]), (&[2, 1], &[3, 2]), (&[2, 2], &[2]), (&[2, 2], &[2, 1])] {
        refuses(from, BROADCAST, &[to], "silently filled with 0");
    }
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn tiles() {
    let _alone = alone();
    assert_eq!(moved(&[1, 2], TILE, &[&[2, 2]]), ints(&[2, 4], &[0, 1, 0, 1, 0, 1, 0, 1]));
    assert_eq!(moved(&[2], TILE, &[&[1]]), ints(&[2], &[0, 1]));
}

/// kern0x1b/charon probes on macOS 27.0: a result without elements aborts when it is run.
#[test]
fn tile_refuses_factors_below_1() {
    let _alone = alone();
    refuses(&[2], TILE, &[&[0]], "below 1");
    refuses(&[2], TILE, &[&[-1]], "below 1");
}

/// kern0x1b/charon probes on macOS 27.0: rank and length of the multiplier must match.
#[test]
fn tile_refuses_another_number_of_factors_than_dimensions() {
    let _alone = alone();
    refuses(&[2], TILE, &[&[2, 2]], "2 numbers for 1 dimensions");
}

/// kern0x1b/charon probes on macOS 27.0: one dimension at each axis named, which counts in the result.
#[test]
fn expand_dims_adds_dimensions_where_they_will_be() {
    let _alone = alone();
    assert_eq!(moved(&[2, 3], EXPAND, &[&[0, -1]]), counted(&[1, 2, 3, 1]));
    assert_eq!(moved(&[2, 3], EXPAND, &[&[0, 2]]), counted(&[1, 2, 1, 3]));
    assert_eq!(moved(&[2, 3], EXPAND, &[&[0, 1]]), counted(&[1, 1, 2, 3]));
    let single = "expandDimsOfTensor:axis:name:";
    let results =
        run(&[counted(&[2, 3])], |graph, x| [-1, 0, 2].map(|axis| graph.axis_op(single, x[0], axis)).to_vec());
    for (result, shape) in std::iter::zip(&results, [[2, 3, 1], [1, 2, 3], [2, 3, 1]]) {
        assert_eq!(*result, counted(&shape));
    }
}

/// kern0x1b/charon probes on macOS 27.0: "invalid axis".
#[test]
fn expand_dims_refuses_axes_outside_the_result() {
    let _alone = alone();
    refuses(&[2, 3], EXPAND, &[&[4]], "not one of 3 dimensions");
    let single = "expandDimsOfTensor:axis:name:";
    for axis in [3, -4] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(single, "not one of 3 dimensions", || graph.axis_op(single, x, axis));
    }
}

/// kern0x1b/charon probes on macOS 27.0: no axes and nil drop nothing, unlike the form without axes.
#[test]
fn squeeze_drops_dimensions_of_extent_1() {
    let _alone = alone();
    assert_eq!(moved(&[1, 2, 1], SQUEEZE, &[&[-1]]), counted(&[1, 2]));
    assert_eq!(moved(&[1, 2, 1], SQUEEZE, &[&[]]), counted(&[1, 2, 1]));
    assert_eq!(moved(&[1, 2, 1], "squeezeTensor:name:", &[]), counted(&[2]));
    let results = run(&[counted(&[2, 1, 3])], |graph, x| {
        vec![graph.op(SQUEEZE, &[x[0], Id::NIL]), graph.axis_op("squeezeTensor:axis:name:", x[0], 1)]
    });
    assert_eq!(results[0], counted(&[2, 1, 3]));
    assert_eq!(results[1], counted(&[2, 3]));
}

/// kern0x1b/charon probes on macOS 27.0: "squeezed axis must have length 1".
#[test]
fn squeeze_refuses_other_extents_than_1() {
    let _alone = alone();
    refuses(&[1, 2, 1], SQUEEZE, &[&[1]], "has not the extent 1");
    let single = "squeezeTensor:axis:name:";
    let graph = Graph::new();
    let x = graph.placeholder(&[1, 2], F32);
    refused(single, "has not the extent 1", || graph.axis_op(single, x, 1));
}

/// doom-fish/mpsgraph-rs ops.rs: what comes after aborts on rank 0.
#[test]
fn squeeze_refuses_a_result_of_rank_0() {
    let _alone = alone();
    refuses(&[1, 1], "squeezeTensor:name:", &[], "to rank 0");
    refuses(&[1], SQUEEZE, &[&[0]], "to rank 0");
}

/// kern0x1b/charon probes on macOS 27.0: the extents before the axis, and those from it on.
#[test]
fn flatten_gives_two_dimensions() {
    let _alone = alone();
    let results =
        run(&[counted(&[2, 1, 3])], |graph, x| [0, 2, 3].map(|axis| graph.axis_op(FLATTEN, x[0], axis)).to_vec());
    for (result, shape) in std::iter::zip(&results, [[1, 6], [2, 3], [6, 1]]) {
        assert_eq!(*result, counted(&shape));
    }
}

/// kern0x1b/charon probes on macOS 27.0: it is taken as unsigned, and the extent asserts.
#[test]
fn flatten_refuses_a_negative_axis() {
    let _alone = alone();
    for (axis, reason) in [(-1, "a negative one"), (3, "beyond the rank")] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(FLATTEN, reason, || graph.axis_op(FLATTEN, x, axis));
    }
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn coordinates() {
    let _alone = alone();
    let coordinate = |graph: &Graph, axis: isize, extents: &[i64]| {
        let shape = numbers(extents);
        msg!(graph.id(), COORDINATE, axis => isize, shape => Id, Id::NIL => Id; Id)
    };
    let results = run(&[counted(&[4, 5])], |graph, x| {
        vec![coordinate(graph, 0, &[3, 2]), coordinate(graph, -1, &[2, 2]), graph.op("shapeOfTensor:name:", x)]
    });
    assert_eq!(results[0], ints(&[3, 2], &[0, 0, 1, 1, 2, 2]));
    assert_eq!(results[1], ints(&[2, 2], &[0, 1, 0, 1]));
    assert_eq!(results[2], ints(&[2], &[4, 5]));
}

/// Apple's MPSGraphTensor.h.
#[test]
fn shapes_are_known_while_building() {
    let _alone = alone();
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 3], F32);
    let y = graph.op(PERMUTE, &[x, numbers(&[1, 0])]);
    assert_eq!(shape(y), [3, 2]);
}
