//! Reductions, means and variances.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, numbers, refused};
use super::session::{BOOL, F32, Graph, I8, I32, bools, close, floats, ints, run, run_one, value};

const NAN: f32 = f32::NAN;

#[test]
fn over_an_axis() {
    let _alone = alone();
    let cases: &[(&str, [f32; 2])] = &[
        ("Sum", [6.0, -1.0]),
        ("Product", [6.0, -8.0]),
        ("Minimum", [1.0, -4.0]),
        ("Maximum", [3.0, 2.0]),
    ];
    let results = run(
        &[floats(&[2, 3], &[1.0, 2.0, 3.0, 2.0, -4.0, 1.0])],
        |graph, x| {
            let name = |name: &str| format!("reduction{name}WithTensor:axis:name:");
            cases
                .iter()
                .map(|(op, _)| graph.axis_op(&name(op), x[0], -1))
                .collect()
        },
    );
    for ((_, wanted), result) in cases.iter().zip(&results) {
        assert_eq!(*result, floats(&[2, 1], wanted));
    }
}

#[test]
fn over_axes() {
    let _alone = alone();
    let selector = "reductionSumWithTensor:axes:name:";
    let x = ints(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
    let results = run(std::slice::from_ref(&x), |graph, x| {
        let sum = |axes: Id| graph.op(selector, &[x[0], axes]);
        vec![
            sum(numbers(&[0, 2])),
            sum(numbers(&[-3])),
            sum(numbers(&[2, 2, -1])),
            sum(Id::NIL),
            sum(numbers(&[])),
        ]
    });
    assert_eq!(results[0], ints(&[1, 1, 1], &[21]));
    assert_eq!(results[1], ints(&[1, 1, 3], &[5, 7, 9]));
    assert_eq!(results[2], ints(&[2, 1, 1], &[6, 15]));
    assert_eq!(results[3], ints(&[1, 1, 1], &[21]));
    assert_eq!(results[4], x);
}

#[test]
fn nan_is_skipped_unless_asked_for() {
    let _alone = alone();
    let cases: &[(&str, [f32; 2])] = &[
        ("Minimum", [1.0, f32::INFINITY]),
        ("Maximum", [2.0, f32::NEG_INFINITY]),
        ("MinimumPropagateNaN", [NAN, NAN]),
        ("MaximumPropagateNaN", [NAN, NAN]),
    ];
    let results = run(
        &[floats(&[2, 3], &[1.0, NAN, 2.0, NAN, NAN, NAN])],
        |graph, x| {
            let name = |name: &str| format!("reduction{name}WithTensor:axis:name:");
            let mut tensors: Vec<Id> = cases
                .iter()
                .map(|(op, _)| graph.axis_op(&name(op), x[0], 1))
                .collect();
            tensors.push(graph.axis_op(&name("ArgMaximum"), x[0], 1));
            tensors.push(graph.axis_op(&name("ArgMinimum"), x[0], 1));
            tensors
        },
    );
    for ((_, wanted), result) in cases.iter().zip(&results) {
        close(result, &[2, 1], wanted);
    }
    assert_eq!(results[4], ints(&[2, 1], &[2, -1]));
    assert_eq!(results[5], ints(&[2, 1], &[0, -1]));
}

#[test]
fn logical_reductions_keep_the_type() {
    let _alone = alone();
    let result = run(
        &[bools(&[2, 2], &[1, 0, 1, 1]), ints(&[2], &[0, 7])],
        |graph, x| {
            vec![
                graph.axis_op("reductionAndWithTensor:axis:name:", x[0], 1),
                graph.op("reductionOrWithTensor:axes:name:", &[x[0], Id::NIL]),
                graph.axis_op("reductionOrWithTensor:axis:name:", x[1], 0),
            ]
        },
    );
    assert_eq!(result[0], bools(&[2, 1], &[0, 1]));
    assert_eq!(result[1], bools(&[1, 1], &[1]));
    assert_eq!(result[2], ints(&[1], &[1]));
}

#[test]
fn means_and_variances() {
    let _alone = alone();
    let x = floats(&[2, 2], &[1.0, 3.0, 2.0, 10.0]);
    let results = run(&[x, floats(&[2, 1], &[0.0, 6.0])], |graph, x| {
        vec![
            graph.op("meanOfTensor:axes:name:", &[x[0], numbers(&[1])]),
            graph.op("varianceOfTensor:axes:name:", &[x[0], numbers(&[-1])]),
            graph.op(
                "varianceOfTensor:meanTensor:axes:name:",
                &[x[0], x[1], numbers(&[1])],
            ),
        ]
    });
    close(&results[0], &[2, 1], &[2.0, 6.0]);
    close(&results[1], &[2, 1], &[1.0, 16.0]);
    close(&results[2], &[2, 1], &[5.0, 16.0]);
    let means = run_one(
        &[value(I8, &[2, 3], &[100i8, 100, 101, -1, -1, 0])],
        |graph, x| graph.op("meanOfTensor:axes:name:", &[x[0], numbers(&[1])]),
    );
    assert_eq!(means, value(I8, &[2, 1], &[100i8, 0]));
}

#[test]
fn refusals() {
    let _alone = alone();
    let on = |extents: &[i64], code: u32, op: &str, axis: isize, reason: &str| {
        let graph = Graph::new();
        let x = graph.placeholder(extents, code);
        let selector = format!("reduction{op}WithTensor:axis:name:");
        refused(&selector, reason, || graph.axis_op(&selector, x, axis));
    };
    on(&[2, 2], F32, "Sum", 2, "not one of 2 dimensions");
    on(&[2, 2], F32, "Sum", -3, "not one of 2 dimensions");
    on(&[2, 1, 1, 1, 1], F32, "Sum", 0, "last four");
    on(&[2, 1, 1, 1, 1], F32, "ArgMaximum", -5, "last four");
    on(&[2], I32, "MaximumPropagateNaN", 0, "only floats");
    on(&[2], BOOL, "Sum", 0, "bool is not a number");
    let graph = Graph::new();
    let scalar = graph.scalar(1.0, F32);
    let selector = "reductionSumWithTensor:axis:name:";
    refused(selector, "rank 0", || graph.axis_op(selector, scalar, 0));
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 2, 2, 2, 2], F32);
    let selector = "reductionSumWithTensor:axes:name:";
    refused(selector, "last four", || graph.op(selector, &[x, Id::NIL]));
}
