//! Columns of windows that lie side by side, as those of images that are cut into patches: what a line of windows meets
//! is a matrix with a row for each window, which is turned, from the channel or to it.

use super::columns;
use super::extents::Extents;
use crate::kernels::threads::Columns;
use crate::kernels::transpose::{SIDE, turned};
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::ops::Range;

/// Width of a window from which on this is faster than [`Lines`](super::lines::Lines).
const WIDE: usize = 4;

/// Whether each element of the input is met once at most, and nothing beside it, and windows are wide.
pub fn are_met(e: &Extents) -> bool {
    let lie_side_by_side = |axis: usize| {
        let window = e.windows[axis];
        window.stride == e.filter[axis]
            && (window.dilation, window.before) == (1, 0)
            && e.output[axis] * window.stride <= e.input[axis]
    };
    e.filter[1] >= WIDE && lie_side_by_side(0) && lie_side_by_side(1)
}

/// [`columns::gather`] for such windows.
pub fn gather(e: &Extents, channels: &[f32], positions: Range<usize>, tile: usize, columns: &mut [f32]) {
    vectorised(Gather { e, channels, positions, tile, columns });
}

struct Gather<'a> {
    e: &'a Extents,
    channels: &'a [f32],
    positions: Range<usize>,
    tile: usize,
    columns: &'a mut [f32],
}

impl VectorLoop for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Gather { e, channels, positions, tile, columns } = self;
        let [high, wide] = e.filter;
        let tiles = columns::size(channels.len() / e.area() * e.taps(), tile, tile);
        for (at, channel) in channels.chunks_exact(e.area()).enumerate() {
            for (place, first, count) in parts(e, positions.clone(), tile) {
                let columns = &mut columns[place / tile * tiles + at * e.taps() * tile + place % tile..];
                for y in 0..high {
                    let windows = &channel[first + y * e.input[1]..][..count * wide];
                    turn((windows, wide), [count, wide], (&mut columns[y * wide * tile..], tile));
                }
            }
        }
    }
}

/// [`columns::scatter`] for such windows, which puts what it would add.
pub fn scatter(
    e: &Extents,
    (columns, tile, first): (&[f32], usize, usize),
    positions: Range<usize>,
    channels: Columns<'_, f32>,
) {
    vectorised(Scatter { e, columns, tile, first, positions, channels });
}

struct Scatter<'a> {
    e: &'a Extents,
    columns: &'a [f32],
    tile: usize,
    first: usize,
    positions: Range<usize>,
    channels: Columns<'a, f32>,
}

impl VectorLoop for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Scatter { e, columns, tile, first, positions, mut channels } = self;
        let [high, wide] = e.filter;
        for (at, columns) in columns.chunks_exact(tile * e.taps()).enumerate() {
            let Some(channel) = channels.row(at) else { return };
            for (place, met, count) in parts(e, positions.clone(), tile) {
                let columns = &columns[first + place..];
                for y in 0..high {
                    let windows = &mut channel[met + y * e.input[1]..][..count * wide];
                    turn((&columns[y * wide * tile..], tile), [wide, count], (windows, wide));
                }
            }
        }
    }
}

/// Parts of these positions, each in one line and in one of the tiles that the positions are divided into: how many
/// positions are before it, where its first window begins in a channel, and how many windows it has.
#[inline(always)]
fn parts(e: &Extents, positions: Range<usize>, tile: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let (width, mut at) = (e.output[1], positions.start);
    std::iter::from_fn(move || {
        let (place, line, column) = (at - positions.start, at / width, at % width);
        let count = (width - column).min(tile - place % tile).min(positions.end - at);
        at += count;
        let first = line * e.filter[0] * e.input[1] + column * e.filter[1];
        (count > 0).then_some((place, first, count))
    })
}

/// Copies so many rows and columns, whose rows are that far apart, turned. The last ones may be copied twice.
#[inline(always)]
fn turn((from, apart): (&[f32], usize), [rows, columns]: [usize; 2], (to, to_apart): (&mut [f32], usize)) {
    if rows.min(columns) < SIDE {
        for row in 0..rows {
            for column in 0..columns {
                to[column * to_apart + row] = from[row * apart + column];
            }
        }
        return;
    }
    for row in (0..rows).step_by(SIDE) {
        let row = row.min(rows - SIDE);
        for column in (0..columns).step_by(SIDE) {
            let column = column.min(columns - SIDE);
            let mut square = [[0.0; SIDE]; SIDE];
            for (at, numbers) in square.iter_mut().enumerate() {
                numbers.copy_from_slice(&from[(row + at) * apart + column..][..SIDE]);
            }
            for (at, numbers) in turned(&square).iter().enumerate() {
                to[(column + at) * to_apart + row..][..SIDE].copy_from_slice(numbers);
            }
        }
    }
}
