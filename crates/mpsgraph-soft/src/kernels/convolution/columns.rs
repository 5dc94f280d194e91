//! Panels of columns: what the taps of the filter meet at a range of output positions.
//!
//! A panel has a row for each channel and tap and a column for each position. [`gather`] fills one from the input,
//! [`scatter`] adds one to the gradient of the input. Both go through [`Lines`] of a channel at a time.

use super::extents::Extents;
use super::lines::{Lines, SLACK, Segment};
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::ops::Range;

/// Elements of a panel of columns, `tile` positions of all rows after another `tile` positions.
pub fn size(rows: usize, positions: usize, tile: usize) -> usize {
    positions.div_ceil(tile) * stride(rows, tile)
}

/// From a tile to the next.
pub fn stride(rows: usize, tile: usize) -> usize {
    rows * tile + SLACK
}

/// The elements of channels that the taps meet at these positions; 0 outside of the input. The rows of a tile are
/// `tile` elements apart, and `scratch` has room for a panel and [`Lines`]; returned is the panel.
pub fn gather<'s>(
    e: &Extents,
    channels: &[f32],
    positions: Range<usize>,
    tile: usize,
    scratch: &'s mut [f32],
) -> &'s [f32] {
    let rows = channels.len() / e.area() * e.taps();
    let (columns, buffer) = scratch.split_at_mut(size(rows, positions.len(), tile));
    let lines = Lines::new(e, positions);
    vectorised(Gather { e, channels, lines, tile, buffer: &mut buffer[..lines.size()], columns: &mut *columns });
    columns
}

struct Gather<'a> {
    e: &'a Extents,
    channels: &'a [f32],
    lines: Lines<'a>,
    tile: usize,
    buffer: &'a mut [f32],
    columns: &'a mut [f32],
}

impl VectorLoop for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Gather { e, channels, lines, tile, buffer, columns } = self;
        buffer.fill(0.0);
        let tiles = stride(channels.len() / e.area() * e.taps(), tile);
        for (at, channel) in channels.chunks_exact(e.area()).enumerate() {
            lines.fill(channel, buffer);
            for tap in 0..e.taps() {
                let row = (at * e.taps() + tap) * tile;
                let met = &buffer[lines.tap(tap)..];
                let (mut base, mut end) = (row, tile);
                lines.segments(tile, |Segment { at, count, from }| {
                    if at == end {
                        (base, end) = (base + tiles, end + tile);
                    }
                    copy(&met[from..], &mut columns[base + at + tile - end..], count);
                });
            }
        }
    }
}

/// Copies `count` elements and some that follow, whose places are filled later.
#[inline(always)]
fn copy(from: &[f32], to: &mut [f32], count: usize) {
    let parts = count.div_ceil(SLACK);
    let (from, to) = (&from[..parts * SLACK], &mut to[..parts * SLACK]);
    for (from, to) in from.as_chunks::<SLACK>().0.iter().zip(to.as_chunks_mut::<SLACK>().0) {
        *to = *from;
    }
}

/// Adds a panel of columns, one tile, to the channels that the taps meet at these positions. `buffer` has room for
/// [`Lines`].
pub fn scatter(e: &Extents, columns: &[f32], positions: Range<usize>, channels: &mut [f32], buffer: &mut [f32]) {
    let lines = Lines::new(e, positions.clone());
    let buffer = &mut buffer[..lines.size()];
    vectorised(Scatter { e, columns, width: positions.len(), lines, buffer, channels });
}

struct Scatter<'a> {
    e: &'a Extents,
    columns: &'a [f32],
    /// Of a row.
    width: usize,
    lines: Lines<'a>,
    buffer: &'a mut [f32],
    channels: &'a mut [f32],
}

impl VectorLoop for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Scatter { e, columns, width, lines, buffer, channels } = self;
        let columns = columns.chunks_exact(width * e.taps());
        for (channel, columns) in channels.chunks_exact_mut(e.area()).zip(columns) {
            buffer.fill(0.0);
            for (tap, row) in columns.chunks_exact(width).enumerate() {
                let met = &mut buffer[lines.tap(tap)..];
                lines.segments(width, |Segment { at, count, from }| {
                    met[from..from + count].iter_mut().zip(&row[at..at + count]).for_each(|(x, &grad)| *x += grad);
                });
            }
            lines.add(buffer, channel);
        }
    }
}
