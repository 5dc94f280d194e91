//! The tiles of a result, and how they are shared.

use super::{LANES, PLACES, WIDE};
use crate::kernels::convolution::extents::{BLOCK, Extents};
use crate::kernels::convolution::lines::Lines;
use crate::kernels::convolution::{Wanted, Window};
use std::ops::Range;

/// Input and output channels from which on products outweigh the transforms of input and output.
const CHANNELS: usize = 32;
/// Products saved for an input and an output channel, times what the channels weigh, from which on that pays for
/// transforming the weights too, and for tiles that lie partly outside.
const SAVED: usize = 250_000;
/// Channels from which on transforms of input and output take little of what is saved.
const SEVERAL: usize = 64;
/// So many of fewer channels weigh as much as one.
const OF_FEW: usize = 4;
/// Channels that weigh most: of more, the weights to transform leave the caches.
const MOST: usize = 128;
/// Rows of a piece of several samples: with fewer, transforming their input would take longer than multiplying it.
const ROWS_OF_SEVERAL: usize = 128;

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
        Self::of(e, wanted).filter(|tiles| {
            let (of, taps) = (&tiles.of, e.taps());
            let channels = of.inputs.min(of.outputs);
            let saved = (taps * tiles.positions()).saturating_sub(PLACES * of.positions());
            let weight = if channels < SEVERAL { channels / OF_FEW } else { channels.min(MOST) };
            e.is_parallel() && channels >= CHANNELS && weight * of.batch * saved >= SAVED
        })
    }

    /// Those of what is wanted, if this is a way.
    pub fn of(e: &Extents, wanted: Wanted) -> Option<Self> {
        let e = match wanted {
            Wanted::Output => *e,
            Wanted::InputGradient => e.mirrored()?,
            Wanted::WeightsGradient => return None,
        };
        let plain = |window: &Window| (window.stride, window.dilation) == (1, 1);
        let windows = e.windows.map(|window| Window { stride: 2, ..window });
        let of = Extents { filter: [4, 4], output: e.output.map(|extent| extent.div_ceil(2)), windows, ..e };
        // The transform of the weights takes so many of them side by side.
        let applies = e.filter == [3, 3] && e.windows.iter().all(plain) && e.inputs >= LANES;
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
        if let Some([samples, block]) = of.several(of.outputs, ROWS_OF_SEVERAL) {
            return [samples, block, positions];
        }
        match self.wanted {
            // Whole lines of tiles, about as many tiles as are multiplied at a time.
            Wanted::Output => {
                let result = Extents { output: self.result, ..*of };
                let [block, width] = result.part_of_output((WIDE / of.output[1]).max(1) * 2 * self.result[1]);
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
