//! Maxima of windows and their positions, one axis after the other.

use burn_backend::DType;

use super::window::{Fold, Plane, Window, fold, integers};
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;

/// Maxima of the windows of `x`, f32 of `planes` planes. The node's scalar is minus infinity.
pub(super) fn maxima(cx: &Lowering<'_>, x: ffi::Tensor, planes: usize, windows: &[Window; 2]) -> ffi::Tensor {
    let mut shape = [planes, windows[0].input, windows[1].input];
    let mut x = x;
    for (axis, window) in [1, 2].into_iter().zip(windows) {
        if window.is_identity() {
            continue;
        }
        let plane = Plane { graph: cx.graph(), shape, axis };
        x = if window.is_tiling() && window.kernel > 2 {
            plane.tiles(&x, window, |tiles, axes| plane.graph.reduction_maximum_propagate_nan(tiles, axes))
        } else {
            fold(&Values(plane), &padded(cx, &plane, &x, window), window)
        };
        shape = plane.with(window.outputs);
    }
    x
}

/// `x` with minus infinity where windows reach beyond the axis.
fn padded(cx: &Lowering<'_>, plane: &Plane<'_>, x: &ffi::Tensor, window: &Window) -> ffi::Tensor {
    extended(plane, x, window.paddings(), |shape| cx.graph().broadcast(&cx.scalar(0, DType::F32), shape))
}

/// `x` between two tensors of such extents along the axis, none where the extent is 0.
fn extended(
    plane: &Plane<'_>,
    x: &ffi::Tensor,
    [before, behind]: [usize; 2],
    filler: impl Fn(&[usize]) -> ffi::Tensor,
) -> ffi::Tensor {
    let side = |extent: usize| (extent > 0).then(|| filler(&plane.with(extent)));
    let (before, behind) = (side(before), side(behind));
    let parts: Vec<&ffi::Tensor> = before.iter().chain([x]).chain(&behind).collect();
    if parts.len() == 1 { x.clone() } else { plane.graph.concat(&parts, plane.axis as isize) }
}

/// Maxima; NaN wins.
struct Values<'a>(Plane<'a>);

impl Fold for Values<'_> {
    type State = ffi::Tensor;

    fn part(&self, state: &ffi::Tensor, start: usize, count: usize, step: usize) -> ffi::Tensor {
        self.0.part(state, start, count, step)
    }

    fn combine(&self, early: ffi::Tensor, late: ffi::Tensor, _shift: usize) -> ffi::Tensor {
        self.0.graph.maximum_with_nan_propagation(&early, &late)
    }
}

/// Maxima and where they are: the first of equal ones, of NaN too.
struct Places<'a> {
    plane: Plane<'a>,
    /// What a step along the axis adds to a position: 1, or the plane's width.
    unit: usize,
}

struct Place {
    value: ffi::Tensor,
    /// i32, counted from where the window begins; `None` while it is 0 everywhere.
    at: Option<ffi::Tensor>,
}

impl Fold for Places<'_> {
    type State = Place;

    fn part(&self, state: &Place, start: usize, count: usize, step: usize) -> Place {
        let part = |tensor: &ffi::Tensor| self.plane.part(tensor, start, count, step);
        Place { value: part(&state.value), at: state.at.as_ref().map(part) }
    }

    fn combine(&self, early: Place, late: Place, shift: usize) -> Place {
        let graph = self.plane.graph;
        let number = |number: usize| graph.constant_with_scalar(number as f64, &[1], DataType::I32);
        // A late NaN is neither less nor equal, so it is taken.
        let stays =
            graph.logical_or(&graph.greater_than_or_equal_to(&early.value, &late.value), &graph.is_nan(&early.value));
        let shift = number(shift * self.unit);
        let late_at = late.at.map_or(shift.clone(), |at| graph.addition(&at, &shift));
        let early_at = early.at.unwrap_or_else(|| number(0));
        Place {
            value: graph.select(&stays, &early.value, &late.value),
            at: Some(graph.select(&stays, &early_at, &late_at)),
        }
    }
}

/// Positions of the maxima in their planes as i32, -1 for windows without an element.
///
/// Along the width first: among equal elements of different rows that of the first row counts.
pub(super) fn positions(cx: &Lowering<'_>, x: ffi::Tensor, planes: usize, windows: &[Window; 2]) -> ffi::Tensor {
    let graph = cx.graph();
    let [high, wide] = windows;
    let (height, width) = (high.input, wide.input);
    let row = Plane { graph, shape: [planes, height, width], axis: 2 };
    let found = fold(&Places { plane: row, unit: 1 }, &Place { value: padded(cx, &row, &x, wide), at: None }, wide);
    let columns = numbers(graph, 2, 1, (0..wide.outputs).map(|output| wide.start(output)));
    let mut column = match &found.at {
        Some(at) => graph.addition(at, &columns),
        None => graph.broadcast(&columns, &[planes, height, wide.outputs]),
    };
    let is_padded = |window: &Window| window.paddings() != [0, 0];
    let firsts = |axis: usize, window: &Window, unit: usize| {
        let first = |output| window.first(output).map_or(-1, |at| at as i64);
        numbers(graph, axis, unit, (0..window.outputs).map(first))
    };
    if is_padded(wide) {
        // Where all elements are minus infinity, padding before them is found.
        column = graph.maximum(&column, &firsts(2, wide, 1));
    }

    let down = Plane { graph, shape: [planes, height, wide.outputs], axis: 1 };
    let none = |shape: &[usize]| graph.constant_with_scalar(0.0, shape, DataType::I32);
    let column = extended(&down, &column, high.paddings(), none);
    let value = padded(cx, &down, &found.value, high);
    let found = fold(&Places { plane: down, unit: width }, &Place { value, at: Some(column) }, high);
    let Some(at) = found.at else { unreachable!("the columns were given") };
    let rows = numbers(graph, 1, width, (0..high.outputs).map(|output| high.start(output)));
    let mut position = graph.addition(&at, &rows);
    if is_padded(high) {
        let first = graph.addition(&firsts(1, high, width), &firsts(2, wide, 1));
        position = graph.maximum(&position, &first);
    }
    without_empty(graph, position, windows)
}

/// -1 where a window has no element.
fn without_empty(graph: &ffi::Graph, position: ffi::Tensor, windows: &[Window; 2]) -> ffi::Tensor {
    let mut position = position;
    for (axis, window) in [1, 2].into_iter().zip(windows) {
        let filled = |output: usize| i64::from(window.first(output).is_some());
        if (0..window.outputs).all(|output| filled(output) == 1) {
            continue;
        }
        let none = graph.constant_with_scalar(0.0, &[1], DataType::I32);
        let filled = graph.not_equal(&numbers(graph, axis, 1, (0..window.outputs).map(filled)), &none);
        let nowhere = graph.constant_with_scalar(-1.0, &[1], DataType::I32);
        position = graph.select(&filled, &position, &nowhere);
    }
    position
}

/// i32 numbers along one axis of a rank-3 tensor, each `unit` times.
fn numbers(graph: &ffi::Graph, axis: usize, unit: usize, numbers: impl Iterator<Item = i64>) -> ffi::Tensor {
    let numbers: Vec<i64> = numbers.collect();
    let mut shape = [1; 3];
    shape[axis] = numbers.len();
    let numbers = integers(graph, &numbers, &shape);
    if unit == 1 {
        return numbers;
    }
    graph.multiplication(&numbers, &graph.constant_with_scalar(unit as f64, &[1], DataType::I32))
}
