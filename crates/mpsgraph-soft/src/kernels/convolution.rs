//! Convolutions in two dimensions of f32, and their gradients.
//!
//! Each is a matrix product with the columns of a panel: for a range of output positions, the input elements that each
//! tap of the filter meets. With a column for each position and a row for each channel and tap,
//!
//! ```text
//! output            = weights * columns                   [outputs, positions]
//! columns' gradient = weights transposed * gradient       [channels * taps, positions]; added up where taps met
//! weights' gradient = gradient * columns transposed       [outputs, channels * taps]
//! ```
//!
//! A panel stays in the cache and is scratch memory; its columns are never all there. They are copied from lines of one
//! channel ([`lines`]), in the order in which `gemm` reads them, so that it need not copy them again. A 1x1 filter
//! multiplies the input where it is, groups of one channel are summed directly ([`depthwise`]), and most 3x3 filters
//! need fewer products ([`winograd`]).
//!
//! Threads take blocks of rows of the result; of the output, if there are few samples, some positions of each. How the
//! work is cut depends on the extents only, so the sums do not depend on the number of threads.

mod columns;
mod depthwise;
mod extents;
mod inside;
mod lines;
mod output;
mod turn;
mod weights_gradient;
mod winograd;

use super::Kernel;
use super::call::{Call, Input};
use super::matmul::{Matrix, product};
use super::threads::{self, share, share_with_scratch};
use crate::ir::TensorType;
use bytemuck::cast_slice_mut;
use extents::{BLOCK, Extents};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use turn::transposed;
use winograd::{Filters, Tiles};

/// Elements of columns that stay in the cache from some rows to the next ones, or of turned weights.
const STAYING: usize = 1 << 17;
/// Input channels whose weights are turned together.
const TOGETHER: usize = 8;

/// What of a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wanted {
    /// Of `[input, weights]`, or of `[input, weights, bias]` with a number for each output.
    Output,
    /// Of `[output gradient, weights]`.
    InputGradient,
    /// Of `[output gradient, input]`.
    WeightsGradient,
}

/// How the filter moves along one dimension. What is after the input follows from the extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    pub stride: usize,
    pub dilation: usize,
    /// Zeros before the input.
    pub before: usize,
}

/// A convolution of an input (batch, channels, height, width) with weights (outputs, channels of a group, height,
/// width), or a gradient of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        let bias = call.inputs.get(2).map(Input::elements);
        let scratch = std::mem::take(&mut call.scratch);
        // Where nothing was asked for, there is an empty slice at no particular address.
        let scratch = if scratch.is_empty() { &mut [][..] } else { cast_slice_mut(scratch) };
        self.compute(&extents, (a.elements(), b.elements(), bias), call.output_elements(), scratch);
    }

    fn scratch_bytes(&self, inputs: &[&TensorType], output: &TensorType) -> usize {
        let extents = Extents::new(self, [inputs[0], inputs[1]], output);
        let (shared, each) = if extents.is_depthwise() {
            (0, depthwise::scratch(&extents, self.wanted))
        } else {
            (shared(&extents, self.wanted), scratch_of(&extents, self.wanted))
        };
        let workers = if extents.is_parallel() { threads::count() } else { 1 };
        (shared + workers * each) * size_of::<f32>()
    }
}

/// Elements of scratch memory that all pieces of work share.
fn shared(e: &Extents, wanted: Wanted) -> usize {
    if let Some(tiles) = Tiles::new(e, wanted) {
        return winograd::shared(&tiles);
    }
    match wanted {
        Wanted::Output => 0,
        Wanted::InputGradient if e.is_pointwise() || turns_in_pieces(e) => 0,
        Wanted::InputGradient => e.groups * e.outputs * e.inner(),
        Wanted::WeightsGradient => weights_gradient::shared(e),
    }
}

/// Elements of scratch memory that a piece of work needs.
fn scratch_of(e: &Extents, wanted: Wanted) -> usize {
    let tiles = Tiles::new(e, wanted);
    let turns = wanted == Wanted::InputGradient && tiles.is_none() && turns_in_pieces(e);
    let turned = if turns { input_block(e) * e.taps() * e.outputs } else { 0 };
    turned + e.scratch(wanted).max(tiles.map_or(0, |tiles| winograd::scratch(&tiles)))
}

/// Whether each weight is in one piece of the gradient for the input, which then turns its weights itself.
fn turns_in_pieces(e: &Extents) -> bool {
    e.batch == 1 && !e.is_pointwise()
}

/// Input channels of a piece of the gradient for the input. A product has a row for each channel and tap, and what its
/// columns are made of is read in place, so few channels are enough for a block.
fn input_block(e: &Extents) -> usize {
    if let Some(tiles) = Tiles::new(e, Wanted::InputGradient) {
        let [_, block, _] = tiles.piece();
        return block;
    }
    e.block(e.batch, e.inputs, if e.is_parallel() { BLOCK.div_ceil(e.taps()) } else { BLOCK })
}

/// Two tensors, and a bias for the output.
type Operands<'a> = (&'a [f32], &'a [f32], Option<&'a [f32]>);

impl Convolution {
    fn compute(&self, extents: &Extents, operands: Operands<'_>, out: &mut [f32], scratch: &mut [f32]) {
        if extents.is_depthwise() {
            return depthwise::run(extents, self.wanted, operands, out, scratch);
        }
        let (a, b, _) = operands;
        match self.wanted {
            Wanted::Output => output::run(extents, operands, out, scratch),
            Wanted::InputGradient => input_gradient(extents, (a, b), out, scratch),
            Wanted::WeightsGradient => weights_gradient::run(extents, (a, b), out, scratch),
        }
    }
}

/// The part of a matrix from this element on, its rows that far apart.
fn rows(elements: &[f32], from: usize, row: usize) -> Matrix<'_> {
    Matrix { elements: &elements[from..], strides: [row, 1] }
}

/// The gradient for the input.
fn input_gradient(e: &Extents, (grad, weights): (&[f32], &[f32]), out: &mut [f32], scratch: &mut [f32]) {
    let (inner, taps) = (e.inner(), e.taps());
    let each = scratch_of(e, Wanted::InputGradient);
    let (shared, scratch) = scratch.split_at_mut(shared(e, Wanted::InputGradient));
    // The weights of a channel where they are: one row for each channel and tap.
    let in_place = |channel: usize| Matrix {
        elements: &weights[channel / e.inputs * e.outputs * inner + channel % e.inputs * taps..],
        strides: [1, inner],
    };
    if let Some(tiles) = Tiles::new(e, Wanted::InputGradient) {
        // The other way round, inputs are rows and outputs are columns.
        let filters = Filters { elements: weights, strides: [e.outputs * inner, taps, inner], mirrored: true };
        let operands = (grad, filters, None);
        return winograd::run(
            &tiles,
            operands,
            out,
            (shared, each, scratch),
            &|[sample, channel], _, mut out, scratch| {
                let Some(out) = out.packed() else { unreachable!("a piece has all positions") };
                let grad = e.output_of(grad, sample, channel / e.inputs);
                input_gradient_piece(e, (grad, in_place(channel)), None, out, scratch);
            },
        );
    }
    if !shared.is_empty() {
        let together = if e.inputs.is_multiple_of(TOGETHER) { TOGETHER * taps } else { inner };
        share(e.is_parallel(), e.outputs * together, shared, |at, turned| {
            let (group, row) = (at * together / inner, at * together % inner);
            transposed(rows(weights, group * e.outputs * inner + row, inner), (e.outputs, together), turned);
        });
    }
    let (block, shared) = (input_block(e), &*shared);
    share_with_scratch((block * e.area(), out), (each, scratch), &|at, out, scratch| {
        let first = at * block;
        let (sample, channel) = (first / (e.groups * e.inputs), first % (e.groups * e.inputs));
        let grad = e.output_of(grad, sample, channel / e.inputs);
        if turns_in_pieces(e) {
            let (turned, scratch) = scratch.split_at_mut(block * taps * e.outputs);
            return input_gradient_piece(e, (grad, in_place(channel)), Some(turned), out, scratch);
        }
        let weights = if shared.is_empty() {
            in_place(channel)
        } else {
            let group = channel / e.inputs * e.outputs * inner;
            rows(shared, group + channel % e.inputs * taps * e.outputs, e.outputs)
        };
        input_gradient_piece(e, (grad, weights), None, out, scratch);
    });
}

/// Some channels of the gradient for the input of a group. The columns of the weights are turned into `turned`, if
/// there is such memory.
fn input_gradient_piece(
    e: &Extents,
    (grad, weights): (&[f32], Matrix<'_>),
    mut turned: Option<&mut [f32]>,
    out: &mut [f32],
    scratch: &mut [f32],
) {
    let positions = e.positions();
    let height = out.len() / e.area() * e.taps();
    if e.is_pointwise() {
        let target = (out, positions);
        return product((height, positions, e.outputs), weights, rows(grad, 0, positions), target, false);
    }
    out.fill(0.0);
    // So many rows are multiplied while their turned weights are in the cache.
    let together = if turned.is_some() { (STAYING / e.outputs).max(1).min(height) } else { height };
    for panel in panels(e, height) {
        let width = panel.len();
        let (columns, buffer) = scratch.split_at_mut(height * width);
        let grad = rows(grad, panel.start, positions);
        for row in (0..height).step_by(together) {
            let count = together.min(height - row);
            let weights = match &mut turned {
                Some(turned) => {
                    let turned = &mut turned[row * e.outputs..][..count * e.outputs];
                    if panel.start == 0 {
                        let [step, between] = weights.strides;
                        let columns = Matrix { elements: &weights.elements[row * step..], strides: [between, 1] };
                        transposed(columns, (e.outputs, count), turned);
                    }
                    rows(turned, 0, e.outputs)
                }
                None => weights,
            };
            let target = (&mut columns[row * width..], width);
            product((count, width, e.outputs), weights, grad, target, false);
        }
        columns::scatter(e, columns, panel, out, buffer);
    }
}

/// The output positions, in parts whose columns of this height are a panel.
fn panels(e: &Extents, height: usize) -> impl Iterator<Item = Range<usize>> {
    let (positions, width) = (e.positions(), e.panel(height));
    (0..positions).step_by(width).map(move |start| start..(start + width).min(positions))
}

#[cfg(test)]
mod tests;
