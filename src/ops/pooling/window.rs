//! Windows: where they are, how many there are, and what no window may be.

use std::ops::Range;

use crate::burn::ceil_windows;
use crate::error::{invalid, unsupported};
use crate::ffi::{self, DataType, Graph};
use crate::lowering::{MOST_ELEMENTS, POSITIONS};

/// Burn's options of a pooling of the last `N` axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<const N: usize> {
    pub kernel: [usize; N],
    pub stride: [usize; N],
    pub padding: [usize; N],
    pub dilation: [usize; N],
}

impl<const N: usize> Options<N> {
    /// The windows along height and width for an input `[batch, channels, …]` of this shape.
    pub(super) fn windows(&self, name: &'static str, shape: &[usize], ceil_mode: bool) -> [Window; 2] {
        check_rank::<N>(name, shape);
        self.check(name, shape);
        let window = |axis: usize| {
            let [kernel, stride, dilation] = [self.kernel, self.stride, self.dilation].map(|option| option[axis]);
            let (input, padding) = (shape[2 + axis], self.padding[axis]);
            let window = Window { input, outputs: 1, kernel, stride, padding, dilation };
            let padded = input + 2 * padding;
            let outputs = if ceil_mode {
                ceil_windows(input, padding, window.reach(), stride)
            } else {
                padded.checked_sub(window.reach()).map(|rest| rest / stride + 1)
            };
            let outputs = match outputs {
                Some(outputs) => outputs,
                None => invalid(
                    name,
                    format!(
                        "a kernel of {kernel} with dilation {dilation} reaches over {} elements, but axis {} of \
                         {shape:?} with padding {padding} has {padded}; use a smaller kernel or more padding",
                        window.reach(),
                        2 + axis
                    ),
                ),
            };
            // How far one window is from a next one makes no difference, and may be far.
            let stride = if outputs == 1 { kernel } else { stride };
            Window { outputs, stride, ..window }
        };
        let windows = of_plane(std::array::from_fn::<_, N, _>(window), Window::ONE);
        let planes: usize = shape[..2].iter().product();
        let extents = windows.map(|window| window.input + window.paddings().iter().sum::<usize>());
        if extents.iter().fold(planes, |elements, &extent| elements.saturating_mul(extent)) > MOST_ELEMENTS {
            unsupported(
                name,
                format!(
                    "{shape:?} with paddings is {planes} planes of {extents:?}, more than 2^30 elements; {}",
                    if planes > 1 { "pool fewer planes at a time" } else { "pad less, or pool parts of the plane" }
                ),
            );
        }
        windows
    }

    fn check(&self, name: &'static str, shape: &[usize]) {
        let Options { kernel, stride, padding, dilation } = self;
        let of = format!("kernel {kernel:?}, stride {stride:?} and dilation {dilation:?} for shape {shape:?}");
        if [kernel, stride, dilation].into_iter().flatten().any(|&option| option == 0) {
            invalid(name, format!("{of}: each must be at least 1"));
        }
        if [kernel, stride, dilation, padding].into_iter().flatten().any(|&option| option >= POSITIONS) {
            invalid(name, format!("{of}, padding {padding:?}: each must be less than 2^31"));
        }
    }
}

/// Ends an op on anything but `[batch, channels]` and `N` more axes.
pub(super) fn check_rank<const N: usize>(name: &'static str, shape: &[usize]) {
    if shape.len() != 2 + N {
        invalid(name, format!("shape {shape:?} has rank {}: rank {} is needed", shape.len(), 2 + N));
    }
}

/// What belongs to height and width, from what belongs to the last one or two axes.
pub(super) fn of_plane<T: Copy, const N: usize>(of_axes: [T; N], one: T) -> [T; 2] {
    let mut plane = [one; 2];
    plane[2 - N..].copy_from_slice(&of_axes);
    plane
}

/// Windows along one axis: `outputs` of them, each of `kernel` elements that are `dilation` apart. The first begins
/// `padding` before the axis, each other one `stride` behind the last. They may end behind the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    pub input: usize,
    pub outputs: usize,
    pub kernel: usize,
    pub stride: usize,
    pub padding: usize,
    pub dilation: usize,
}

impl Window {
    /// The only element of an axis.
    pub const ONE: Window = Window { input: 1, outputs: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 };

    /// Every element is a window.
    pub fn is_identity(&self) -> bool {
        self.kernel == 1 && self.padding == 0 && self.outputs == self.input && (self.stride == 1 || self.input == 1)
    }

    /// From the first to the last element of one window.
    pub fn reach(&self) -> usize {
        (self.kernel - 1) * self.dilation + 1
    }

    /// From the first element of the first window to the last one of the last, paddings included.
    pub fn covered(&self) -> usize {
        (self.outputs - 1) * self.stride + self.reach()
    }

    /// What the windows need before the axis and behind it.
    pub fn paddings(&self) -> [usize; 2] {
        [self.padding, self.covered().saturating_sub(self.padding + self.input)]
    }

    /// Whether the windows follow each other without gaps, within the axis.
    pub fn is_tiling(&self) -> bool {
        self.paddings() == [0, 0] && self.dilation == 1 && (self.stride == self.kernel || self.outputs == 1)
    }

    /// Whether [`fold`] may end in a slice.
    pub fn is_cut_out(&self) -> bool {
        !self.is_identity() && (self.kernel == 1 || self.kernel > TAPS)
    }

    /// Whether there is one window, of all elements.
    pub fn is_whole(&self) -> bool {
        self.is_tiling() && self.kernel == self.input
    }

    /// Where a window begins, which may be in the padding.
    pub fn start(&self, output: usize) -> i64 {
        (output * self.stride) as i64 - self.padding as i64
    }

    /// The first position of the axis that a window has, if it has one.
    pub fn first(&self, output: usize) -> Option<usize> {
        let tap = self.first_tap_from(output, 0);
        let at = self.start(output) + (tap * self.dilation) as i64;
        (tap < self.kernel && at < self.input as i64).then_some(at as usize)
    }

    /// Whether some elements are in two windows and none in more; without a dilation.
    pub fn overlap_in_pairs(&self) -> bool {
        (self.stride + 1..2 * self.stride).contains(&self.kernel)
    }

    /// The windows that an element of the axis is in; without a dilation.
    pub fn windows_of(&self, at: usize) -> Range<usize> {
        let at = at + self.padding;
        let end = (at / self.stride + 1).min(self.outputs);
        (at + 1).saturating_sub(self.kernel).div_ceil(self.stride).min(end)..end
    }

    /// How many of a window's elements are on an axis with `padding` elements more on either side.
    pub fn elements_within(&self, output: usize, padding: usize) -> usize {
        let bounds = [-(padding as i64), (self.input + padding) as i64];
        let [low, high] = bounds.map(|bound| self.first_tap_from(output, bound).min(self.kernel));
        high - low
    }

    /// The first element of a window that is at `bound` or behind it, however many the window has.
    fn first_tap_from(&self, output: usize, bound: i64) -> usize {
        usize::try_from(bound - self.start(output)).map_or(0, |distance| distance.div_ceil(self.dilation))
    }
}

/// One axis of tensors `[planes, height, width]` of a graph, of which parts are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane<'a> {
    pub graph: &'a Graph,
    /// The extents of the tensors. That of `axis` is not read: tensors of several extents are taken apart.
    pub shape: [usize; 3],
    pub axis: usize,
}

impl Plane<'_> {
    /// `count` elements of the axis, `step` apart, from `start` on.
    pub fn part(&self, x: &ffi::Tensor, start: usize, count: usize, step: usize) -> ffi::Tensor {
        let (mut starts, mut steps) = ([0; 3], [1; 3]);
        let mut ends = self.shape.map(|extent| extent as isize);
        starts[self.axis] = start as isize;
        ends[self.axis] = (start + (count - 1) * step + 1) as isize;
        steps[self.axis] = if count == 1 { 1 } else { step as isize };
        self.graph.slice(x, &starts, &ends, &steps)
    }

    /// `reduce` of windows that follow each other: the elements of a window are an axis of their own, which it takes.
    pub fn tiles(
        &self,
        x: &ffi::Tensor,
        window: &Window,
        reduce: impl FnOnce(&ffi::Tensor, &[isize]) -> ffi::Tensor,
    ) -> ffi::Tensor {
        let covered = window.covered();
        let x = if covered == window.input { x.clone() } else { self.part(x, 0, covered, 1) };
        let [planes, height, width] = self.shape;
        let Window { outputs, kernel, .. } = *window;
        let (tiles, axis) =
            if self.axis == 1 { ([planes, outputs, kernel, width], 2) } else { ([planes, height, outputs, kernel], 3) };
        self.graph.reshape(&reduce(&self.graph.reshape(&x, &tiles), &[axis]), &self.with(outputs))
    }

    /// The shape with another extent of the axis.
    pub fn with(&self, extent: usize) -> [usize; 3] {
        let mut shape = self.shape;
        shape[self.axis] = extent;
        shape
    }
}

/// Taps up to which every element of a window is a slice of its own. Beyond, windows are made of shorter ones.
const TAPS: usize = 8;

/// How windows are put together from what is known of their parts.
pub(super) trait Fold {
    /// What is known of a window, for all windows along an axis.
    type State;
    /// Of the windows `start`, `start + step`, ….
    fn part(&self, state: &Self::State, start: usize, count: usize, step: usize) -> Self::State;
    /// Of windows made of one and, `shift` positions later, another.
    fn combine(&self, early: Self::State, late: Self::State, shift: usize) -> Self::State;
}

/// Folds `outputs` windows of `kernel` elements, `dilation` apart, the first at position 0, each `stride` later.
pub(super) fn fold<F: Fold>(by: &F, elements: &F::State, window: &Window) -> F::State {
    let Window { outputs, kernel, stride, dilation, .. } = *window;
    if kernel > TAPS {
        let at_every_place = grown(by, elements, (outputs - 1) * stride + 1, kernel, dilation);
        return by.part(&at_every_place, 0, outputs, stride);
    }
    let first = by.part(elements, 0, outputs, stride);
    (1..kernel).fold(first, |early, tap| {
        let shift = tap * dilation;
        by.combine(early, by.part(elements, shift, outputs, stride), shift)
    })
}

/// `count` windows, each one position after the last: two of half the size make one, and an element more if it is odd.
fn grown<F: Fold>(by: &F, elements: &F::State, count: usize, kernel: usize, dilation: usize) -> F::State {
    if kernel == 1 {
        return by.part(elements, 0, count, 1);
    }
    let rest = if kernel.is_multiple_of(2) { kernel / 2 } else { 1 };
    let shift = (kernel - rest) * dilation;
    if rest == 1 {
        let early = grown(by, elements, count, kernel - 1, dilation);
        return by.combine(early, by.part(elements, shift, count, 1), shift);
    }
    let halves = grown(by, elements, count + shift, rest, dilation);
    by.combine(by.part(&halves, 0, count, 1), by.part(&halves, shift, count, 1), shift)
}

/// Positions as an i32 constant of this shape: within a plane they fit, which was checked when the op was recorded.
pub(super) fn integers(graph: &Graph, numbers: &[i64], shape: &[usize]) -> ffi::Tensor {
    const PART: i64 = 1 << 16;
    // As f32 first, which holds numbers below 2^24: MPSGraph folds integer constants wrongly that lead to a gather, or
    // are reshaped and lead to a scatter (MetalHLO's MPSGraphCompiler.swift).
    let from_floats = |part: &dyn Fn(i64) -> i64| {
        let numbers: Vec<f32> = numbers.iter().map(|&number| part(number) as f32).collect();
        let constant = graph.constant_with_data(bytemuck::cast_slice(&numbers), shape, DataType::F32);
        graph.cast(&constant, DataType::I32)
    };
    if numbers.iter().all(|number| number.abs() < 1 << 24) {
        return from_floats(&|number| number);
    }
    let high = from_floats(&|number| number.div_euclid(PART));
    let high = graph.multiplication(&high, &graph.constant_with_scalar(PART as f64, &[1], DataType::I32));
    graph.addition(&high, &from_floats(&|number| number.rem_euclid(PART)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_as_they_are_listed() {
        for (kernel, stride, padding, dilation) in
            [(1, 1, 0, 1), (3, 2, 1, 1), (2, 1, 4, 9), (4, 3, 5, 2), (2, 7, 0, 1)]
        {
            let window = Window { input: 6, outputs: 9, kernel, stride, padding, dilation };
            for output in 0..window.outputs {
                let taps = (0..kernel).map(|tap| (output * stride + tap * dilation) as i64 - padding as i64);
                let within = |padding: i64| taps.clone().filter(move |tap| (-padding..6 + padding).contains(tap));
                assert_eq!(window.first(output), within(0).next().map(|at| at as usize), "{window:?}, {output}");
                for padding in [0, padding] {
                    let count = within(padding as i64).count();
                    assert_eq!(window.elements_within(output, padding), count, "{window:?}, {output}, {padding}");
                }
            }
        }
    }

    #[test]
    fn an_element_is_in_the_windows_that_have_it() {
        for (input, outputs, kernel, stride, padding) in
            [(7, 3, 3, 2, 0), (8, 3, 3, 2, 0), (9, 5, 3, 2, 1), (1, 3, 3, 2, 3), (12, 3, 5, 4, 1), (5, 9, 4, 1, 3)]
        {
            let window = Window { input, outputs, kernel, stride, padding, dilation: 1 };
            for at in 0..input {
                let has = |output: &usize| (window.start(*output)..).take(kernel).any(|place| place == at as i64);
                let expected: Vec<usize> = (0..outputs).filter(has).collect();
                assert_eq!(window.windows_of(at).collect::<Vec<_>>(), expected, "{window:?}, {at}");
            }
        }
    }
}
