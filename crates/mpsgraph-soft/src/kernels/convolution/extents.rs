//! The extents of a convolution, and how its work is cut into pieces.
//!
//! [`Extents`] answers what all ways of computing a convolution ask: where channels and samples lie, which inputs a tap
//! of the filter meets, and how large a piece of the output, of the input's gradient or of the weights' gradient is.
//! Pieces depend on the extents alone, not on how many threads there are, because the order of sums depends on them.

use super::{Convolution, Wanted, Window};
use crate::ir::TensorType;
use crate::kernels::matmul::PARALLEL_PRODUCT;
use std::ops::Range;

/// Positions of a tile: `gemm` multiplies so many at a time with AVX-512, and reads tiles where they are.
pub const TILE: usize = 64;
/// Positions of which a product has a multiple, or it copies what it reads: a vector of AVX-512.
pub const VECTOR: usize = 16;
/// Elements of a panel of columns: 512 KiB, half of what the second-level cache of a current processor holds.
const PANEL_ELEMENTS: usize = 1 << 17;
/// Products of an output element from which on tiles are smaller than a panel. With fewer, the calls for tiles would
/// take time that shows.
const MOST_SHALLOW_PRODUCTS: usize = 64;

/// Outputs of a group of one channel up to which summing directly beats a product of matrices.
const MOST_DIRECT_OUTPUTS: usize = 4;
/// How many times as long a multiplication takes that is summed directly.
const DIRECT_SLOWNESS: usize = 8;

/// Pieces of work to aim at.
const PIECES: usize = 8;
/// Pieces at least, if they are of several samples, or of a part of the input.
const LEAST_PIECES: usize = 4;
/// Pieces from which on it does not show that one thread has one more than another.
const LEAST_UNEVEN_PIECES: usize = 32;
/// Rows of a block at least when rows are divided: with fewer, making the columns would take longer than multiplying
/// them.
pub const BLOCK: usize = 32;
/// Positions of a piece of several samples from which on it does not show that its last tile has fewer.
const ENOUGH_POSITIONS: usize = 4 * TILE;
/// Lines or columns of a piece of the input at least, for each one that it has in common with the next piece: both
/// pieces multiply that one.
const LEAST_LINES_PER_SHARED: usize = 4;

/// Positions that a gradient of weights sums at a time, at most.
const MOST_SUMMED_POSITIONS: usize = 256;
/// Elements of all partial sums of a gradient of weights, at most: 16 MiB.
const MOST_PARTIAL_ELEMENTS: usize = 1 << 22;
/// Positions of a partial sum of weights at least: adding it to the others takes as long as summing some hundred.
const LEAST_PARTIAL_POSITIONS: usize = 1 << 10;

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
        self.inputs == 1 && self.outputs <= MOST_DIRECT_OUTPUTS
    }

    /// The convolution of the output's gradient with the mirrored filter that gives the input's, if there is one.
    pub fn mirrored(&self) -> Option<Self> {
        let mut windows = self.windows;
        for (window, filter) in windows.iter_mut().zip(self.filter) {
            let Window { stride, dilation, before } = *window;
            if stride != 1 {
                return None;
            }
            window.before = (dilation * (filter - 1)).checked_sub(before)?;
        }
        let [inputs, outputs] = [self.outputs, self.inputs];
        Some(Self { inputs, outputs, input: self.output, output: self.input, windows, ..*self })
    }

    /// Whether several threads take part.
    pub fn is_parallel(&self) -> bool {
        let products = self.batch * self.groups * self.outputs * self.positions() * self.inner();
        products >= if self.is_depthwise() { PARALLEL_PRODUCT / DIRECT_SLOWNESS } else { PARALLEL_PRODUCT }
    }

    /// Positions of a panel of columns that are `height` high: whole tiles, or all.
    pub fn panel(&self, height: usize) -> usize {
        (PANEL_ELEMENTS / height / TILE * TILE).max(TILE).min(self.positions())
    }

    /// Rows of a piece of work on a result with `rows` of each group in each of `samples`: all of them, or a part of at
    /// least so many if there are few groups and samples.
    pub fn block(&self, samples: usize, rows: usize, least: usize) -> usize {
        let mut block = rows;
        while samples * self.groups * (rows / block) < PIECES
            && let Some(parts) = (2..=block / least).find(|&parts| block.is_multiple_of(parts))
        {
            block /= parts;
        }
        block
    }

    /// Samples and rows of a piece of work on a result with `rows` of each group, if several samples together make
    /// better products than one with its few positions: all rows, or a part of at least so many.
    pub fn several(&self, rows: usize, least: usize) -> Option<[usize; 2]> {
        let most = ENOUGH_POSITIONS.div_ceil(self.positions()).min(self.batch);
        if !self.is_parallel() {
            return (most > 1).then_some([self.batch, rows]);
        }
        (2..=most).rev().find_map(|samples| {
            let pieces = self.batch.div_ceil(samples);
            let block = self.block(pieces, rows, least);
            let is_enough = pieces * self.groups * (rows / block) >= LEAST_PIECES;
            is_enough.then_some([self.batch.div_ceil(pieces), block])
        })
    }

    /// Rows and positions of a piece of the output of one sample: all rows and positions of a group; if there are few
    /// of those, or not as many for each of two threads, a part of the positions, which is a multiple of `unit`; and if
    /// there are few positions, of the rows.
    pub fn part_of_output(&self, unit: usize) -> [usize; 2] {
        let positions = self.positions();
        if !self.is_parallel() {
            return [self.outputs, positions];
        }
        let samples = self.batch * self.groups;
        let width = |pieces: usize| positions.div_ceil(pieces).next_multiple_of(unit).min(positions);
        let is_even = |pieces: &usize| is_even(samples * positions.div_ceil(width(*pieces)));
        let least = PIECES.div_ceil(samples).min(positions / unit).max(1);
        let width = width((least..=2 * least).find(is_even).unwrap_or(least));
        [self.block(self.batch * positions.div_ceil(width), self.outputs, BLOCK), width]
    }

    /// The axis along which the input is cut for its gradient: it has lines, or if it has but one, columns.
    fn cut(&self) -> usize {
        usize::from([self.input[0], self.output[0]] == [1, 1])
    }

    /// Elements of the input, and of the output, from one such line or column to the next.
    pub fn between_cuts(&self) -> [usize; 2] {
        if self.cut() == 0 { [self.input[1], self.output[1]] } else { [1, 1] }
    }

    /// Lines or columns of the input of a piece of its gradient, so that there are enough pieces, as many for each of
    /// two threads. What two pieces meet of the output is multiplied twice, so it is little beside a piece.
    pub fn part_of_input(&self, pieces: usize) -> usize {
        let axis = self.cut();
        let (all, Window { stride, dilation, .. }) = (self.input[axis], self.windows[axis]);
        if !self.is_parallel() {
            return all;
        }
        let twice = (dilation * (self.filter[axis] - 1) + 1).saturating_sub(stride);
        let fewest = stride.max(LEAST_LINES_PER_SHARED * twice);
        let part = |parts: usize| all.div_ceil(parts).next_multiple_of(stride).min(all);
        let least = LEAST_PIECES.div_ceil(pieces).min(all / fewest).max(1);
        let is_even = |parts: &usize| is_even(pieces * all.div_ceil(part(*parts)));
        part((least..=2 * least).filter(|parts| all / parts >= fewest).find(is_even).unwrap_or(least))
    }

    /// The convolution that meets these lines or columns of the input, and the first of the output's that it gives.
    pub fn of_input(&self, part: Range<usize>) -> (Self, usize) {
        let axis = self.cut();
        let Window { stride, dilation, before } = self.windows[axis];
        let met = part.start + before;
        let first = met.saturating_sub(dilation * (self.filter[axis] - 1)).div_ceil(stride).min(met / stride);
        let first = first.min(self.output[axis]);
        let end = ((before + part.end - 1) / stride + 1).clamp(first, self.output[axis]);
        let mut of_part = *self;
        of_part.input[axis] = part.len();
        of_part.output[axis] = end - first;
        of_part.windows[axis].before = met - first * stride;
        (of_part, first)
    }

    /// How the gradient of weights is summed.
    pub fn reduction(&self) -> Reduction {
        let work = self.batch * self.positions();
        let room = MOST_PARTIAL_ELEMENTS / (self.groups * self.outputs * self.inner());
        let pieces = PIECES.div_ceil(self.groups);
        let segments = if self.is_parallel() { pieces.min(room).min(work / LEAST_PARTIAL_POSITIONS).max(1) } else { 1 };
        let (mut channels, mut outputs) = (self.inputs, self.outputs);
        // Each piece makes its columns and turns its gradients around, so the longer side is divided.
        while self.is_parallel()
            && segments * self.groups * (self.inputs / channels) * (self.outputs / outputs) < PIECES
        {
            if outputs >= channels * self.taps() && outputs.is_multiple_of(2) {
                outputs /= 2;
            } else if channels.is_multiple_of(2) {
                channels /= 2;
            } else {
                break;
            }
        }
        let width =
            (PANEL_ELEMENTS / outputs.max(channels * self.taps()) / TILE * TILE).clamp(TILE, MOST_SUMMED_POSITIONS);
        let width = width.min(self.positions());
        let segments = segments.min(self.batch * self.positions().div_ceil(width));
        Reduction { segments, channels, outputs, width }
    }

    /// Positions of a tile of a panel, for the output: all if there are so few products that calls would show.
    pub fn tile(&self) -> usize {
        if self.inner() < MOST_SHALLOW_PRODUCTS { self.panel(self.inner()) } else { TILE }
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

/// Whether two threads have about as many of these pieces.
fn is_even(pieces: usize) -> bool {
    pieces >= LEAST_UNEVEN_PIECES || pieces.is_multiple_of(2)
}

/// How the gradient of weights is cut into pieces.
pub struct Reduction {
    /// Parts of the batch and its positions, each summed for itself.
    pub segments: usize,
    /// Input channels of a piece.
    pub channels: usize,
    /// Outputs of a piece.
    pub outputs: usize,
    /// Positions that are summed at a time.
    pub width: usize,
}
