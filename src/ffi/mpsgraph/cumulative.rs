//! `MPSGraphCumulativeOps.h`: running sums, products and extremes along an axis.
//!
//! An axis is one of the last four. 16-bit floats accumulate in 16 bits: cast up first.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphCumulativeOps.h";

    /// Sums of each element and those before it along `axis`.
    fn cumulative_sum(x, axis: isize) = "cumulativeSumWithTensor:axis:name:", since (13, 0);

    /// Products of each element and those before it along `axis`.
    fn cumulative_product(x, axis: isize) = "cumulativeProductWithTensor:axis:name:", since (13, 0);

    /// The smallest of each element and those before it along `axis`; NaN is skipped.
    fn cumulative_minimum(x, axis: isize) = "cumulativeMinimumWithTensor:axis:name:", since (13, 0);

    /// The largest of each element and those before it along `axis`; NaN is skipped.
    fn cumulative_maximum(x, axis: isize) = "cumulativeMaximumWithTensor:axis:name:", since (13, 0);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2, 3], &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        cases.gives(graph.cumulative_sum(&x, 1), &[2, 3], &[1.0, 3.0, 7.0, 8.0, 24.0, 56.0]);
        cases.gives(graph.cumulative_product(&x, 1), &[2, 3], &[1.0, 2.0, 8.0, 8.0, 128.0, 4096.0]);
        let y = cases.floats(&[4], &[2.0, f32::NAN, 3.0, 1.0]);
        cases.gives(graph.cumulative_minimum(&y, 0), &[4], &[2.0, 2.0, 2.0, 1.0]);
        cases.gives(graph.cumulative_maximum(&y, 0), &[4], &[2.0, 2.0, 3.0, 3.0]);
        cases.gives(graph.cumulative_sum(&x, -2), &[2, 3], &[1.0, 2.0, 4.0, 9.0, 18.0, 36.0]);
    });
}
