//! One-hot tensors.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{BOOL, F32, Graph, I32, floats, ints, run};

/// Apple's MPSGraphOneHotOps.h: along the last axis, of Float32 and with 1 and 0 unless asked otherwise.
#[test]
fn forms() {
    let _alone = alone();
    let nil = Id::NIL;
    let results = run(&[ints(&[2], &[1, 3])], |graph, x| {
        let (graph, x) = (graph.id(), x[0]);
        let all = "oneHotWithIndicesTensor:depth:axis:dataType:onValue:offValue:name:";
        vec![
            msg!(graph, "oneHotWithIndicesTensor:depth:name:", x => Id, 3 => usize, nil => Id; Id),
            msg!(graph, "oneHotWithIndicesTensor:depth:axis:name:", x => Id, 2 => usize, 0 => usize, nil => Id; Id),
            msg!(graph, all, x => Id, 2 => usize, 1 => usize, I32 => u32, 5.0 => f64, -1.0 => f64, nil => Id; Id),
            msg!(graph, "oneHotWithIndicesTensor:depth:dataType:name:", x => Id, 4 => usize, I32 => u32, nil => Id; Id),
        ]
    });
    assert_eq!(results[0], floats(&[2, 3], &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]));
    assert_eq!(results[1], floats(&[2, 2], &[0.0, 0.0, 1.0, 0.0]));
    assert_eq!(results[2], ints(&[2, 2], &[-1, 5, -1, -1]));
    assert_eq!(results[3], ints(&[2, 4], &[0, 1, 0, 0, 0, 0, 0, 1]));
}

/// Checks that one-hot of indices of this type along this axis is refused.
#[track_caller]
fn one_hot_refused(code: u32, depth: usize, axis: usize, reason: &str) {
    let selector = "oneHotWithIndicesTensor:depth:axis:name:";
    let graph = Graph::new();
    let x = graph.placeholder(&[2], code);
    refused(selector, reason, || msg!(graph.id(), selector, x => Id, depth => usize, axis => usize, Id::NIL => Id; Id));
}

/// Apple's MPSGraphOneHotOps.h.
#[test]
fn one_hot_refuses_indices_that_are_not_integers() {
    let _alone = alone();
    for code in [F32, BOOL] {
        one_hot_refused(code, 2, 0, "only integers");
    }
}

/// Apple's MPSGraphOneHotOps.h.
#[test]
fn one_hot_refuses_a_depth_that_is_not_positive() {
    let _alone = alone();
    for depth in [0, usize::MAX] {
        one_hot_refused(I32, depth, 0, "it must be positive");
    }
}

/// Apple's MPSGraphOneHotOps.h: the axis is unsigned.
#[test]
fn one_hot_refuses_an_axis_outside_the_rank() {
    let _alone = alone();
    for axis in [2, usize::MAX] {
        one_hot_refused(I32, 2, axis, "is not one of 2");
    }
}

/// ChanLumerico/lucid MpsBuilder.mm.
#[test]
fn one_hot_refuses_negative_infinity() {
    let _alone = alone();
    for (on, off) in [(f64::NEG_INFINITY, 0.0), (0.0, f64::NEG_INFINITY)] {
        let selector = "oneHotWithIndicesTensor:depth:dataType:onValue:offValue:name:";
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I32);
        refused(selector, "-inf", || {
            msg!(
                graph.id(), selector,
                x => Id, 2 => usize, F32 => u32, on => f64, off => f64, Id::NIL => Id; Id
            )
        });
    }
}
