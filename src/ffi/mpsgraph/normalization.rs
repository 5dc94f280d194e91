//! `MPSGraphNormalizationOps.h`: means.
//!
//! The reduced axes stay, with extent 1. Left out: variances, intermittently wrong on macOS 27
//! (pytorch/pytorch#197235); normalisation and its gradients, which `ops` writes out and which `mpsgraph-soft`
//! therefore does not have.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphNormalizationOps.h";

    /// Mean.
    fn mean(x, axes: &[isize]) = "meanOfTensor:axes:name:", since (11, 0);
}
