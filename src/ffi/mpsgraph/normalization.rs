//! `MPSGraphNormalizationOps.h`: means and variances.
//!
//! The reduced axes stay, with extent 1. Variances divide by the number of elements. Left out: normalisation itself and
//! its gradients, which `ops` writes out and which `mpsgraph-soft` therefore does not have.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphNormalizationOps.h";

    /// Mean.
    fn mean(x, axes: &[isize]) = "meanOfTensor:axes:name:", since (11, 0);

    /// Variance.
    fn variance(x, axes: &[isize]) = "varianceOfTensor:axes:name:", since (11, 0);

    /// Variance about a mean that is known already.
    fn variance_with_mean(x, mean, axes: &[isize]) = "varianceOfTensor:meanTensor:axes:name:", since (11, 0);
}
