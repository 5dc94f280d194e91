//! `MPSGraphMatrixMultiplicationOps.h`: matrix products.
//!
//! Left out: Hamming distances (integers only), and the attention form, wrong for many shapes by several reports.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphMatrixMultiplicationOps.h";

    /// The matrix product of the last two axes; the axes before broadcast. Floats of one dtype, rank 2 or more.
    fn matrix_multiplication(a, b) = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", since (11, 0);
}
