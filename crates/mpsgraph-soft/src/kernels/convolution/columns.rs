//! Panels of columns: what the taps of the filter meet at a range of output positions.
//!
//! A panel has a row for each channel and tap and a column for each position. [`gather`] fills one from the input,
//! [`scatter`] adds one to the gradient of the input. Both go through [`Lines`] of a channel at a time.

use super::extents::Extents;
use super::lines::{Lines, Segment, copy};
use super::patches;
use crate::kernels::threads;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use smallvec::SmallVec;
use std::ops::Range;

/// Elements of a panel of columns, `tile` positions of all rows after another `tile` positions.
pub fn size(rows: usize, positions: usize, tile: usize) -> usize {
    positions.div_ceil(tile) * rows * tile
}

/// Copies the elements of channels that the taps meet at these positions; 0 outside of the input. The rows of a tile
/// are `tile` elements apart, and `buffer` has room for [`Lines`].
pub fn gather(
    e: &Extents,
    channels: &[f32],
    positions: Range<usize>,
    tile: usize,
    columns: &mut [f32],
    buffer: &mut [f32],
) {
    if patches::are_met(e) {
        return patches::gather(e, channels, positions, tile, columns);
    }
    let lines = Lines::new(e, positions);
    vectorised(Gather { e, channels, lines, tile, buffer: &mut buffer[..lines.size()], columns });
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
        let taps: Taps = (0..e.taps()).map(|tap| lines.tap(tap)).collect();
        let tiles = size(channels.len() / e.area() * e.taps(), tile, tile);
        for (at, channel) in channels.chunks_exact(e.area()).enumerate() {
            lines.fill(channel, buffer);
            let (mut base, mut end) = (at * e.taps() * tile, tile);
            lines.segments(tile, |Segment { at, count, from }| {
                if at == end {
                    (base, end) = (base + tiles, end + tile);
                }
                let (met, columns) = (&buffer[from..], &mut columns[base + at + tile - end..]);
                match count {
                    16.. => copy_taps::<16>(&taps, met, columns, tile, count),
                    8.. => copy_taps::<8>(&taps, met, columns, tile, count),
                    4.. => copy_taps::<4>(&taps, met, columns, tile, count),
                    _ => copy_taps::<1>(&taps, met, columns, tile, count),
                }
            });
        }
    }
}

/// Where each tap meets what the first one meets.
type Taps = SmallVec<[usize; 32]>;

/// Copies the `count` elements that each tap meets to its row.
#[inline(always)]
fn copy_taps<const VECTOR: usize>(taps: &[usize], met: &[f32], columns: &mut [f32], tile: usize, count: usize) {
    for (row, &tap) in taps.iter().enumerate() {
        copy::<VECTOR>(&met[tap..][..count], &mut columns[row * tile..][..count]);
    }
}

/// Adds columns, a tile or a part of one from column `first` on, to the channels that the taps meet at these positions,
/// each a row that was filled with 0. `buffer` has room for [`Lines`].
pub fn scatter(
    e: &Extents,
    (columns, tile, first): (&[f32], usize, usize),
    positions: Range<usize>,
    channels: threads::Columns<'_, f32>,
    buffer: &mut [f32],
) {
    if patches::are_met(e) {
        return patches::scatter(e, (columns, tile, first), positions, channels);
    }
    let lines = Lines::new(e, positions);
    let buffer = &mut buffer[..lines.size()];
    vectorised(Scatter { e, columns, tile, first, lines, buffer, channels });
}

struct Scatter<'a> {
    e: &'a Extents,
    columns: &'a [f32],
    tile: usize,
    first: usize,
    lines: Lines<'a>,
    buffer: &'a mut [f32],
    channels: threads::Columns<'a, f32>,
}

impl VectorLoop for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Scatter { e, columns, tile, first, lines, buffer, mut channels } = self;
        for (at, columns) in columns.chunks_exact(tile * e.taps()).enumerate() {
            let Some(channel) = channels.row(at) else { return };
            buffer.fill(0.0);
            for (tap, row) in columns.chunks_exact(tile).enumerate() {
                let (met, row) = (&mut buffer[lines.tap(tap)..], &row[first..]);
                lines.segments(tile, |Segment { at, count, from }| {
                    met[from..from + count].iter_mut().zip(&row[at..at + count]).for_each(|(x, &grad)| *x += grad);
                });
            }
            lines.add(buffer, channel);
        }
    }
}
