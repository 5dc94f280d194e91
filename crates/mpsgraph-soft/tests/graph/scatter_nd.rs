//! Scatters.

use mpsgraph_soft::objc::Id;

use super::messages::numbers;
use super::session::{BOOL, F32, Graph, I8, I32, I64, U32, Value, floats, ints, run, run_error, run_one};
use crate::support::{Assumed, Documented, Reported, msg, refused, rule};

const AXIS: &str = "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:";
const ND: &str = "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:";
const ALONG: &str = "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:";

const ADD: isize = 0;
const MUL: isize = 2;
const SET: isize = 6;

fn axis(graph: &Graph, x: &[Id], axis: isize, mode: isize) -> Id {
    msg!(
        graph.id(), AXIS, x[0] => Id, x[1] => Id, x[2] => Id, axis => isize, mode => isize, Id::NIL => Id; Id
    )
}

fn nd(graph: &Graph, x: &[Id], batch: usize, mode: isize) -> Id {
    msg!(graph.id(), ND, x[0] => Id, x[1] => Id, x[2] => Id, batch => usize, mode => isize, Id::NIL => Id; Id)
}

fn along(graph: &Graph, x: &[Id], axis: isize, mode: isize) -> Id {
    msg!(
        graph.id(), ALONG, axis => isize, x[0] => Id, x[1] => Id, x[2] => Id, mode => isize, Id::NIL => Id; Id
    )
}

#[test]
fn modes() {
    let _test =
        rule(Documented("Apple's MPSGraphScatterNDOps.h: add, subtract, multiply, divide, minimum, maximum, set"));
    let data = floats(&[4], &[8.0, 6.0, 4.0, 2.0]);
    let operands = [data, floats(&[2], &[2.0, 3.0]), ints(&[2], &[1, 2])];
    let results = run(&operands, |graph, x| (0..7).map(|mode| axis(graph, x, 0, mode)).collect());
    let wanted: [[f32; 4]; 7] = [
        [8.0, 8.0, 7.0, 2.0],
        [8.0, 4.0, 1.0, 2.0],
        [8.0, 12.0, 12.0, 2.0],
        [8.0, 3.0, 4.0 / 3.0, 2.0],
        [8.0, 2.0, 3.0, 2.0],
        [8.0, 6.0, 4.0, 2.0],
        [8.0, 2.0, 3.0, 2.0],
    ];
    for (mode, (result, wanted)) in results.iter().zip(wanted).enumerate() {
        assert_eq!(*result, floats(&[4], &wanted), "mode {mode}");
    }
}

#[test]
fn duplicates_accumulate() {
    let _test = rule(Reported("Embeddings' gradients rely on it (pytorch/pytorch ScatterGather.mm)"));
    let operands =
        [floats(&[2, 2], &[0.0; 4]), floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), ints(&[3], &[1, 1, 0])];
    let result = run_one(&operands, |graph, x| axis(graph, x, -1, ADD));
    assert_eq!(result, floats(&[2, 2], &[3.0, 3.0, 6.0, 9.0]));
}

#[test]
fn by_coordinates() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h"));
    let data = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let elements = [data.clone(), floats(&[2], &[10.0, 20.0]), ints(&[2, 2], &[0, 1, 1, 0])];
    let result = run_one(&elements, |graph, x| nd(graph, x, 0, ADD));
    assert_eq!(result, floats(&[2, 2], &[1.0, 12.0, 23.0, 4.0]));
    let rows = [data.clone(), floats(&[1, 2], &[7.0, 8.0]), ints(&[1, 1], &[1])];
    let result = run_one(&rows, |graph, x| nd(graph, x, 0, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 2.0, 7.0, 8.0]));
    let batched = [data, floats(&[2], &[5.0, 6.0]), ints(&[2, 1], &[1, 0])];
    let result = run_one(&batched, |graph, x| nd(graph, x, 1, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 5.0, 6.0, 4.0]));
}

#[test]
fn along_an_axis() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h"));
    let operands = [floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), floats(&[2, 1], &[5.0, 6.0]), ints(&[2, 1], &[1, 0])];
    let result = run_one(&operands, |graph, x| along(graph, x, 1, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 5.0, 6.0, 4.0]));
}

#[test]
fn on_zeros() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h: without data, what is not updated is 0"));
    let operands: [Value; 3] = [floats(&[2], &[5.0, 6.0]), ints(&[2], &[2, 0]), ints(&[2, 1], &[2, 0])];
    let results = run(&operands, |graph, x| {
        let shape = numbers(&[3]);
        let (id, nil) = (graph.id(), Id::NIL);
        let axis = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:";
        let along = "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:";
        let nd = "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:";
        vec![
            msg!(id, axis, x[0] => Id, x[1] => Id, shape => Id, 0 => isize, SET => isize, nil => Id; Id),
            msg!(id, along, 0 => isize, x[0] => Id, x[1] => Id, shape => Id, ADD => isize, nil => Id; Id),
            msg!(id, nd, x[0] => Id, x[2] => Id, shape => Id, 0 => usize, 1 => isize, nil => Id; Id),
        ]
    });
    for result in &results[..2] {
        assert_eq!(*result, floats(&[3], &[6.0, 0.0, 5.0]));
    }
    assert_eq!(results[2], floats(&[3], &[-6.0, 0.0, -5.0]));
}

/// The types of data, updates and indices that are accepted.
const TYPES: [u32; 3] = [F32, F32, I32];

/// Checks that a scatter of updates into data by indices is refused.
#[track_caller]
fn scatter_refused(
    selector: &str,
    shapes: [&[i64]; 3],
    codes: [u32; 3],
    reason: &str,
    build: impl Fn(&Graph, &[Id]) -> Id,
) {
    let graph = Graph::new();
    let operands: Vec<Id> = std::iter::zip(shapes, codes).map(|(shape, code)| graph.placeholder(shape, code)).collect();
    refused(selector, reason, || build(&graph, &operands));
}

/// Checks that all three forms refuse operands of rank 1, in this mode.
#[track_caller]
fn scatters_refused(codes: [u32; 3], mode: isize, reason: &str) {
    let shapes: [&[i64]; 3] = [&[2], &[2], &[2]];
    scatter_refused(AXIS, shapes, codes, reason, |graph, x| axis(graph, x, 0, mode));
    scatter_refused(ALONG, shapes, codes, reason, |graph, x| along(graph, x, 0, mode));
    let shapes: [&[i64]; 3] = [&[2], &[2], &[2, 1]];
    scatter_refused(ND, shapes, codes, reason, |graph, x| nd(graph, x, 0, mode));
}

#[test]
fn scatter_refuses_32_and_64_bit_integers_in_every_mode() {
    let _test = rule(Reported(
        "tillahoffmann/jax-mps gather_scatter_utils.h (\"scatter corrupts values > 2^24 identically to gather\"); \
         pytorch/pytorch#141948 on the extremes",
    ));
    for code in [I32, I64, U32, 64] {
        for mode in ADD..=SET {
            scatters_refused([code, code, I32], mode, "corrupted beyond 2^24");
        }
    }
}

#[test]
fn scatter_refuses_to_compute_with_bool() {
    let _test = rule(Assumed(
        "pedronahum/MetalHLO MPSGraphCompiler.swift: what the modes make of truth values is documented nowhere",
    ));
    for mode in ADD..SET {
        scatters_refused([BOOL, BOOL, I32], mode, "of Bool");
    }
    let graph = Graph::new();
    let x = [BOOL, BOOL, I32].map(|code| graph.placeholder(&[2], code));
    axis(&graph, &x, 0, SET);
}

#[test]
fn scatter_refuses_other_indices_than_32_and_64_bit_integers() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h"));
    for code in [F32, U32, I8] {
        scatters_refused([F32, F32, code], ADD, "must be Int32 or Int64");
    }
}

#[test]
fn scatter_refuses_unknown_modes() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h: 0 to 6"));
    for mode in [-1, 7] {
        scatters_refused(TYPES, mode, "not an MPSGraphScatterMode");
    }
}

#[test]
fn scatter_refuses_indices_of_another_rank_than_1() {
    let _test = rule(Reported("tillahoffmann/jax-mps src/pjrt_plugin/ops; pytorch/pytorch#121557"));
    let shapes: [&[i64]; 3] = [&[2, 2], &[2, 1], &[2, 1]];
    scatter_refused(AXIS, shapes, TYPES, "rank 1 is needed", |graph, x| axis(graph, x, 1, ADD));
}

#[test]
fn scatter_refuses_more_or_less_indices_than_updates() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h: as many indices as updates"));
    let shapes: [&[i64]; 3] = [&[2], &[2], &[3]];
    scatter_refused(AXIS, shapes, TYPES, "rank 1 is needed", |graph, x| axis(graph, x, 0, ADD));
}

#[test]
fn scatter_refuses_updates_that_differ_beyond_the_axis() {
    let _test =
        rule(Reported("pytorch/pytorch#94765; pytorch/pytorch#121557: ranks of data and updates that differ assert"));
    let reason = "must be the same but for axis";
    let shapes: [&[i64]; 3] = [&[2, 2], &[1], &[1]];
    scatter_refused(AXIS, shapes, TYPES, reason, |graph, x| axis(graph, x, 0, ADD));
    let shapes: [&[i64]; 3] = [&[2, 2], &[1, 1], &[1, 1]];
    scatter_refused(ALONG, shapes, TYPES, reason, |graph, x| along(graph, x, 1, SET));
}

#[test]
fn scatter_along_axis_refuses_updates_and_indices_of_different_shapes() {
    let _test = rule(Reported("pytorch/pytorch#121557"));
    let shapes: [&[i64]; 3] = [&[2, 2], &[2, 1], &[1, 1]];
    scatter_refused(ALONG, shapes, TYPES, "must have one shape", |graph, x| along(graph, x, 1, SET));
}

#[test]
fn scatter_along_axis_refuses_data_with_an_extent_of_1() {
    let _test = rule(Reported("pytorch/pytorch#121557: data [10, 100, 1] along axis 1 ends the process on macOS 14.3"));
    for (data, axis) in [(&[10, 100, 1][..], 1), (&[3, 1][..], 0), (&[1, 3][..], 1), (&[1, 3, 2][..], 1)] {
        scatter_refused(ALONG, [data; 3], TYPES, "has an extent of 1", |graph, x| along(graph, x, axis, ADD));
    }
}

#[test]
fn scatter_nd_refuses_updates_of_another_shape_than_the_indices_lead_to() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h"));
    let shapes: [&[i64]; 3] = [&[2, 2], &[2], &[2, 1]];
    scatter_refused(ND, shapes, TYPES, "must have the shape [2, 2]", |graph, x| nd(graph, x, 0, SET));
}

#[test]
fn scatter_nd_refuses_too_many_coordinates() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h"));
    let shapes: [&[i64]; 3] = [&[2, 2], &[2], &[2, 3]];
    scatter_refused(ND, shapes, TYPES, "too many coordinates", |graph, x| nd(graph, x, 0, SET));
}

#[test]
fn scatter_without_data_refuses_modes_that_do_not_begin_with_0() {
    let _test = rule(Assumed(
        "Apple's MPSGraphScatterNDOps.h has zeros for what is not updated, which only sums and replacements begin with",
    ));
    for mode in MUL..SET {
        let graph = Graph::new();
        let (updates, at) = (graph.placeholder(&[1], F32), graph.placeholder(&[1], I32));
        let selector = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:";
        let shape = numbers(&[2]);
        refused(selector, "not documented", || {
            msg!(
                graph.id(), selector,
                updates => Id, at => Id, shape => Id, 0 => isize, mode => isize, Id::NIL => Id; Id
            )
        });
    }
}

fn pair() -> Value {
    floats(&[2], &[1.0, 2.0])
}

#[test]
fn scatter_along_axis_skips_what_is_out_of_range() {
    let _test = rule(Documented("Apple's MPSGraphScatterNDOps.h; negative indices are not wrapped"));
    let operands = [pair(), floats(&[3], &[5.0, 6.0, 7.0]), ints(&[3], &[2, 1, -1])];
    let result = run_one(&operands, |graph, x| along(graph, x, 0, SET));
    assert_eq!(result, floats(&[2], &[1.0, 6.0]));
}

#[test]
fn other_scatters_out_of_range_fail_the_command_buffer() {
    let _test = rule(Assumed("Apple's MPSGraphScatterNDOps.h says of the form along an axis alone what it does there"));
    for index in [2, -1] {
        let operands = [pair(), floats(&[1], &[5.0]), ints(&[1], &[index])];
        let error = run_error(&operands, |graph, x| axis(graph, x, 0, ADD));
        let wanted = format!("{AXIS} index {index} is out of range");
        assert!(error.contains(&wanted), "{error}");
        let operands = [pair(), floats(&[1], &[5.0]), ints(&[1, 1], &[index])];
        let error = run_error(&operands, |graph, x| nd(graph, x, 0, SET));
        let wanted = format!("{ND} index {index} is out of range");
        assert!(error.contains(&wanted), "{error}");
    }
}

#[test]
fn setting_an_element_to_different_values_fails_the_command_buffer() {
    let _test = rule(Assumed(
        "Apple's MPSGraphScatterNDOps.h names no order of updates, so which of several stays is not defined",
    ));
    let operands = |last: f32| [pair(), floats(&[2], &[5.0, last]), ints(&[2], &[1, 1]), ints(&[2, 1], &[1, 1])];
    let by = |at: usize| move |x: &[Id]| [x[0], x[1], x[at]];
    let (line, point) = (by(2), by(3));
    let reason = "which of them stays is not defined";
    for error in [
        run_error(&operands(6.0)[..3], |graph, x| axis(graph, &line(x), 0, SET)),
        run_error(&operands(6.0)[..3], |graph, x| along(graph, &line(x), 0, SET)),
        run_error(&operands(6.0), |graph, x| nd(graph, &point(x), 0, SET)),
    ] {
        assert!(error.contains(reason), "{error}");
    }
    let same = run_one(&operands(5.0)[..3], |graph, x| axis(graph, x, 0, SET));
    assert_eq!(same, floats(&[2], &[1.0, 5.0]));
}
