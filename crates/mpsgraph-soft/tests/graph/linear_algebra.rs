//! The band of a matrix.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{F32, Graph, ints, run};

const SELECTOR: &str = "bandPartWithTensor:numLower:numUpper:name:";

fn band(graph: &Graph, x: Id, lower: isize, upper: isize) -> Id {
    msg!(graph.id(), SELECTOR, x => Id, lower => isize, upper => isize, Id::NIL => Id; Id)
}

/// Apple's MPSGraphLinearAlgebraOps.h: a negative count keeps that whole side.
#[test]
fn triangles_and_diagonals() {
    let _alone = alone();
    let x = ints(&[1, 2, 3], &[1, 2, 3, 4, 5, 6]);
    let results = run(std::slice::from_ref(&x), |graph, x| {
        [(0, -1), (-1, 0), (0, 0), (-1, -1), (1, 1)].map(|(lower, upper)| band(graph, x[0], lower, upper)).to_vec()
    });
    assert_eq!(results[0], ints(&[1, 2, 3], &[1, 2, 3, 0, 5, 6]));
    assert_eq!(results[1], ints(&[1, 2, 3], &[1, 0, 0, 4, 5, 0]));
    assert_eq!(results[2], ints(&[1, 2, 3], &[1, 0, 0, 0, 5, 0]));
    assert_eq!(results[3], x);
    assert_eq!(results[4], ints(&[1, 2, 3], &[1, 2, 0, 4, 5, 6]));
}

/// Apple's MPSGraphLinearAlgebraOps.h: of the innermost matrix.
#[test]
fn band_part_refuses_vectors() {
    let _alone = alone();
    let graph = Graph::new();
    let vector = graph.placeholder(&[2], F32);
    refused(SELECTOR, "a band needs a matrix", || band(&graph, vector, 0, 0));
}
