//! 3x3 filters that move by one element, after Winograd: 16 products for 4 elements of output instead of 36.
//!
//! The output is cut into tiles of 2x2, which meet 4x4 elements of the input. With [`input`] and [`weights`]
//! transformed, each of the 16 places of a tile is a matrix product of its own, and [`output`] turns the 16 results
//! into the 4 elements. The transforms add and subtract, and halve weights, so errors are about those of the plain
//! sums: of outputs with a mean square of 1, the largest is 1.3e-6 for 64 channels and 2.1e-6 for 256; of plain sums
//! 3.1e-6 and 2.1e-6. Larger tiles would need fewer products, but their factors are not 1 and 1/2, which makes errors
//! larger. A filter that moves by two would need 25 products instead of 36, which gains less than the transforms of
//! those cost.

mod input;
mod output;
mod tiles;
mod weights;

use super::Scratch;
use super::extents::{TILE, VECTOR};
use super::lines::SLACK;
use super::target::{Target, panels};
use crate::kernels::matmul::{IN_PLACE, Matrix, product};
use crate::kernels::threads::{Columns, share_parts};
use std::ops::Range;
pub use tiles::Tiles;
pub use weights::Filters;

/// Places of a tile that are multiplied.
const PLACES: usize = 16;
/// Tiles that are multiplied at a time, of several samples if each has few.
const WIDE: usize = TILE;
/// Rows of a product, which reads the transformed input in place.
const ROWS: usize = IN_PLACE;
/// Elements that are transformed side by side.
const LANES: usize = 8;

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

/// Elements of scratch memory that all pieces of work share: the transformed weights.
pub fn shared(tiles: &Tiles) -> usize {
    tiles.of.groups * tiles.of.outputs * tiles.of.inputs * PLACES
}

/// Elements of scratch memory that a piece of work needs.
pub fn scratch(tiles: &Tiles) -> usize {
    PLACES * (plane(tiles) + ROWS * WIDE) + tiles.buffer()
}

/// Elements of one place of the transformed input.
fn plane(tiles: &Tiles) -> usize {
    tiles.of.inputs * WIDE + SLACK
}

/// Computes rows of a result plainly: those from a channel of a sample on, counted through its groups, at these
/// positions.
pub type Plainly<'a> = dyn Fn([usize; 2], Range<usize>, Columns<'_, f32>, &mut [f32]) + Sync + 'a;

/// Fills `out` from the input, the weights and a bias. The pieces of work share what is in the first part of the
/// memory; each needs so many elements of the other one.
///
/// An element that is infinite or NaN would reach all elements of its tile as NaN. So would one whose sums overflow. A
/// piece of output that is not finite is therefore summed once more, `plainly`.
pub fn run(
    tiles: &Tiles,
    (x, filters, bias): (&[f32], Filters<'_>, Option<&[f32]>),
    out: &mut [f32],
    (factors, each, scratch): Scratch<'_>,
    plainly: &Plainly<'_>,
) {
    let [samples, block, width] = tiles.piece();
    weights::transform(tiles, filters, block, factors);
    let (of, factors, positions) = (&tiles.of, &*factors, tiles.positions());
    let rows = of.groups * of.outputs;
    let piece = |[sample, channel]: [usize; 2], start: usize, mut target: Target<'_>, scratch: &mut [f32]| {
        let work = Work {
            tiles,
            x,
            weights: &factors[channel * of.inputs * PLACES..],
            bias: bias.map(|bias| &bias[channel..]),
            sample,
            group: channel / of.outputs,
            positions: start..start + target.width(),
        };
        if !work.run(&mut target, scratch) {
            target.each(|at, out| plainly([sample + at, channel], work.positions.clone(), out, scratch));
        }
    };
    if samples == 1 {
        return share_parts(positions, [block, width], out, (each, scratch), &|[row, start], out, scratch| {
            piece([row / rows, row % rows], start, Target::One(out), scratch);
        });
    }
    let parts = [samples, block * positions];
    share_parts(rows * positions, parts, out, (each, scratch), &|[sample, at], out, scratch| {
        piece([sample, at / positions], 0, Target::Several { samples: out, positions }, scratch);
    });
}

/// A piece of work: rows of a group in some samples, whole lines of tiles of each.
struct Work<'a> {
    tiles: &'a Tiles,
    x: &'a [f32],
    /// Transformed, from the first row on.
    weights: &'a [f32],
    bias: Option<&'a [f32]>,
    /// The first one.
    sample: usize,
    group: usize,
    positions: Range<usize>,
}

impl Work<'_> {
    /// Fills the rows of `out`. Returns whether all elements are finite.
    fn run(&self, out: &mut Target<'_>, scratch: &mut [f32]) -> bool {
        let (inputs, plane) = (self.tiles.of.inputs, plane(self.tiles));
        let (planes, scratch) = scratch.split_at_mut(PLACES * plane);
        let (sums, buffer) = scratch.split_at_mut(PLACES * ROWS * WIDE);
        let (rows, mut is_finite) = (out.rows(), true);
        for panel in panels(out.samples() * self.range().len()) {
            input::transform(self, panel.clone(), planes, buffer);
            // `gemm` would copy a matrix whose width is no whole vectors.
            let width = panel.len().next_multiple_of(VECTOR);
            for first in (0..rows).step_by(ROWS) {
                let height = ROWS.min(rows - first);
                let weights = self.weights[first * inputs * PLACES..].chunks_exact(height * inputs);
                let places = weights.zip(planes.chunks_exact(plane)).zip(sums.chunks_exact_mut(ROWS * WIDE));
                for ((weights, plane), sums) in places {
                    let weights = Matrix { elements: weights, strides: [inputs, 1] };
                    let plane = Matrix { elements: plane, strides: [WIDE, 1] };
                    product((height, width, inputs), weights, plane, (sums, WIDE), false);
                }
                is_finite &= output::transform(self, (first..first + height, panel.clone()), sums, out);
            }
        }
        is_finite
    }

    /// The tiles of each sample.
    fn range(&self) -> Range<usize> {
        self.tiles.lines(self.positions.clone())
    }
}
