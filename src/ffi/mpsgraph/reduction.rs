//! `MPSGraphReductionOps.h`: reductions. The reduced axes stay, with extent 1.
//!
//! An axis is one of the last four. 16-bit floats accumulate in 16 bits: cast up first.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphReductionOps.h";

    /// Sum.
    fn reduction_sum(x, axes: &[isize]) = "reductionSumWithTensor:axes:name:", since (11, 0);

    /// Product.
    fn reduction_product(x, axes: &[isize]) = "reductionProductWithTensor:axes:name:", since (11, 0);

    /// Largest element; NaN only if all are.
    fn reduction_maximum(x, axes: &[isize]) = "reductionMaximumWithTensor:axes:name:", since (11, 0);

    /// Smallest element; NaN only if all are.
    fn reduction_minimum(x, axes: &[isize]) = "reductionMinimumWithTensor:axes:name:", since (11, 0);

    /// Largest element; NaN if any is. Floats only.
    fn reduction_maximum_propagate_nan(x, axes: &[isize]) = "reductionMaximumPropagateNaNWithTensor:axes:name:",
        since (11, 0);

    /// Smallest element; NaN if any is. Floats only.
    fn reduction_minimum_propagate_nan(x, axes: &[isize]) = "reductionMinimumPropagateNaNWithTensor:axes:name:",
        since (11, 0);

    /// Whether all elements are true, in the dtype of the operand.
    fn reduction_and(x, axes: &[isize]) = "reductionAndWithTensor:axes:name:", since (12, 2);

    /// Whether any element is true, in the dtype of the operand.
    fn reduction_or(x, axes: &[isize]) = "reductionOrWithTensor:axes:name:", since (12, 2);
}

#[cfg(test)]
pub(super) fn exercise() {
    use super::{MPSGraph, MPSGraphTensor, Tensor};

    type Reduction = fn(&MPSGraph, &MPSGraphTensor, &[isize]) -> Tensor;
    /// What each makes of the rows (1, 2, 4) and (NaN, 3, 5).
    const FLOATS: [(Reduction, [f64; 2]); 6] = [
        (MPSGraph::reduction_sum, [7.0, f64::NAN]),
        (MPSGraph::reduction_product, [8.0, f64::NAN]),
        (MPSGraph::reduction_maximum, [4.0, 5.0]),
        (MPSGraph::reduction_minimum, [1.0, 3.0]),
        (MPSGraph::reduction_maximum_propagate_nan, [4.0, f64::NAN]),
        (MPSGraph::reduction_minimum_propagate_nan, [1.0, f64::NAN]),
    ];
    /// What each makes of the rows (1, 0) and (1, 1).
    const TRUTHS: [(Reduction, [f64; 2]); 2] =
        [(MPSGraph::reduction_and, [0.0, 1.0]), (MPSGraph::reduction_or, [1.0, 1.0])];

    // A graph for each: both name one axis, and MPSGraph's compiler may merge what is equal.
    for axis in [1, -1] {
        crate::ffi::exercise::check(|cases| {
            let graph = cases.graph.clone();
            let x = cases.floats(&[2, 3], &[1.0, 2.0, 4.0, f32::NAN, 3.0, 5.0]);
            let p = cases.integers(&[2, 2], &[1, 0, 1, 1]);
            for (operand, (reduction, expected)) in
                FLOATS.map(|case| (&x, case)).into_iter().chain(TRUTHS.map(|case| (&p, case)))
            {
                cases.gives(reduction(&graph, operand, &[axis]), &[2, 1], &expected);
            }
        });
    }
}
