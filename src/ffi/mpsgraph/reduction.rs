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

    /// Index of the largest element as i32, the first of equal ones; never that of a NaN (-1 if all are).
    fn reduction_arg_maximum(x, axis: isize) = "reductionArgMaximumWithTensor:axis:name:", since (12, 0);

    /// Index of the smallest element as i32, the first of equal ones; never that of a NaN (-1 if all are).
    fn reduction_arg_minimum(x, axis: isize) = "reductionArgMinimumWithTensor:axis:name:", since (12, 0);

    /// [`reduction_sum`](Self::reduction_sum) along one axis.
    fn reduction_sum_axis(x, axis: isize) = "reductionSumWithTensor:axis:name:", since (11, 0);

    /// [`reduction_product`](Self::reduction_product) along one axis.
    fn reduction_product_axis(x, axis: isize) = "reductionProductWithTensor:axis:name:", since (11, 0);

    /// [`reduction_maximum`](Self::reduction_maximum) along one axis.
    fn reduction_maximum_axis(x, axis: isize) = "reductionMaximumWithTensor:axis:name:", since (11, 0);

    /// [`reduction_minimum`](Self::reduction_minimum) along one axis.
    fn reduction_minimum_axis(x, axis: isize) = "reductionMinimumWithTensor:axis:name:", since (11, 0);

    /// [`reduction_maximum_propagate_nan`](Self::reduction_maximum_propagate_nan) along one axis.
    fn reduction_maximum_propagate_nan_axis(x, axis: isize) = "reductionMaximumPropagateNaNWithTensor:axis:name:",
        since (11, 0);

    /// [`reduction_minimum_propagate_nan`](Self::reduction_minimum_propagate_nan) along one axis.
    fn reduction_minimum_propagate_nan_axis(x, axis: isize) = "reductionMinimumPropagateNaNWithTensor:axis:name:",
        since (11, 0);

    /// [`reduction_and`](Self::reduction_and) along one axis.
    fn reduction_and_axis(x, axis: isize) = "reductionAndWithTensor:axis:name:", since (12, 2);

    /// [`reduction_or`](Self::reduction_or) along one axis.
    fn reduction_or_axis(x, axis: isize) = "reductionOrWithTensor:axis:name:", since (12, 2);
}
