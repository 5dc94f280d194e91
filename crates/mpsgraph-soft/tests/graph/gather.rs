//! Gathers.

use mpsgraph_soft::objc::Id;

use super::messages::numbers;
use super::session::{
    F16, F32, Graph, I8, I16, I32, I64, U8, U16, U32, Value, bools, floats, ints, run_error, run_one, value,
};
use crate::support::{Assumed, Documented, Reported, msg, refused, rule};

const GATHER: &str = "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:";
const GATHER_ND: &str = "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:";
const ALONG_AXIS: &str = "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:";

fn gather(graph: &Graph, x: &[Id], axis: usize, batch: usize) -> Id {
    msg!(graph.id(), GATHER, x[0] => Id, x[1] => Id, axis => usize, batch => usize, Id::NIL => Id; Id)
}

fn gather_nd(graph: &Graph, x: &[Id], batch: usize) -> Id {
    msg!(graph.id(), GATHER_ND, x[0] => Id, x[1] => Id, batch => usize, Id::NIL => Id; Id)
}

fn along_axis(graph: &Graph, x: &[Id], axis: isize) -> Id {
    msg!(graph.id(), ALONG_AXIS, axis => isize, x[0] => Id, x[1] => Id, Id::NIL => Id; Id)
}

fn matrix() -> Value {
    floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

#[test]
fn rows_and_columns() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h: the indices' dimensions take the axis' place"));
    let rows = run_one(&[matrix(), ints(&[3], &[1, 0, 1])], |graph, x| gather(graph, x, 0, 0));
    assert_eq!(rows, floats(&[3, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let columns = run_one(&[matrix(), ints(&[1, 2], &[2, 0])], |graph, x| gather(graph, x, 1, 0));
    assert_eq!(columns, floats(&[2, 1, 2], &[3.0, 1.0, 6.0, 4.0]));
    let batched = run_one(&[matrix(), value(I64, &[2, 1], &[2i64, 0])], |graph, x| gather(graph, x, 1, 1));
    assert_eq!(batched, floats(&[2, 1], &[3.0, 4.0]));
}

#[test]
fn by_coordinates() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h"));
    let elements = run_one(&[matrix(), ints(&[2, 2], &[1, 2, 0, 0])], |graph, x| gather_nd(graph, x, 0));
    assert_eq!(elements, floats(&[2], &[6.0, 1.0]));
    let rows = run_one(&[matrix(), ints(&[1, 1], &[1])], |graph, x| gather_nd(graph, x, 0));
    assert_eq!(rows, floats(&[1, 3], &[4.0, 5.0, 6.0]));
    let batched = run_one(&[matrix(), ints(&[2, 1], &[1, 2])], |graph, x| gather_nd(graph, x, 1));
    assert_eq!(batched, floats(&[2], &[2.0, 6.0]));
}

#[test]
fn along_an_axis() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h"));
    let result = run_one(&[matrix(), ints(&[2, 2], &[2, 0, 1, 1])], |graph, x| along_axis(graph, x, -1));
    assert_eq!(result, floats(&[2, 2], &[3.0, 1.0, 5.0, 5.0]));
    let bytes = value(I8, &[2], &[3i8, -4]);
    let result = run_one(&[bytes, ints(&[1], &[1])], |graph, x| along_axis(graph, x, 0));
    assert_eq!(result, value(I8, &[1], &[-4i8]));
}

/// Checks that a gather from a tensor by indices is refused.
#[track_caller]
fn gather_refused(
    selector: &str,
    updates: (&[i64], u32),
    indices: (&[i64], u32),
    reason: &str,
    build: impl Fn(&Graph, &[Id]) -> Id,
) {
    let graph = Graph::new();
    let operands = [graph.placeholder(updates.0, updates.1), graph.placeholder(indices.0, indices.1)];
    refused(selector, reason, || build(&graph, &operands));
}

/// Checks that all three forms refuse operands.
#[track_caller]
fn gathers_refused(updates: (&[i64], u32), indices: (&[i64], u32), reason: &str) {
    gather_refused(GATHER, updates, indices, reason, |graph, x| gather(graph, x, 0, 0));
    gather_refused(GATHER_ND, updates, indices, reason, |graph, x| gather_nd(graph, x, 0));
    gather_refused(ALONG_AXIS, updates, indices, reason, |graph, x| along_axis(graph, x, 0));
}

#[test]
fn gather_takes_narrow_integers_and_bool() {
    let _test =
        rule(Reported("tillahoffmann/jax-mps gather_scatter_utils.h: what 24 bits hold comes out as it went in"));
    let last_and_first = |x: Value| run_one(&[x, ints(&[2], &[2, 0])], |graph, x| gather(graph, x, 0, 0));
    assert_eq!(last_and_first(value(I8, &[3], &[i8::MIN, 0, i8::MAX])), value(I8, &[2], &[i8::MAX, i8::MIN]));
    assert_eq!(last_and_first(value(U8, &[3], &[1u8, 0, u8::MAX])), value(U8, &[2], &[u8::MAX, 1]));
    assert_eq!(last_and_first(value(I16, &[3], &[i16::MIN, 0, i16::MAX])), value(I16, &[2], &[i16::MAX, i16::MIN]));
    assert_eq!(last_and_first(value(U16, &[3], &[1u16, 0, u16::MAX])), value(U16, &[2], &[u16::MAX, 1]));
    assert_eq!(last_and_first(bools(&[3], &[0, 0, 1])), bools(&[2], &[1, 0]));
}

#[test]
fn gather_refuses_other_indices_than_32_and_64_bit_integers() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h; pytorch/pytorch Indexing.mm"));
    for code in [F32, F16, U32, I8] {
        gathers_refused((&[2], F32), (&[1], code), "must be Int32 or Int64");
    }
}

#[test]
fn gather_refuses_batch_dimensions_beyond_the_axis() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h"));
    gather_refused(GATHER, (&[2, 2], F32), (&[2, 1], I32), "1 batch dimensions for axis 0", |graph, x| {
        gather(graph, x, 0, 1)
    });
}

#[test]
fn gather_refuses_batch_dimensions_that_differ() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h; doom-fish/mpsgraph-rs ops.rs"));
    let operands = ((&[2, 2][..], F32), (&[3, 1][..], I32));
    gather_refused(GATHER, operands.0, operands.1, "are not the same", |graph, x| gather(graph, x, 1, 1));
    gather_refused(GATHER_ND, operands.0, operands.1, "are not the same", |graph, x| gather_nd(graph, x, 1));
}

#[test]
fn gather_nd_refuses_too_many_coordinates() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h: no more coordinates than dimensions"));
    gather_refused(GATHER_ND, (&[2, 2], F32), (&[1, 3], I32), "too many coordinates", |graph, x| {
        gather_nd(graph, x, 0)
    });
}

#[test]
fn gather_nd_refuses_a_result_of_rank_0() {
    let _test = rule(Reported("tillahoffmann/jax-mps gather_scatter_utils.h reshapes around it"));
    gather_refused(GATHER_ND, (&[2, 2], F32), (&[2], I32), "would give rank 0", |graph, x| gather_nd(graph, x, 0));
}

#[test]
fn gather_along_axis_refuses_shapes_that_differ_beyond_the_axis() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h; doom-fish/mpsgraph-rs ops.rs"));
    for (indices, axis) in [(&[1, 1][..], 1), (&[2][..], 0)] {
        gather_refused(
            ALONG_AXIS,
            (&[2, 2], F32),
            (indices, I32),
            &format!("must be the same but for axis {axis}"),
            |graph, x| along_axis(graph, x, axis),
        );
    }
}

#[test]
fn gather_along_axis_refuses_data_with_an_extent_of_1() {
    let _test = rule(Reported(
        "pytorch/pytorch#135240: data [3, 1] ends the process before macOS 15.2; dbolya/tomesd#15: so does [b, n, 1] \
         along n",
    ));
    for (data, axis) in [(&[3, 1][..], 0), (&[1, 3][..], 1), (&[2, 3, 1][..], 1), (&[1, 3, 2][..], 1)] {
        gather_refused(ALONG_AXIS, (data, F32), (data, I32), "has an extent of 1", |graph, x| {
            along_axis(graph, x, axis)
        });
    }
}

#[test]
fn gather_along_axis_reads_0_out_of_range() {
    let _test = rule(Documented("Apple's MPSGraphGatherOps.h; negative indices are not wrapped"));
    let result = run_one(&[matrix(), ints(&[2, 2], &[3, 0, -1, 7])], |graph, x| along_axis(graph, x, 1));
    assert_eq!(result, floats(&[2, 2], &[0.0, 1.0, 0.0, 0.0]));
}

#[test]
fn other_gathers_out_of_range_fail_the_command_buffer() {
    let _test = rule(Assumed("Apple's MPSGraphGatherOps.h says of the form along an axis alone what it reads there"));
    for index in [2, -1] {
        let error = run_error(&[matrix(), ints(&[1], &[index])], |graph, x| gather(graph, x, 0, 0));
        let wanted = format!("{GATHER} index {index} is out of range");
        assert!(error.contains(&wanted), "{error}");
        let error = run_error(&[matrix(), ints(&[1, 2], &[index, 0])], |graph, x| gather_nd(graph, x, 0));
        let wanted = format!("{GATHER_ND} index {index} is out of range");
        assert!(error.contains(&wanted), "{error}");
    }
}

#[test]
fn gather_refuses_reshaped_integer_constants() {
    let _test = rule(Reported(
        "pedronahum/MetalHLO MPSGraphCompiler.swift makes such constants of floats, in their final shape",
    ));
    let filled = |graph: &Graph, code: u32| {
        let constant = msg!(
            graph.id(), "constantWithScalar:shape:dataType:",
            1.0 => f64, numbers(&[2, 1]) => Id, code => u32; Id
        );
        let reshape = "reshapeTensor:withShape:name:";
        graph.op(reshape, &[constant, numbers(&[2])])
    };
    let graph = Graph::new();
    let x = graph.placeholder(&[2], F32);
    refused(GATHER, "the indices tensor is a reshaped integer constant", || {
        gather(&graph, &[x, filled(&graph, I32)], 0, 0)
    });
    let graph = Graph::new();
    let indices = graph.placeholder(&[2], I32);
    refused(GATHER, "the updates tensor is a reshaped integer constant", || {
        gather(&graph, &[filled(&graph, I8), indices], 0, 0)
    });
    let graph = Graph::new();
    let (x, indices) = (graph.placeholder(&[2], F32), filled(&graph, F32));
    gather(&graph, &[x, graph.cast(indices, I32)], 0, 0);
}
