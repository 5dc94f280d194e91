//! 3x3 filters that move by one element, after Winograd: 16 products for 4 elements of output instead of 36.
//!
//! The output is cut into tiles of 2x2, which meet 4x4 elements of the input. With [`input`] and [`weights`]
//! transformed, each of the 16 places of a tile is a matrix product of its own, and [`output`] turns the 16 results
//! into the 4 elements. The transforms add and subtract, and halve weights, so errors are about those of the plain
//! sums: of outputs with a mean square of 1, the largest is 1.3e-6 for 64 channels and 2.1e-6 for 256; of plain sums
//! 3.1e-6 and 2.1e-6. Larger tiles would need fewer products, but their factors are not 1 and 1/2, which makes errors
//! larger.
//!
//! An element that is infinite or NaN would reach all elements of its tile as NaN. So would one whose sums overflow. A
//! piece of output that is not finite is therefore summed once more, plainly.

mod input;
mod output;
mod weights;

use super::extents::Extents;
use super::lines::{Lines, SLACK};
use super::{Operands, Window};
use crate::kernels::matmul::{Matrix, product};
use crate::kernels::threads::{Columns, share};
use std::ops::Range;
pub use weights::Filters;

/// Places of a tile that are multiplied.
const PLACES: usize = 16;
/// Tiles that are multiplied at a time: `gemm` takes so many with AVX-512.
const WIDE: usize = 64;
/// Rows of a product: `gemm` reads the transformed input in place for so few.
const ROWS: usize = 32;
/// Elements that are transformed side by side.
const LANES: usize = 8;
/// Input and output channels from which on products outweigh the transforms.
const CHANNELS: usize = 24;
/// Tiles of a sample from which on the transformed weights are used often enough.
const TILES: usize = 32;

/// Elements that are transformed side by side.
type Vector = [f32; LANES];

#[inline(always)]
fn add(mut a: Vector, b: Vector) -> Vector {
    for i in 0..LANES {
        a[i] += b[i];
    }
    a
}

#[inline(always)]
fn sub(mut a: Vector, b: Vector) -> Vector {
    for i in 0..LANES {
        a[i] -= b[i];
    }
    a
}

/// Whether this is the faster way.
pub fn applies(e: &Extents) -> bool {
    let plain = |window: &Window| (window.stride, window.dilation) == (1, 1);
    let tiles = tiles(e).output.iter().product::<usize>();
    e.filter == [3, 3]
        && e.windows.iter().all(plain)
        && e.inputs.min(e.outputs) >= CHANNELS
        && tiles >= TILES
        && e.is_parallel()
}

/// The tiles as a convolution: each is an element of output that meets 4x4 elements.
fn tiles(e: &Extents) -> Extents {
    let windows = e.windows.map(|window| Window { stride: 2, ..window });
    Extents { filter: [4, 4], output: e.output.map(|extent| extent.div_ceil(2)), windows, ..*e }
}

/// Elements of the transformed weights.
pub fn weights_size(e: &Extents) -> usize {
    e.groups * e.outputs * e.inputs * PLACES
}

/// Elements of scratch memory that a piece of work needs.
pub fn scratch(e: &Extents) -> usize {
    PLACES * (plane(e) + ROWS * WIDE) + Lines::most(&tiles(e), WIDE.min(tiles(e).positions()))
}

/// Elements of one place of the transformed input.
fn plane(e: &Extents) -> usize {
    e.inputs * WIDE + SLACK
}

/// Output positions in multiples of which work is cut: lines of tiles, about as many tiles as are multiplied at a time.
pub fn unit(e: &Extents) -> usize {
    (WIDE / tiles(e).output[1]).max(1) * 2 * e.output[1]
}

/// Transforms the weights for pieces with `block` rows.
pub fn transform_weights(e: &Extents, filters: Filters<'_>, block: usize, out: &mut [f32]) {
    // The rows of a product follow each other, so blocks of whole products can be divided.
    let block = if block.is_multiple_of(ROWS) { ROWS } else { block };
    share(true, block * e.inputs * PLACES, out, |at, out| weights::transform(e, filters, at * block, out));
}

/// The transformed weights from this row on, counted through all groups.
pub fn rows<'a>(e: &Extents, weights: &'a [f32], from: usize) -> &'a [f32] {
    &weights[from * e.inputs * PLACES..]
}

/// Computes the rows of `out`, which has whole lines of tiles at these positions, from the channels of a group and the
/// transformed weights of these rows. Returns whether all elements are finite.
pub fn piece(
    e: &Extents,
    (x, weights, bias): Operands<'_>,
    positions: Range<usize>,
    mut out: Columns<'_, f32>,
    scratch: &mut [f32],
) -> bool {
    let of = tiles(e);
    let line = |at: usize| at.div_ceil(2 * e.output[1]) * of.output[1];
    let range = line(positions.start)..line(positions.end);
    let (planes, scratch) = scratch.split_at_mut(PLACES * plane(e));
    let (sums, buffer) = scratch.split_at_mut(PLACES * ROWS * WIDE);
    let mut is_finite = true;
    for start in range.clone().step_by(WIDE) {
        let panel = start..(start + WIDE).min(range.end);
        input::transform(&of, x, panel.clone(), planes, buffer);
        for first in (0..out.rows()).step_by(ROWS) {
            let height = ROWS.min(out.rows() - first);
            let weights = rows(e, weights, first).chunks_exact(height * e.inputs);
            let places = weights.zip(planes.chunks_exact(plane(e))).zip(sums.chunks_exact_mut(ROWS * WIDE));
            for ((weights, plane), sums) in places {
                let weights = Matrix { elements: weights, strides: [e.inputs, 1] };
                let plane = Matrix { elements: plane, strides: [WIDE, 1] };
                product((height, panel.len(), e.inputs), weights, plane, (sums, WIDE), false);
            }
            let bias = bias.map(|bias| &bias[first..]);
            let width = out.width();
            let part = out.block(first..first + height, 0..width);
            is_finite &= output::transform(e, (panel.clone(), positions.start), sums, bias, part);
        }
    }
    is_finite
}
