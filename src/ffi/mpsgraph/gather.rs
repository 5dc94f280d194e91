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

    /// One element per index; the shapes agree except along `axis`. 0 for an index outside.
    fn gather_along_axis(axis: isize, updates, indices) = "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:",
        since (12, 3);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let columns = cases.integers(&[2], &[2, 0]);
        let gathered = graph.gather(&x, &columns, 1, 0);
        cases.gives(gathered, &[2, 2], &[3.0, 1.0, 6.0, 4.0]);
        let each = cases.integers(&[2, 1], &[2, 1]);
        let gathered = graph.gather_along_axis(-1, &x, &each);
        cases.gives(gathered, &[2, 1], &[3.0, 5.0]);
    });
}
