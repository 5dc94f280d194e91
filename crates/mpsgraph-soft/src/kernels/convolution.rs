//! Convolutions in two dimensions of f32, and their gradients: matrix products with the columns of a panel
//! ([`Wanted`]).
//!
//! A panel stays in the cache and is scratch memory; its columns are never all there. They are copied from lines of one
//! channel ([`lines`]), in the order in which `gemm` reads them, so that it need not copy them again. A 1x1 filter
//! multiplies the input where it is, groups of one channel are summed directly ([`depthwise`]), and 3x3 filters over
//! large results need fewer products ([`winograd`]).
//!
//! An infinite or NaN weight that meets padding makes NaN where columns are multiplied, and nothing where groups of one
//! channel are summed. Apple says nothing of it, and burn-flex has both, too.

mod columns;
mod depthwise;
mod extents;
mod input_gradient;
mod inside;
mod lines;
mod mirror;
mod output;
mod patches;
mod phases;
mod target;
mod turn;
mod weights_gradient;
mod winograd;

use super::Kernel;
use super::call::{Call, Input};
use super::matmul::{Matrix, product};
use super::threads::{self, share, share_with_scratch};
use crate::ir::TensorType;
use bytemuck::cast_slice_mut;
use extents::Extents;
use serde::{Deserialize, Serialize};
use winograd::Tiles;

/// Elements of columns that stay in the cache from some rows to the next ones, or of turned weights.
const STAYING: usize = 1 << 17;

/// What of a convolution is computed.
///
/// Each is a matrix product with the columns of a panel: for a range of output positions, the input elements that each
/// tap of the filter meets. With a column for each position and a row for each channel and tap,
///
/// ```text
/// output            = weights * columns                   [outputs, positions]
/// columns' gradient = weights transposed * gradient       [channels * taps, positions]; added up where taps met
/// weights' gradient = gradient * columns transposed       [outputs, channels * taps]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wanted {
    /// Of `[input, weights]`, or of `[input, weights, bias]` with a number for each output.
    Output,
    /// Of `[output gradient, weights]`.
    ///
    /// For a filter that moves by one element this is also the output of the mirrored filter ([`mirror`]), which is
    /// faster unless inputs are at most half as many as outputs.
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
///
/// Threads take blocks of rows of the result; of the output, if there are few samples, some positions of each, and if
/// each sample has few positions, several samples. How the work is cut depends on the extents only, so the sums do not
/// depend on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Convolution {
    pub wanted: Wanted,
    /// Height and width.
    pub windows: [Window; 2],
    pub groups: usize,
}

impl Convolution {
    /// Whether the filter covers the whole input, so that each sample has one position, and nothing beside the input
    /// is met.
    pub fn covers_input(&self, operands: [&TensorType; 2], result: &TensorType) -> bool {
        let Extents { input, filter, output, windows, .. } = Extents::new(self, operands, result);
        (0..2).all(|at| {
            let Window { dilation, before, .. } = windows[at];
            output[at] == 1 && input[at] == filter[at] && before == 0 && (filter[at] == 1 || dilation == 1)
        })
    }
}

impl Kernel for Convolution {
    fn run(&self, mut call: Call<'_>) {
        let extents = Extents::new(self, [call.inputs[0].ty, call.inputs[1].ty], call.ty);
        let (a, b) = (call.inputs[0], call.inputs[1]);
        let bias = call.inputs.get(2).map(Input::elements);
        let scratch = std::mem::take(&mut call.scratch);
        // Where nothing was asked for, there is an empty slice at no particular address.
        let scratch = if scratch.is_empty() { &mut [][..] } else { cast_slice_mut(scratch) };
        let way = Way::new(self, extents);
        way.compute((a.elements(), b.elements(), bias), call.output_elements(), scratch);
    }

    fn scratch_bytes(&self, inputs: &[&TensorType], output: &TensorType) -> usize {
        Way::new(self, Extents::new(self, [inputs[0], inputs[1]], output)).scratch_bytes()
    }
}

/// Two tensors, and a bias for the output.
type Operands<'a> = (&'a [f32], &'a [f32], Option<&'a [f32]>);

/// How a convolution is computed.
struct Way {
    wanted: Wanted,
    extents: Extents,
    /// If it takes fewer products.
    tiles: Option<Tiles>,
}

impl Way {
    /// The fastest one.
    fn new(op: &Convolution, extents: Extents) -> Self {
        Self { wanted: op.wanted, extents, tiles: Tiles::new(&extents, op.wanted) }
    }

    fn scratch_bytes(&self) -> usize {
        let e = &self.extents;
        let (shared, each) = match e.is_depthwise() {
            true => (0, depthwise::scratch(e, self.wanted)),
            false => (self.shared(), self.each()),
        };
        let workers = if e.is_parallel() { threads::count() } else { 1 };
        (shared + workers * each) * size_of::<f32>()
    }

    /// Elements of scratch memory that all pieces of work share.
    fn shared(&self) -> usize {
        match (&self.tiles, self.wanted) {
            (Some(tiles), _) => winograd::shared(tiles),
            (None, Wanted::Output) => 0,
            (None, Wanted::InputGradient) => input_gradient::shared(&self.extents),
            (None, Wanted::WeightsGradient) => weights_gradient::shared(&self.extents),
        }
    }

    /// Elements of scratch memory that a piece of work needs.
    fn each(&self) -> usize {
        let tiles = self.tiles.as_ref();
        let plainly = match self.wanted {
            Wanted::Output => output::scratch(&self.extents),
            Wanted::InputGradient => input_gradient::scratch(&self.extents, tiles),
            Wanted::WeightsGradient => weights_gradient::scratch(&self.extents),
        };
        plainly.max(tiles.map_or(0, winograd::scratch))
    }

    fn compute(&self, operands: Operands<'_>, out: &mut [f32], scratch: &mut [f32]) {
        let e = &self.extents;
        if e.is_depthwise() {
            return depthwise::run(e, self.wanted, operands, out, scratch);
        }
        let (a, b, _) = operands;
        let (shared, scratch) = scratch.split_at_mut(self.shared());
        let scratch = (shared, self.each(), scratch);
        match self.wanted {
            Wanted::Output => output::run(e, self.tiles.as_ref(), operands, out, scratch),
            Wanted::InputGradient => input_gradient::run(e, self.tiles.as_ref(), (a, b), out, scratch),
            Wanted::WeightsGradient => weights_gradient::run(e, (a, b), out, scratch),
        }
    }
}

/// Memory that all pieces of work share, elements that each piece needs, and memory of as many of those as run at a
/// time.
type Scratch<'a> = (&'a mut [f32], usize, &'a mut [f32]);

/// The part of a matrix from this element on, its rows that far apart.
fn rows(elements: &[f32], from: usize, row: usize) -> Matrix<'_> {
    Matrix { elements: &elements[from..], strides: [row, 1] }
}

#[cfg(test)]
mod tests;
