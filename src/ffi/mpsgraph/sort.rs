//! `MPSGraphSortOps.h`: sorting along an axis.
//!
//! An axis is one of the last four, and f32, f16, i32 and i64 are the dtypes that have kernels. Left out: the forms that
//! sort positions, which have been wrong for i64 from macOS 15.4 on (pytorch/pytorch#155560), which nobody promises to
//! keep equal elements in order, and which, in one graph with the sort of the same tensor, take its place
//! (pytorch/pytorch#94697).

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphSortOps.h";

    /// The elements of each row along `axis` in order. NaN goes by its sign, to one end or the other.
    fn sort(x, axis: isize, descending: bool) = "sortWithTensor:axis:descending:name:", since (13, 0);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2, 3], &[2.0, -1.0, 0.5, 3.0, 7.0, 5.0]);
        cases.gives(graph.sort(&x, 1, false), &[2, 3], &[-1.0, 0.5, 2.0, 3.0, 5.0, 7.0]);
        cases.gives(graph.sort(&x, -2, true), &[2, 3], &[3.0, 7.0, 5.0, 2.0, -1.0, 0.5]);
        let whole = cases.integers(&[3], &[16_777_217, -3, 16_777_216]);
        cases.gives(graph.sort(&whole, 0, false), &[3], &[-3.0, 16_777_216.0, 16_777_217.0]);
    });
}
