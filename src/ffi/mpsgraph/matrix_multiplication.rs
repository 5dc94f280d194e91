//! `MPSGraphMatrixMultiplicationOps.h`: matrix products.
//!
//! Left out: Hamming distances (integers only), and the attention form, wrong for many shapes by several reports.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphMatrixMultiplicationOps.h";

    /// The matrix product of the last two axes; the axes before broadcast. Floats of one dtype, rank 2 or more.
    fn matrix_multiplication(a, b) = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", since (11, 0);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let a = cases.floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let b = cases.floats(&[3, 1], &[1.0, 10.0, 100.0]);
        let product = graph.matrix_multiplication(&a, &b);
        cases.gives(product, &[2, 1], &[321.0, 654.0]);
    });
}
