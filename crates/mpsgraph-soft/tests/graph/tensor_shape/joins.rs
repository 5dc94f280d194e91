//! Concatenations.

use mpsgraph_soft::objc::Id;

use crate::graph::messages::array;
use crate::graph::session::{F32, Graph, ints, run_one};
use crate::support::{Probed, refused, rule};

const CONCAT: &str = "concatTensors:dimension:name:";

/// Checks that tensors of these types are not concatenated.
#[track_caller]
fn concat_refused(tensors: &[(&[i64], u32)], axis: isize, reason: &str) {
    let graph = Graph::new();
    let tensors: Vec<Id> = tensors.iter().map(|&(shape, code)| graph.placeholder(shape, code)).collect();
    refused(CONCAT, reason, || graph.axis_op(CONCAT, array(&tensors), axis));
}

#[test]
fn concatenations() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let operands = [ints(&[2, 1], &[1, 2]), ints(&[2, 2], &[3, 4, 5, 6]), ints(&[2, 1], &[7, 8])];
    let result = run_one(&operands, |graph, x| graph.axis_op(CONCAT, array(x), -1));
    assert_eq!(result, ints(&[2, 4], &[1, 3, 4, 7, 2, 5, 6, 8]));
    let result = run_one(&operands, |graph, x| graph.axis_op(CONCAT, array(&[x[0], x[2]]), 0));
    assert_eq!(result, ints(&[4, 1], &[1, 2, 7, 8]));
}

#[test]
fn concat_refuses_no_tensors() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: a tensor whose shape is nil"));
    concat_refused(&[], 0, "no tensors");
}

#[test]
fn concat_refuses_extents_that_differ_off_the_axis() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: \"all input shapes must match except at axis\", whatever the header \
         says of broadcasting",
    ));
    for other in [&[3, 2][..], &[1, 2], &[2]] {
        concat_refused(&[(&[2, 2], F32), (other, F32)], 1, "do not fit");
    }
}
