//! Gathers.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{F32, Graph, I8, I32, I64, Value, bools, floats, ints, run_one, value};

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
    let _alone = alone();
    let rows = run_one(&[matrix(), ints(&[3], &[1, 0, 1])], |graph, x| {
        gather(graph, x, 0, 0)
    });
    assert_eq!(
        rows,
        floats(&[3, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    let columns = run_one(&[matrix(), ints(&[1, 2], &[2, 0])], |graph, x| {
        gather(graph, x, 1, 0)
    });
    assert_eq!(columns, floats(&[2, 1, 2], &[3.0, 1.0, 6.0, 4.0]));
    let batched = run_one(&[matrix(), value(I64, &[2, 1], &[2i64, 0])], |graph, x| {
        gather(graph, x, 1, 1)
    });
    assert_eq!(batched, floats(&[2, 1], &[3.0, 4.0]));
    let outside = run_one(
        &[bools(&[2], &[1, 1]), ints(&[3], &[1, 2, -1])],
        |graph, x| gather(graph, x, 0, 0),
    );
    assert_eq!(outside, bools(&[3], &[1, 0, 0]));
}

#[test]
fn by_coordinates() {
    let _alone = alone();
    let elements = run_one(&[matrix(), ints(&[2, 2], &[1, 2, 0, 0])], |graph, x| {
        gather_nd(graph, x, 0)
    });
    assert_eq!(elements, floats(&[2], &[6.0, 1.0]));
    let rows = run_one(&[matrix(), ints(&[1, 1], &[1])], |graph, x| {
        gather_nd(graph, x, 0)
    });
    assert_eq!(rows, floats(&[1, 3], &[4.0, 5.0, 6.0]));
    let batched = run_one(&[matrix(), ints(&[2, 1], &[1, 2])], |graph, x| {
        gather_nd(graph, x, 1)
    });
    assert_eq!(batched, floats(&[2], &[2.0, 6.0]));
}

#[test]
fn along_an_axis() {
    let _alone = alone();
    let result = run_one(&[matrix(), ints(&[2, 2], &[2, 0, 1, 7])], |graph, x| {
        along_axis(graph, x, -1)
    });
    assert_eq!(result, floats(&[2, 2], &[3.0, 1.0, 5.0, 0.0]));
    let bytes = value(I8, &[2, 1], &[3i8, -4]);
    let result = run_one(&[bytes, ints(&[1, 1], &[1])], |graph, x| {
        along_axis(graph, x, 0)
    });
    assert_eq!(result, value(I8, &[1, 1], &[-4i8]));
}

#[test]
fn refusals() {
    let _alone = alone();
    type Build = fn(&Graph, &[Id]) -> Id;
    let on =
        |updates: &[i64], code: u32, indices: &[i64], index: u32, reason: &str, build: Build| {
            let graph = Graph::new();
            let operands = [
                graph.placeholder(updates, code),
                graph.placeholder(indices, index),
            ];
            refused("ather", reason, || build(&graph, &operands));
        };
    on(&[2], I32, &[1], I32, "beyond 2^24", |graph, x| {
        gather(graph, x, 0, 0)
    });
    on(&[2], I64, &[1], I32, "beyond 2^24", |graph, x| {
        gather_nd(graph, x, 0)
    });
    on(&[2], F32, &[1], F32, "Int32 or Int64", |graph, x| {
        gather(graph, x, 0, 0)
    });
    on(
        &[2],
        F32,
        &[1],
        I32,
        "dimension 1 is not one of 1",
        |graph, x| gather(graph, x, 1, 0),
    );
    on(
        &[2, 2],
        F32,
        &[2, 1],
        I32,
        "1 batch dimensions for axis 0",
        |graph, x| gather(graph, x, 0, 1),
    );
    on(
        &[2, 2],
        F32,
        &[3, 1],
        I32,
        "are not the same",
        |graph, x| gather(graph, x, 1, 1),
    );
    on(
        &[2, 2],
        F32,
        &[1, 3],
        I32,
        "too many coordinates",
        |graph, x| gather_nd(graph, x, 0),
    );
    on(&[2, 2], F32, &[2], I32, "rank 0", |graph, x| {
        gather_nd(graph, x, 0)
    });
    on(
        &[2, 2],
        F32,
        &[1, 1],
        I32,
        "must be the same but for axis 1",
        |graph, x| along_axis(graph, x, 1),
    );
    on(
        &[2, 2],
        F32,
        &[2],
        I32,
        "must be the same but for axis 0",
        |graph, x| along_axis(graph, x, 0),
    );
    let graph = Graph::new();
    let operands = [graph.scalar(1.0, F32), graph.placeholder(&[1], I32)];
    refused(GATHER, "rank 0", || gather(&graph, &operands, 0, 0));
}
