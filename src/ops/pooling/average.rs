//! Averages of windows and their gradients: sums along one axis after the other, divided once.

use super::adaptive::{Even, of_ranges};
use super::window::{Fold, Plane, Window, fold};
use crate::ffi::{self, DataType, Graph, PaddingMode};
use crate::lowering::Lowering;

/// Extents up to which a table says which windows an element is in.
const LISTED: usize = 16;

/// The elements along one axis that are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spans {
    /// Those of windows; the padding before and behind the axis counts if `count_include_pad`.
    Windows { window: Window, count_include_pad: bool },
    /// Those of parts that are not all equal.
    Even(Even),
}

impl Spans {
    /// Extent of the pooled axis.
    pub fn input(&self) -> usize {
        match self {
            Spans::Windows { window, .. } => window.input,
            Spans::Even(even) => even.input,
        }
    }

    /// How many spans there are.
    pub fn outputs(&self) -> usize {
        match self {
            Spans::Windows { window, .. } => window.outputs,
            Spans::Even(even) => even.outputs,
        }
    }

    /// Whether each span is one element, each element one span.
    pub fn is_identity(&self) -> bool {
        match self {
            Spans::Windows { window, .. } => window.is_identity(),
            Spans::Even(_) => false,
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Spans::Windows { window, .. } => window.is_whole(),
            Spans::Even(_) => false,
        }
    }

    /// What the sum of each span is divided by.
    fn counts(&self) -> Vec<f32> {
        let count = |output: usize| match self {
            Spans::Windows { window, count_include_pad } => {
                window.elements_within(output, if *count_include_pad { window.padding } else { 0 })
            }
            Spans::Even(even) => even.part(output).len(),
        };
        (0..self.outputs()).map(|output| count(output).max(1) as f32).collect()
    }

    /// Sums of the spans along the plane's axis.
    fn sums(&self, plane: Plane<'_>, x: &ffi::Tensor) -> ffi::Tensor {
        match self {
            Spans::Windows { window, .. } if window.is_tiling() && window.kernel > 2 => {
                plane.tiles(x, window, |tiles, axes| plane.graph.reduction_sum(tiles, axes))
            }
            Spans::Windows { window, .. } => fold(&Sums(plane), &padded(&plane, x, window.paddings()), window),
            Spans::Even(even) => even.sums(&plane, x),
        }
    }

    /// For each element of the axis the sum of what `x` has for the spans that it is in.
    fn shares(&self, plane: Plane<'_>, x: &ffi::Tensor) -> ffi::Tensor {
        match self {
            Spans::Windows { window, .. } if window.input <= LISTED && window.overlap_in_pairs() => {
                let windows: Vec<_> = (0..window.input).map(|at| window.windows_of(at)).collect();
                of_ranges(&plane, x, &windows)
            }
            Spans::Windows { window, .. } => of_windows(plane, x, window),
            Spans::Even(even) => even.shares(&plane, x),
        }
    }
}

/// Averages of `x`, f32 of `planes` planes.
pub(super) fn averages(cx: &Lowering<'_>, x: ffi::Tensor, planes: usize, spans: &[Spans; 2]) -> ffi::Tensor {
    let graph = cx.graph();
    let mut shape = [planes, spans[0].input(), spans[1].input()];
    let mut sums = x;
    if spans.iter().all(Spans::is_whole) {
        let flat = graph.reshape(&sums, &[planes, shape[1] * shape[2]]);
        sums = graph.reshape(&graph.reduction_sum(&flat, &[1]), &[planes, 1, 1]);
    } else {
        for (axis, spans) in [1, 2].into_iter().zip(spans).filter(|(_, spans)| !spans.is_identity()) {
            let plane = Plane { graph, shape, axis };
            sums = spans.sums(plane, &sums);
            shape = plane.with(spans.outputs());
        }
    }
    graph.division(&sums, &divisors(graph, spans))
}

/// The gradient of averages, from that of their output.
pub(super) fn backward(cx: &Lowering<'_>, grad: ffi::Tensor, planes: usize, spans: &[Spans; 2]) -> ffi::Tensor {
    let graph = cx.graph();
    let mut shape = [planes, spans[0].outputs(), spans[1].outputs()];
    let mut shares = graph.division(&grad, &divisors(graph, spans));
    for (axis, spans) in [(2, &spans[1]), (1, &spans[0])].into_iter().filter(|(_, spans)| !spans.is_identity()) {
        let plane = Plane { graph, shape, axis };
        shares = spans.shares(plane, &shares);
        shape = plane.with(spans.input());
    }
    shares
}

/// What sums are divided by: numbers along height and width, or one for all.
fn divisors(graph: &Graph, spans: &[Spans; 2]) -> ffi::Tensor {
    let [rows, columns] = spans.map(|spans| {
        let mut counts = spans.counts();
        if counts.iter().all(|&count| count == counts[0]) {
            counts.truncate(1);
        }
        counts
    });
    let vector = |counts: &[f32], shape: [usize; 3]| {
        graph.constant_with_data(bytemuck::cast_slice(counts), &shape, DataType::F32)
    };
    match (&rows[..], &columns[..]) {
        ([row], [column]) => graph.constant_with_scalar(f64::from(row * column), &[1], DataType::F32),
        _ => graph.multiplication(&vector(&rows, [1, rows.len(), 1]), &vector(&columns, [1, 1, columns.len()])),
    }
}

struct Sums<'a>(Plane<'a>);

impl Fold for Sums<'_> {
    type State = ffi::Tensor;

    fn part(&self, state: &ffi::Tensor, start: usize, count: usize, step: usize) -> ffi::Tensor {
        self.0.part(state, start, count, step)
    }

    fn combine(&self, early: ffi::Tensor, late: ffi::Tensor, _shift: usize) -> ffi::Tensor {
        self.0.graph.addition(&early, &late)
    }
}

/// `x` with zeros before and behind it.
fn padded(plane: &Plane<'_>, x: &ffi::Tensor, [before, behind]: [usize; 2]) -> ffi::Tensor {
    if [before, behind] == [0, 0] {
        return x.clone();
    }
    let along = |extent: usize| {
        let mut all = [0; 3];
        all[plane.axis] = extent;
        all
    };
    plane.graph.pad(x, PaddingMode::Zero, &along(before), &along(behind), 0.0)
}

/// For each element the sum of what `x` has for the windows that it is in.
///
/// An element `i` (counted from the beginning of the padding) is in window `i / stride` and in those before it as long
/// as they reach it. So every window's number is repeated `stride` times, and an element sums such numbers that are
/// `stride` apart: `kernel / stride` of them, and one more if it is among the first `kernel % stride` of a repetition.
fn of_windows(plane: Plane<'_>, x: &ffi::Tensor, window: &Window) -> ffi::Tensor {
    let Window { input, outputs, kernel, stride, padding, .. } = *window;
    let [full, rest] = [kernel / stride, kernel % stride];
    // From the repetition of the first window on: where the terms of element 0 of the axis begin.
    let part = |times: usize, terms: usize, last: usize| {
        let repeated = repeated(&plane, x, times, stride);
        let (earliest, extent) = ((last * stride).saturating_sub(padding), outputs * stride);
        let behind = (input + padding).saturating_sub(extent);
        let plane = Plane { shape: plane.with(extent + earliest + behind), ..plane };
        let start = padding + earliest - last * stride;
        let long = padded(&plane, &repeated, [earliest, behind]);
        let from_start =
            Window { input: extent, outputs: input, kernel: terms, stride: 1, padding: 0, dilation: stride };
        let length = from_start.covered();
        let long =
            if start == 0 && length == extent + earliest + behind { long } else { plane.part(&long, start, length, 1) };
        if terms == 1 { long } else { fold(&Sums(plane), &long, &from_start) }
    };
    let whole = (full > 0).then(|| part(stride, full, full - 1));
    let last = (rest > 0).then(|| part(rest, 1, full));
    match (whole, last) {
        (Some(whole), Some(last)) => plane.graph.addition(&whole, &last),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => unreachable!("a kernel has elements"),
    }
}

/// Each element `times` times, then zeros up to `stride`.
fn repeated(plane: &Plane<'_>, x: &ffi::Tensor, times: usize, stride: usize) -> ffi::Tensor {
    if stride == 1 {
        return x.clone();
    }
    let graph = plane.graph;
    let [planes, height, width] = plane.shape;
    let (mut shape, inner) =
        if plane.axis == 1 { ([planes, height, 1, width], 2) } else { ([planes, height, width, 1], 3) };
    let apart = graph.reshape(x, &shape);
    shape[inner] = times;
    let mut apart = if times == 1 { apart } else { graph.broadcast(&apart, &shape) };
    if times < stride {
        let mut behind = [0; 4];
        behind[inner] = stride - times;
        apart = graph.pad(&apart, PaddingMode::Zero, &[0; 4], &behind, 0.0);
    }
    graph.reshape(&apart, &plane.with(plane.shape[plane.axis] * stride))
}
