//! Averages over parts of an axis that are as equal as they can be.

use std::ops::Range;

use super::average::Spans;
use super::window::{Plane, Window, integers};
use crate::ffi::{self, DataType};

/// `outputs` parts of an axis of `input` elements: part `i` begins at `i * input / outputs`, rounded down, and ends at
/// `(i + 1) * input / outputs`, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Even {
    pub input: usize,
    pub outputs: usize,
}

impl Even {
    /// Windows if all parts are equally long and equally far from each other, such as 3 of 13 elements every 2.
    pub fn spans(self) -> Spans {
        let Even { input, outputs } = self;
        if input == 0 || outputs == 0 {
            return Spans::Even(self);
        }
        let kernel = self.part(0).len();
        let stride = if outputs == 1 { kernel } else { self.part(1).start };
        let is_regular = |output| self.part(output) == (output * stride..output * stride + kernel);
        if stride == 0 || !(input.is_multiple_of(outputs) || (0..outputs).all(is_regular)) {
            return Spans::Even(self);
        }
        let window = Window { input, outputs, kernel, stride, padding: 0, dilation: 1 };
        Spans::Windows { window, count_include_pad: false }
    }

    /// The elements of which this output is made.
    pub fn part(&self, output: usize) -> Range<usize> {
        output * self.input / self.outputs..((output + 1) * self.input).div_ceil(self.outputs)
    }

    /// Sums of the parts.
    pub(super) fn sums(&self, plane: &Plane<'_>, x: &ffi::Tensor) -> ffi::Tensor {
        let parts: Vec<Range<usize>> = (0..self.outputs).map(|output| self.part(output)).collect();
        of_ranges(plane, x, &parts)
    }

    /// The gradient of [`Even::sums`]: each element gets the sum of `x` over the parts that it is in. Those of element
    /// `i` reach from `i * outputs / input`, rounded down, to `(i + 1) * outputs / input`, rounded up: they are the
    /// part `i` of the inverse division, in which the two extents are exchanged.
    pub(super) fn shares(&self, plane: &Plane<'_>, x: &ffi::Tensor) -> ffi::Tensor {
        Even { input: self.outputs, outputs: self.input }.sums(plane, x)
    }
}

/// Sums of ranges of the plane's axis: of few ranges one after the other, of short ones by their first elements, their
/// second ones, and so on.
pub(super) fn of_ranges(plane: &Plane<'_>, x: &ffi::Tensor, ranges: &[Range<usize>]) -> ffi::Tensor {
    let graph = plane.graph;
    let longest = ranges.iter().map(|range| range.len()).max().unwrap_or(0);
    if ranges.len() < longest && ranges.iter().all(|range| !range.is_empty()) {
        let sum = |range: &Range<usize>| {
            let part = plane.part(x, range.start, range.len(), 1);
            graph.reduction_sum(&part, &[plane.axis as isize])
        };
        let sums: Vec<ffi::Tensor> = ranges.iter().map(sum).collect();
        return crate::lowering::axis::joined(graph, &sums, plane.axis);
    }
    let zero = graph.constant_with_scalar(0.0, &[1], DataType::F32);
    let shape = {
        let mut shape = [1; 3];
        shape[plane.axis] = ranges.len();
        shape
    };
    let nth = |n: usize| {
        let last = plane.shape[plane.axis] - 1;
        let at = ranges.iter().map(|range| (range.start + n).min(range.end.saturating_sub(1)).min(last) as i64);
        let at = integers(graph, &at.collect::<Vec<_>>(), &[ranges.len()]);
        let elements = graph.gather(x, &at, plane.axis, 0);
        if ranges.iter().all(|range| range.len() > n) {
            return elements;
        }
        // Selected, not multiplied: an element that is not in the range may be NaN.
        let inside: Vec<f32> = ranges.iter().map(|range| if range.len() > n { 1.0 } else { 0.0 }).collect();
        let inside = graph.constant_with_data(bytemuck::cast_slice(&inside), &shape, DataType::F32);
        graph.select(&graph.not_equal(&inside, &zero), &elements, &zero)
    };
    (1..longest).fold(nth(0), |sum, n| graph.addition(&sum, &nth(n)))
}
