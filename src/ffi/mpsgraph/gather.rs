//! `MPSGraphGatherOps.h`: reading at indices.
//!
//! Integer data passes through f32 on its way: reinterpret wider integers as f32 first. Indices are i32, not negative
//! and inside the extent: what happens otherwise is not documented.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphGatherOps.h";

    /// Slices of `updates` along `axis`; the first `batch` axes of both operands go together.
    fn gather(updates, indices, axis: usize, batch: usize)
        = "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:", since (11, 0);

    /// Slices of `updates` at the index tuples along the last axis of `indices`.
    fn gather_nd(updates, indices, batch: usize) = "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:",
        since (11, 0);

    /// One element per index; the shapes agree except along `axis`. 0 for an index outside.
    fn gather_along_axis(axis: isize, updates, indices) = "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:",
        since (12, 3);
}
