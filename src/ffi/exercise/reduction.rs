//! `MPSGraphReductionOps.h`.

use super::Sheet;
use crate::ffi::Tensor;
use crate::ffi::mpsgraph::{MPSGraph, MPSGraphTensor};

type OverAxes = fn(&MPSGraph, &MPSGraphTensor, &[isize]) -> Tensor;
type OverAxis = fn(&MPSGraph, &MPSGraphTensor, isize) -> Tensor;

/// Both forms of a reduction, and what they make of the rows (1, 2, 4) and (NaN, 3, 5).
const FLOATS: [(OverAxes, OverAxis, [f64; 2]); 6] = [
    (MPSGraph::reduction_sum, MPSGraph::reduction_sum_axis, [7.0, f64::NAN]),
    (MPSGraph::reduction_product, MPSGraph::reduction_product_axis, [8.0, f64::NAN]),
    (MPSGraph::reduction_maximum, MPSGraph::reduction_maximum_axis, [4.0, 5.0]),
    (MPSGraph::reduction_minimum, MPSGraph::reduction_minimum_axis, [1.0, 3.0]),
    (MPSGraph::reduction_maximum_propagate_nan, MPSGraph::reduction_maximum_propagate_nan_axis, [4.0, f64::NAN]),
    (MPSGraph::reduction_minimum_propagate_nan, MPSGraph::reduction_minimum_propagate_nan_axis, [1.0, f64::NAN]),
];

/// What they make of (1, 0) and (1, 1).
const TRUTHS: [(OverAxes, OverAxis, [f64; 2]); 2] = [
    (MPSGraph::reduction_and, MPSGraph::reduction_and_axis, [0.0, 1.0]),
    (MPSGraph::reduction_or, MPSGraph::reduction_or_axis, [1.0, 1.0]),
];

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2, 3], &[1.0, 2.0, 4.0, f32::NAN, 3.0, 5.0]);
    let p = sheet.integers(&[2, 2], &[1, 0, 1, 1]);
    let cases = FLOATS.map(|case| (&x, case)).into_iter().chain(TRUTHS.map(|case| (&p, case)));
    for (operand, (over_axes, over_axis, expected)) in cases {
        sheet.gives(over_axes(&graph, operand, &[1]), &[2, 1], &expected);
        sheet.gives(over_axis(&graph, operand, -1), &[2, 1], &expected);
    }
    let largest = graph.reduction_arg_maximum(&x, 1);
    sheet.gives(largest, &[2, 1], &[2.0, 2.0]);
    let smallest = graph.reduction_arg_minimum(&x, 1);
    sheet.gives(smallest, &[2, 1], &[0.0, 1.0]);
}

#[test]
fn reductions() {
    super::sheet::check(fill);
}
