//! Scatters.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, numbers, refused};
use super::session::{F16, F32, Graph, I32, Value, floats, ints, run, run_one};

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
    let _alone = alone();
    let data = floats(&[4], &[8.0, 6.0, 4.0, 2.0]);
    let operands = [data, floats(&[3], &[2.0, 3.0, 9.0]), ints(&[3], &[1, 2, 7])];
    let results = run(&operands, |graph, x| {
        (0..7).map(|mode| axis(graph, x, 0, mode)).collect()
    });
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
    let _alone = alone();
    let operands = [
        floats(&[2, 2], &[0.0; 4]),
        floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ints(&[3], &[1, 1, 0]),
    ];
    let result = run_one(&operands, |graph, x| axis(graph, x, -1, ADD));
    assert_eq!(result, floats(&[2, 2], &[3.0, 3.0, 6.0, 9.0]));
}

#[test]
fn by_coordinates() {
    let _alone = alone();
    let data = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let elements = [
        data.clone(),
        floats(&[2], &[10.0, 20.0]),
        ints(&[2, 2], &[0, 1, 1, 0]),
    ];
    let result = run_one(&elements, |graph, x| nd(graph, x, 0, ADD));
    assert_eq!(result, floats(&[2, 2], &[1.0, 12.0, 23.0, 4.0]));
    let rows = [
        data.clone(),
        floats(&[1, 2], &[7.0, 8.0]),
        ints(&[1, 1], &[1]),
    ];
    let result = run_one(&rows, |graph, x| nd(graph, x, 0, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 2.0, 7.0, 8.0]));
    let batched = [data, floats(&[2], &[5.0, 6.0]), ints(&[2, 1], &[1, 0])];
    let result = run_one(&batched, |graph, x| nd(graph, x, 1, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 5.0, 6.0, 4.0]));
}

#[test]
fn along_an_axis() {
    let _alone = alone();
    let operands = [
        floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        floats(&[2, 1], &[5.0, 6.0]),
        ints(&[2, 1], &[1, 0]),
    ];
    let result = run_one(&operands, |graph, x| along(graph, x, 1, SET));
    assert_eq!(result, floats(&[2, 2], &[1.0, 5.0, 6.0, 4.0]));
}

#[test]
fn on_zeros() {
    let _alone = alone();
    let operands: [Value; 3] = [
        floats(&[2], &[5.0, 6.0]),
        ints(&[2], &[2, 0]),
        ints(&[2, 1], &[2, 0]),
    ];
    let results = run(&operands, |graph, x| {
        let shape = numbers(&[3]);
        let (id, nil) = (graph.id(), Id::NIL);
        let axis = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:";
        let along = "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:";
        let nd = "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:name:";
        let nd_mode = "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:";
        vec![
            msg!(id, axis, x[0] => Id, x[1] => Id, shape => Id, 0 => isize, SET => isize, nil => Id; Id),
            msg!(id, along, 0 => isize, x[0] => Id, x[1] => Id, shape => Id, ADD => isize, nil => Id; Id),
            msg!(id, nd, x[0] => Id, x[2] => Id, shape => Id, 0 => usize, nil => Id; Id),
            msg!(id, nd_mode, x[0] => Id, x[2] => Id, shape => Id, 0 => usize, 1 => isize, nil => Id; Id),
        ]
    });
    for result in &results[..3] {
        assert_eq!(*result, floats(&[3], &[6.0, 0.0, 5.0]));
    }
    assert_eq!(results[3], floats(&[3], &[-6.0, 0.0, -5.0]));
}

#[test]
fn refusals() {
    let _alone = alone();
    type Build = fn(&Graph, &[Id]) -> Id;
    let on = |shapes: [&[i64]; 3], codes: [u32; 3], reason: &str, build: Build| {
        let graph = Graph::new();
        let operands: Vec<Id> = shapes
            .iter()
            .zip(codes)
            .map(|(shape, code)| graph.placeholder(shape, code))
            .collect();
        refused("scatter", reason, || build(&graph, &operands));
    };
    const F: [u32; 3] = [F32, F32, I32];
    on(
        [&[2], &[2], &[2]],
        [I32, I32, I32],
        "beyond 2^24",
        |graph, x| axis(graph, x, 0, ADD),
    );
    on(
        [&[2], &[2], &[2]],
        [F32, F16, I32],
        "differ in element type",
        |graph, x| axis(graph, x, 0, ADD),
    );
    on(
        [&[2], &[2], &[2]],
        [F32, F32, F32],
        "Int32 or Int64",
        |graph, x| axis(graph, x, 0, ADD),
    );
    on(
        [&[2], &[2], &[2]],
        F,
        "no MPSGraphScatterMode",
        |graph, x| axis(graph, x, 0, 7),
    );
    on([&[2], &[2], &[3]], F, "rank 1 is needed", |graph, x| {
        axis(graph, x, 0, ADD)
    });
    on(
        [&[2, 2], &[2, 1], &[2, 1]],
        F,
        "rank 1 is needed",
        |graph, x| axis(graph, x, 1, ADD),
    );
    on(
        [&[2, 2], &[1], &[1]],
        F,
        "must be the same but for axis",
        |graph, x| axis(graph, x, 0, ADD),
    );
    on(
        [&[2, 2], &[2, 1], &[1, 1]],
        F,
        "must have one shape",
        |graph, x| along(graph, x, 1, SET),
    );
    on(
        [&[2, 2], &[1, 1], &[1, 1]],
        F,
        "must be the same but for axis",
        |graph, x| along(graph, x, 1, SET),
    );
    on(
        [&[2, 2], &[2], &[2, 1]],
        F,
        "must have the shape [2, 2]",
        |graph, x| nd(graph, x, 0, SET),
    );
    on(
        [&[2, 2], &[2], &[2, 3]],
        F,
        "too many coordinates",
        |graph, x| nd(graph, x, 0, SET),
    );
    let graph = Graph::new();
    let (updates, at) = (graph.placeholder(&[1], F32), graph.placeholder(&[1], I32));
    let selector = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:";
    let shape = numbers(&[2]);
    refused(selector, "not documented", || {
        msg!(
            graph.id(), selector,
            updates => Id, at => Id, shape => Id, 0 => isize, MUL => isize, Id::NIL => Id; Id
        )
    });
}
