//! Convolutions in two dimensions of f32, and their gradients.
//!
//! Each is a matrix product with the columns of a panel: for a range of output positions, the input elements that each
//! tap of the filter meets. A panel stays in the cache and is scratch memory; its columns are never all there. A 1x1
//! filter multiplies the input where it is, and groups of one channel are summed directly.
//!
//! Threads take blocks of rows of the result. How the work is cut depends on the extents only, so the sums do not
//! depend on the number of threads.

mod columns;
mod depthwise;
mod extents;

use super::Kernel;
use super::call::Call;
use super::matmul::{Matrix, product};
use super::threads::{self, share_with_scratch};
use crate::ir::TensorType;
use bytemuck::cast_slice_mut;
use extents::Extents;
use std::ops::Range;

/// What of a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// Of `[input, weights]`.
    Output,
    /// Of `[output gradient, weights]`.
    InputGradient,
    /// Of `[output gradient, input]`.
    WeightsGradient,
}

/// How the filter moves along one dimension. What is after the input follows from the extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    pub stride: usize,
    pub dilation: usize,
    /// Zeros before the input.
    pub before: usize,
}

/// A convolution of an input (batch, channels, height, width) with weights (outputs, channels of a group, height,
/// width), or a gradient of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    pub wanted: Wanted,
    /// Height and width.
    pub windows: [Window; 2],
    pub groups: usize,
}

impl Kernel for Convolution {
    fn run(&self, mut call: Call<'_>) {
        let extents = Extents::new(self, [call.inputs[0].ty, call.inputs[1].ty], call.ty);
        let (a, b) = (call.inputs[0], call.inputs[1]);
        let scratch = std::mem::take(&mut call.scratch);
        // Where nothing was asked for, there is an empty slice at no particular address.
        let scratch = if scratch.is_empty() { &mut [][..] } else { cast_slice_mut(scratch) };
        self.compute(&extents, (a.elements(), b.elements()), call.output_elements(), scratch);
    }

    fn scratch_bytes(&self, inputs: &[&TensorType], output: &TensorType) -> usize {
        let extents = Extents::new(self, [inputs[0], inputs[1]], output);
        if extents.is_depthwise() {
            return 0;
        }
        let (segments, _) = extents.reduction();
        let partial =
            if self.wanted == Wanted::WeightsGradient && segments > 1 { segments * output.elements() } else { 0 };
        let workers = if extents.is_parallel() { threads::count() } else { 1 };
        (partial + workers * extents.columns(self.wanted)) * size_of::<f32>()
    }
}

impl Convolution {
    fn compute(&self, extents: &Extents, operands: (&[f32], &[f32]), out: &mut [f32], scratch: &mut [f32]) {
        if extents.is_depthwise() {
            return depthwise::run(extents, self.wanted, operands, out);
        }
        match self.wanted {
            Wanted::Output => output(extents, operands, out, scratch),
            Wanted::InputGradient => input_gradient(extents, operands, out, scratch),
            Wanted::WeightsGradient => weights_gradient(extents, operands, out, scratch),
        }
    }
}

/// The part of a matrix from this element on, its rows that far apart.
fn rows(elements: &[f32], from: usize, row: usize) -> Matrix<'_> {
    Matrix { elements: &elements[from..], strides: [row, 1] }
}

fn output(e: &Extents, (x, weights): (&[f32], &[f32]), out: &mut [f32], scratch: &mut [f32]) {
    let (positions, inner) = (e.positions(), e.inner());
    let block = e.block(e.batch, e.outputs);
    let each = e.columns(Wanted::Output);
    share_with_scratch((block * positions, out), (each, scratch), &|at, out, scratch| {
        let first = at * block;
        let (sample, channel) = (first / (e.groups * e.outputs), first % (e.groups * e.outputs));
        let x = e.input_of(x, sample, channel / e.outputs);
        let weights = rows(weights, channel * inner, inner);
        if e.is_pointwise() {
            return product((block, positions, inner), weights, rows(x, 0, positions), (out, positions), false);
        }
        for panel in panels(e, inner) {
            let width = panel.len();
            columns::gather(e, x, panel.clone(), &mut scratch[..inner * width]);
            let target = (&mut out[panel.start..], positions);
            product((block, width, inner), weights, rows(scratch, 0, width), target, false);
        }
    });
}

fn input_gradient(e: &Extents, (grad, weights): (&[f32], &[f32]), out: &mut [f32], scratch: &mut [f32]) {
    let (positions, inner, taps) = (e.positions(), e.inner(), e.taps());
    let block = e.block(e.batch, e.inputs);
    let each = e.columns(Wanted::InputGradient);
    share_with_scratch((block * e.area(), out), (each, scratch), &|at, out, scratch| {
        let first = at * block;
        let (sample, channel) = (first / (e.groups * e.inputs), first % (e.groups * e.inputs));
        let (group, channel) = (channel / e.inputs, channel % e.inputs);
        let grad = e.output_of(grad, sample, group);
        // One row for each channel and tap.
        let weights = &weights[group * e.outputs * inner + channel * taps..];
        let transposed = Matrix { elements: weights, strides: [1, inner] };
        let height = block * taps;
        if e.is_pointwise() {
            let target = (out, positions);
            return product((height, positions, e.outputs), transposed, rows(grad, 0, positions), target, false);
        }
        out.fill(0.0);
        for panel in panels(e, height) {
            let width = panel.len();
            let columns = &mut scratch[..height * width];
            let grad = rows(grad, panel.start, positions);
            product((height, width, e.outputs), transposed, grad, (columns, width), false);
            columns::scatter(e, columns, panel, out);
        }
    });
}

fn weights_gradient(e: &Extents, (grad, x): (&[f32], &[f32]), out: &mut [f32], scratch: &mut [f32]) {
    let (positions, inner) = (e.positions(), e.inner());
    let (segments, block) = e.reduction();
    let each = e.columns(Wanted::WeightsGradient);
    let elements = out.len();
    let blocks = elements / (block * inner);
    let width = e.panel(inner);
    let panels = positions.div_ceil(width);
    let units = e.batch * panels;
    let task = |at: usize, out: &mut [f32], scratch: &mut [f32]| {
        let (segment, first) = (at / blocks, at % blocks * block);
        let (group, row) = (first / e.outputs, first % e.outputs);
        let units = segment * units / segments..(segment + 1) * units / segments;
        for unit in units.clone() {
            let (sample, panel) = (unit / panels, unit % panels * width);
            let panel = panel..(panel + width).min(positions);
            let grad = rows(e.output_of(grad, sample, group), row * positions + panel.start, positions);
            let x = e.input_of(x, sample, group);
            let (columns, row) = if e.is_pointwise() {
                (&x[panel.start..], positions)
            } else {
                columns::gather(e, x, panel.clone(), &mut scratch[..inner * panel.len()]);
                (&*scratch, panel.len())
            };
            let transposed = Matrix { elements: columns, strides: [1, row] };
            product((block, inner, panel.len()), grad, transposed, (&mut *out, inner), unit > units.start);
        }
    };
    if segments == 1 {
        return share_with_scratch((block * inner, out), (each, scratch), &task);
    }
    let (partial, scratch) = scratch.split_at_mut(segments * elements);
    share_with_scratch((block * inner, partial), (each, scratch), &task);
    let (first, rest) = partial.split_at(elements);
    out.copy_from_slice(first);
    for segment in rest.chunks_exact(elements) {
        for (sum, &part) in out.iter_mut().zip(segment) {
            *sum += part;
        }
    }
}

/// The output positions, in parts whose columns of this height are a panel.
fn panels(e: &Extents, height: usize) -> impl Iterator<Item = Range<usize>> {
    let (positions, width) = (e.positions(), e.panel(height));
    (0..positions).step_by(width).map(move |start| start..(start + width).min(positions))
}

#[cfg(test)]
mod tests;
