//! The extents of a convolution, and how its work is cut into pieces.

use super::{Convolution, Wanted, Window};
use crate::ir::TensorType;
use crate::kernels::matmul::PARALLEL_PRODUCT;

/// Elements of a panel of columns: 256 KiB, which the second-level cache holds beside the other operand.
const PANEL: usize = 1 << 16;
/// Narrowest panel.
const NARROW: usize = 64;
/// Pieces of work to aim at.
const PIECES: usize = 8;
/// Rows of a block when rows are divided: with fewer, making the columns would take longer than multiplying them.
const BLOCK: usize = 32;
/// Elements of all partial sums of weights.
const PARTIAL: usize = 1 << 22;
/// Outputs of a group of one channel up to which summing directly beats a product.
const DIRECT: usize = 4;

/// All extents of a convolution; channels are those of one group.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub batch: usize,
    pub groups: usize,
    pub inputs: usize,
    pub outputs: usize,
    /// Height and width of the input, the filter and the output.
    pub input: [usize; 2],
    pub filter: [usize; 2],
    pub output: [usize; 2],
    pub windows: [Window; 2],
}

impl Extents {
    pub fn new(op: &Convolution, [a, b]: [&TensorType; 2], result: &TensorType) -> Self {
        let (input, weights, output) = match op.wanted {
            Wanted::Output => (a, b, result),
            Wanted::InputGradient => (result, b, a),
            Wanted::WeightsGradient => (b, result, a),
        };
        let plane = |ty: &TensorType| [ty.shape[2], ty.shape[3]];
        Self {
            batch: input.shape[0],
            groups: op.groups,
            inputs: weights.shape[1],
            outputs: weights.shape[0] / op.groups,
            input: plane(input),
            filter: plane(weights),
            output: plane(output),
            windows: op.windows,
        }
    }

    /// Elements of a channel of the input.
    pub fn area(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Elements of a channel of the output.
    pub fn positions(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Elements of a channel of the filter.
    pub fn taps(&self) -> usize {
        self.filter[0] * self.filter[1]
    }

    /// Products that one output element sums.
    pub fn inner(&self) -> usize {
        self.inputs * self.taps()
    }

    /// The channels of a group in one sample of the input.
    pub fn input_of<'a>(&self, x: &'a [f32], sample: usize, group: usize) -> &'a [f32] {
        let size = self.inputs * self.area();
        &x[(sample * self.groups + group) * size..][..size]
    }

    /// The channels of a group in one sample of the output.
    pub fn output_of<'a>(&self, x: &'a [f32], sample: usize, group: usize) -> &'a [f32] {
        let size = self.outputs * self.positions();
        &x[(sample * self.groups + group) * size..][..size]
    }

    /// Whether each output element sums one input element of each channel, at its own place.
    pub fn is_pointwise(&self) -> bool {
        let still = |window: &Window| window.stride == 1 && window.before == 0;
        self.filter == [1, 1] && self.input == self.output && self.windows.iter().all(still)
    }

    /// Whether groups are so small that a product of matrices does not pay.
    pub fn is_depthwise(&self) -> bool {
        self.inputs == 1 && self.outputs <= DIRECT
    }

    /// Whether several threads take part.
    pub fn is_parallel(&self) -> bool {
        self.batch * self.groups * self.outputs * self.positions() * self.inner() >= PARALLEL_PRODUCT
    }

    /// Widest panel of columns that are `height` high.
    pub fn panel(&self, height: usize) -> usize {
        (PANEL / height).max(NARROW).min(self.positions())
    }

    /// Rows of a piece of work on a result with `rows` of each group in each of `samples`: all of them, or a part if
    /// there are few groups and samples.
    pub fn block(&self, samples: usize, rows: usize) -> usize {
        let mut block = rows;
        while samples * self.groups * (rows / block) < PIECES && block.is_multiple_of(2) && block / 2 >= BLOCK {
            block /= 2;
        }
        block
    }

    /// For the gradient of weights: in how many parts the batch and its positions are summed, and rows of a piece.
    pub fn reduction(&self) -> (usize, usize) {
        let block = self.block(1, self.outputs);
        let pieces = self.groups * (self.outputs / block);
        let room = PARTIAL / (self.groups * self.outputs * self.inner());
        let units = self.batch * self.positions().div_ceil(self.panel(self.inner()));
        let segments = if self.is_parallel() { (PIECES / pieces).min(room).min(units) } else { 1 };
        (segments.max(1), block)
    }

    /// Elements of the panel that a piece of work needs, at least one.
    pub fn columns(&self, wanted: Wanted) -> usize {
        let height = match wanted {
            Wanted::Output | Wanted::WeightsGradient => self.inner(),
            Wanted::InputGradient => self.block(self.batch, self.inputs) * self.taps(),
        };
        if self.is_pointwise() { 1 } else { height * self.panel(height) }
    }

    /// Where tap `tap` of the filter meets the input along dimension `axis` at `count` output positions from `from` on:
    /// the range of those positions that are inside, counted from `from`, and the first one's place in the input.
    #[inline(always)]
    pub fn meets(&self, axis: usize, tap: usize, from: usize, count: usize) -> (usize, usize, usize) {
        let Window { stride, dilation, before } = self.windows[axis];
        let at = from * stride + tap * dilation;
        let end = self.input[axis] + before;
        let first = before.saturating_sub(at).div_ceil(stride).min(count);
        let last = if at < end { ((end - 1 - at) / stride + 1).min(count) } else { 0 };
        if first >= last { (0, 0, 0) } else { (first, last, at + first * stride - before) }
    }
}
