//! The four pixels next to each sample.
//!
//! A sample a pixel or more outside is 0 and has no gradient, whatever is next to it; else each corner outside counts
//! as 0 by itself. A sample at NaN is NaN, and its gradient goes to the first pixels, as in burn-flex.

use burn_backend::DType;

use super::layout::Layout;
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;
use crate::lowering::axis::part;
use crate::ops::convolution::extents::Axis;

/// The corners of each row of the columns.
pub(super) struct Corners {
    /// Their rows among the pixels as i32, shape `(rows)`: above and below, left and right. The row behind the last one
    /// stands for pixels outside.
    pub rows: [[ffi::Tensor; 2]; 2],
    /// Of y and of x: the weights of the corners before and behind, shape `(rows, 1)`.
    pub weights: [[ffi::Tensor; 2]; 2],
    /// Whether the sample is a pixel or more outside, shape `(rows, 1)`.
    pub far: ffi::Tensor,
}

/// A corner along one axis.
struct Neighbour {
    /// As i32, 0 for those outside.
    index: ffi::Tensor,
    is_inside: ffi::Tensor,
}

impl Corners {
    /// The corners for `offsets (2, rows)`.
    pub fn of(cx: &Lowering<'_>, layout: &Layout, offsets: &ffi::Tensor) -> Self {
        let graph = cx.graph();
        let number = |value: f64| cx.constant(value, DType::F32);
        let places = [0, 1].map(|axis| place(cx, layout, offsets, axis));
        let far = [0, 1].map(|axis| {
            let before = graph.less_than_or_equal_to(&places[axis], &number(-1.0));
            let behind = graph.greater_than_or_equal_to(&places[axis], &number(layout.axes[axis].input as f64));
            graph.logical_or(&before, &behind)
        });
        let far = graph.logical_or(&far[0], &far[1]);
        let low = places.each_ref().map(|place| graph.floor(place));
        let weights = [0, 1].map(|axis| {
            // Far places may be infinite.
            let behind = graph.select(&far, &number(0.0), &graph.subtraction(&places[axis], &low[axis]));
            [graph.subtraction(&number(1.0), &behind), behind]
        });
        let near = graph.not(&far);
        let [y, x] = [0, 1].map(|axis| neighbours(cx, &layout.axes[axis], &low[axis]));
        let lines = y.map(|line| {
            let index = graph.multiplication(&line.index, &cx.constant(layout.axes[1].input as f64, DType::I32));
            Neighbour { index, is_inside: graph.logical_and(&line.is_inside, &near) }
        });
        let outside = cx.constant(layout.pixel_rows() as f64, DType::I32);
        let first = first_rows(cx, layout);
        let rows = lines.each_ref().map(|line| {
            x.each_ref().map(|column| {
                let row = row_of(cx, layout, &graph.addition(&line.index, &column.index), first.as_ref());
                let is_inside = graph.logical_and(&line.is_inside, &column.is_inside);
                graph.reshape(&graph.select(&is_inside, &row, &outside), &[layout.rows()])
            })
        });
        Self { rows, weights, far }
    }
}

/// Where the samples are along one axis, shape `(rows, 1)`: the usual place and, added to that, the offset.
fn place(cx: &Lowering<'_>, layout: &Layout, offsets: &ffi::Tensor, axis: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let Axis { output, window, .. } = layout.axes[axis];
    // The output's axis, and what is inside it but for the taps.
    let inner = layout.bundles * if axis == 0 { layout.axes[1].output } else { 1 };
    let taps = layout.taps();
    let view = [layout.rows() / (output * inner * taps), output, inner, taps];
    let offset = part(graph, offsets, &[2, layout.rows()], 0, [axis, axis + 1]);
    let number = |value: usize| cx.constant(value as f64, DType::F32);
    let start = graph.cast(&graph.coordinate_along_axis(1, &[1, output, 1, 1]), DataType::F32);
    let start = graph.multiplication(&start, &number(window.stride));
    let start = graph.subtraction(&start, &number(window.padding[0]));
    let width = layout.axes[1].filter;
    let tap = |tap: usize| if axis == 0 { tap / width } else { tap % width };
    let steps: Vec<f32> = (0..taps).map(|at| (tap(at) * window.dilation) as f32).collect();
    let steps = graph.constant_with_data(bytemuck::cast_slice(&steps), &[1, 1, 1, taps], DataType::F32);
    let place = graph.addition(&graph.addition(&start, &steps), &graph.reshape(&offset, &view));
    graph.reshape(&place, &[layout.rows(), 1])
}

/// The neighbours before and behind; `low` is the one before. Of a sample that is not far, only the first can be in
/// front of the image, and only the second behind it.
fn neighbours(cx: &Lowering<'_>, axis: &Axis, low: &ffi::Tensor) -> [Neighbour; 2] {
    let graph = cx.graph();
    let [zero, end] = [0, axis.input].map(|value| cx.constant(value as f64, DType::F32));
    let high = graph.addition(low, &cx.constant(1.0, DType::F32));
    // Not NaN and not far either, which i32 may not hold.
    let index = |number: &ffi::Tensor| {
        let is_known =
            graph.logical_and(&graph.greater_than_or_equal_to(number, &zero), &graph.less_than(number, &end));
        graph.cast(&graph.select(&is_known, number, &zero), DataType::I32)
    };
    // NaN is in front of the image, but not behind it.
    let before = graph.greater_than_or_equal_to(low, &zero);
    let behind = graph.not(&graph.greater_than_or_equal_to(&high, &end));
    [Neighbour { index: index(low), is_inside: before }, Neighbour { index: index(&high), is_inside: behind }]
}

/// The rows of bundles in the first pixel of each sample's image, `(weight groups * batch, 1, bundles, 1)`; nothing if
/// all are the row 0.
fn first_rows(cx: &Lowering<'_>, layout: &Layout) -> Option<ffi::Tensor> {
    let graph = cx.graph();
    let Layout { batch, weight_groups, bundles, axes: [height, width], .. } = *layout;
    if [batch, weight_groups, bundles] == [1, 1, 1] {
        return None;
    }
    let counted = |axis: usize, shape: &[usize], step: usize| {
        let count = graph.coordinate_along_axis(axis as isize, shape);
        graph.multiplication(&count, &cx.constant(step as f64, DType::I32))
    };
    let image = height.input * width.input * layout.all_bundles();
    let first = graph.addition(&counted(0, &[weight_groups, 1], bundles), &counted(1, &[1, batch], image));
    let first = graph.reshape(&first, &[weight_groups * batch, 1, 1, 1]);
    Some(graph.addition(&first, &counted(2, &[1, 1, bundles, 1], 1)))
}

/// The row of a sample's bundle in the pixel `pixel` of its image, `(rows, 1)`.
fn row_of(cx: &Lowering<'_>, layout: &Layout, pixel: &ffi::Tensor, first: Option<&ffi::Tensor>) -> ffi::Tensor {
    let Some(first) = first else { return pixel.clone() };
    let graph = cx.graph();
    let row = graph.multiplication(pixel, &cx.constant(layout.all_bundles() as f64, DType::I32));
    let view = [layout.weight_groups * layout.batch, layout.positions(), layout.bundles, layout.taps()];
    graph.reshape(&graph.addition(&graph.reshape(&row, &view), first), &[layout.rows(), 1])
}
