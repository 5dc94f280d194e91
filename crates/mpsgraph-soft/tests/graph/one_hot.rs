//! One-hot tensors.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{F32, Graph, I32, floats, ints, run};

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

#[test]
fn refusals() {
    let _alone = alone();
    let selector = "oneHotWithIndicesTensor:depth:axis:name:";
    let on = |code: u32, depth: usize, axis: usize, reason: &str| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], code);
        refused(
            selector,
            reason,
            || msg!(graph.id(), selector, x => Id, depth => usize, axis => usize, Id::NIL => Id; Id),
        );
    };
    on(F32, 2, 0, "only integers");
    on(I32, 0, 0, "positive");
    on(I32, 2, 2, "dimension 2 is not one of 2");
}
