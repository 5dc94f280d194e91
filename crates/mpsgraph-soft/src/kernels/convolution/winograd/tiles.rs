//! The tiles of a result, and how they are shared.

use super::WIDE;
use crate::kernels::convolution::extents::{BLOCK, Extents};
use crate::kernels::convolution::lines::Lines;
use crate::kernels::convolution::{Wanted, Window};
use std::ops::Range;

/// Input and output channels from which on products outweigh the transforms.
const CHANNELS: usize = 24;
/// Tiles from which on the transformed weights are used often enough.
const TILES: usize = 32;
/// Tiles of a piece of work from which on it does not show that its last product has fewer.
const MANY: usize = 4 * WIDE;
/// Rows of a piece of several samples: with fewer, transforming their input would take longer than multiplying it.
const ROWS_OF_SEVERAL: usize = 128;
/// Pieces of several samples at least.
const PIECES_OF_SEVERAL: usize = 4;

/// A result as tiles.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// The tiles as a convolution: each is an element of output that meets 4x4 elements.
    pub of: Extents,
    /// Height and width of the result.
    pub result: [usize; 2],
    wanted: Wanted,
}

impl Tiles {
    /// Those of what is wanted, if this is the faster way.
    pub fn new(e: &Extents, wanted: Wanted) -> Option<Self> {
        let e = match wanted {
            Wanted::Output => *e,
            Wanted::InputGradient => e.mirrored()?,
            Wanted::WeightsGradient => return None,
        };
        let plain = |window: &Window| (window.stride, window.dilation) == (1, 1);
        let windows = e.windows.map(|window| Window { stride: 2, ..window });
        let of = Extents { filter: [4, 4], output: e.output.map(|extent| extent.div_ceil(2)), windows, ..e };
        let applies = e.filter == [3, 3]
            && e.windows.iter().all(plain)
            && e.inputs.min(e.outputs) >= CHANNELS
            && of.batch * of.positions() >= TILES
            && e.is_parallel();
        applies.then_some(Self { of, result: e.output, wanted })
    }

    /// Elements of a channel of the result.
    pub fn positions(&self) -> usize {
        self.result[0] * self.result[1]
    }

    /// The tiles of these positions, which are whole lines of tiles.
    pub fn lines(&self, positions: Range<usize>) -> Range<usize> {
        let line = |at: usize| at.div_ceil(2 * self.result[1]) * self.of.output[1];
        line(positions.start)..line(positions.end)
    }

    /// Samples, rows and positions of a piece of work.
    pub fn piece(&self) -> [usize; 3] {
        let (of, positions) = (&self.of, self.positions());
        let most = MANY.div_ceil(of.positions()).min(of.batch);
        for samples in (2..=most).rev() {
            let pieces = of.batch.div_ceil(samples);
            let block = of.block(pieces, of.outputs, ROWS_OF_SEVERAL);
            if pieces * of.groups * (of.outputs / block) >= PIECES_OF_SEVERAL {
                return [of.batch.div_ceil(pieces), block, positions];
            }
        }
        match self.wanted {
            // Whole lines of tiles, about as many tiles as are multiplied at a time.
            Wanted::Output => {
                let result = Extents { output: self.result, ..*of };
                let [block, width] = result.output_piece((WIDE / of.output[1]).max(1) * 2 * self.result[1]);
                [1, block, width]
            }
            Wanted::InputGradient => [1, of.block(of.batch, of.outputs, BLOCK), positions],
            Wanted::WeightsGradient => unreachable!("it has no tiles"),
        }
    }

    /// Elements of memory for the lines of a channel that the tiles of a product meet.
    pub fn buffer(&self) -> usize {
        let of_sample = WIDE.min(self.of.positions());
        let parts = WIDE.div_ceil(of_sample) + 1;
        parts * Lines::most(&self.of, of_sample)
    }
}
