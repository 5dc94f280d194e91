//! The output of a convolution.
//!
//! Pieces of work are some rows of the output at some positions, or at all positions of several samples if each has
//! few. Positions are divided before rows, because each piece copies the columns that its positions meet.

use super::columns;
use super::extents::{BLOCK, Extents, TILE};
use super::lines::Lines;
use super::target::{Target, panels, parts, whole_vectors};
use super::winograd::{self, Filters, Tiles};
use super::{Operands, STAYING, Scratch, rows};
use crate::kernels::matmul::{IN_PLACE, product, product_of_part};
use crate::kernels::threads::{Columns, share_parts};
use std::ops::Range;

/// Rows up to which reading columns in place is faster than one copy, and the positions that it takes.
const FEW_ROWS: usize = 512;
const LONG_ROWS: usize = 128;
/// Rows of a piece of several samples: with fewer, pieces for the same samples copy their columns too often.
const ROWS_OF_SEVERAL: usize = 256;

/// Fills `out`.
pub fn run(
    e: &Extents,
    tiles: Option<&Tiles>,
    (x, weights, bias): Operands<'_>,
    out: &mut [f32],
    (factors, each, scratch): Scratch<'_>,
) {
    let inner = e.inner();
    // From a channel of a sample on, counted through its groups.
    let plainly = |[sample, channel]: [usize; 2], positions, out: Columns<'_, f32>, scratch: &mut [f32]| {
        let (x, bias) = (e.input_of(x, sample, channel / e.outputs), bias.map(|bias| &bias[channel..]));
        piece(e, (x, &weights[channel * inner..], bias), positions, out, scratch);
    };
    if let Some(tiles) = tiles {
        let strides = [e.outputs * inner, inner, e.taps()];
        let operands = (x, Filters { elements: weights, strides, mirrored: false }, bias);
        return winograd::run(tiles, operands, out, (factors, each, scratch), &plainly);
    }
    let channels = e.groups * e.outputs;
    if let Some([samples, block]) = samples_together(e) {
        let (positions, parts) = (e.positions(), [samples, block * e.positions()]);
        let task = |[sample, at]: [usize; 2], samples: Columns<'_, f32>, scratch: &mut [f32]| {
            let channel = at / positions;
            let bias = bias.map(|bias| &bias[channel..]);
            let operands = (x, &weights[channel * inner..], bias);
            several(e, operands, [sample, channel / e.outputs], Target::Several { samples, positions }, scratch);
        };
        return share_parts(channels * positions, parts, out, (each, scratch), &task);
    }
    let [block, width] = e.part_of_output(TILE);
    share_parts(e.positions(), [block, width], out, (each, scratch), &|[row, start], out, scratch| {
        let positions = start..start + out.width();
        plainly([row / channels, row % channels], positions, out, scratch);
    });
}

/// Samples and rows of a piece of work, if it takes several samples.
pub fn samples_together(e: &Extents) -> Option<[usize; 2]> {
    let several = || e.several(e.outputs, ROWS_OF_SEVERAL).or_else(|| e.several(e.outputs, BLOCK));
    if e.is_pointwise() { None } else { several() }
}

/// Elements of scratch memory that a piece of work needs, at least one.
pub fn scratch(e: &Extents) -> usize {
    let inner = e.inner();
    let width = e.panel(inner);
    let of_one = if e.is_pointwise() { 1 } else { columns::size(inner, width, e.tile()) + Lines::most(e, width) };
    let of_several = |[_, rows]: [usize; 2]| (inner + rows) * TILE + Lines::most(e, TILE.min(e.positions()));
    of_one.max(samples_together(e).map_or(0, of_several))
}

/// Some rows of the output of a group in several samples: tiles of their positions, counted through the samples.
fn several(
    e: &Extents,
    (x, weights, bias): Operands<'_>,
    [sample, group]: [usize; 2],
    mut out: Target<'_>,
    scratch: &mut [f32],
) {
    let (inner, positions, height) = (e.inner(), e.positions(), out.rows());
    let (columns, scratch) = scratch.split_at_mut(inner * TILE);
    let (sums, buffer) = scratch.split_at_mut(height * TILE);
    let together = if inner * TILE > STAYING { height } else { IN_PLACE };
    for panel in panels(out.samples() * positions) {
        for part in parts(panel.clone(), positions) {
            let x = e.input_of(x, sample + part.sample, group);
            columns::gather(e, x, part.positions, TILE, &mut columns[part.at..], buffer);
        }
        let width = whole_vectors(columns, panel.len());
        for row in (0..height).step_by(together) {
            let extents = (together.min(height - row), width, inner);
            let sums = (&mut sums[row * TILE..], TILE);
            product(extents, rows(weights, row * inner, inner), rows(columns, 0, TILE), sums, false);
        }
        for part in parts(panel, positions) {
            for (row, sums) in sums.chunks_exact(TILE).enumerate() {
                let Some(out) = out.row(part.sample, row) else { unreachable!("a piece has so many samples and rows") };
                let (out, sums) = (&mut out[part.positions.clone()], &sums[part.at..][..part.positions.len()]);
                match bias {
                    Some(bias) => out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum + bias[row]),
                    None => out.copy_from_slice(sums),
                }
            }
        }
    }
}

/// Some rows of the output of a group at some positions: weights, a row for each output, times columns.
pub fn piece(
    e: &Extents,
    (x, weights, bias): Operands<'_>,
    positions: Range<usize>,
    mut out: Columns<'_, f32>,
    scratch: &mut [f32],
) {
    if e.is_pointwise() {
        return pointwise(e, (x, weights, bias), positions, out);
    }
    let (inner, wide) = (e.inner(), e.tile());
    let together = if inner * wide > STAYING { out.rows() } else { IN_PLACE };
    let panel = e.panel(inner);
    for first in positions.clone().step_by(panel) {
        let panel = first..(first + panel).min(positions.end);
        let (columns, buffer) = scratch.split_at_mut(columns::size(inner, panel.len(), wide));
        columns::gather(e, x, panel.clone(), wide, columns, buffer);
        for (start, columns) in panel.clone().step_by(wide).zip(columns.chunks_exact(columns::size(inner, wide, wide)))
        {
            let range = start - positions.start..(start + wide).min(panel.end) - positions.start;
            for row in (0..out.rows()).step_by(together) {
                let part = out.block(row..out.rows().min(row + together), range.clone());
                product_of_part(rows(weights, row * inner, inner), rows(columns, 0, wide), inner, part);
            }
            add_bias(bias, out.part(range));
        }
    }
}

/// The same for a filter of one element, which multiplies the input where it is.
fn pointwise(e: &Extents, (x, weights, bias): Operands<'_>, positions: Range<usize>, mut out: Columns<'_, f32>) {
    let (height, inner) = (out.rows(), e.inner());
    let in_place = height <= FEW_ROWS && positions.len() >= LONG_ROWS;
    let (together, width) = match bias {
        // So many columns stay in the cache for the next rows.
        _ if in_place && height > IN_PLACE => (IN_PLACE, (STAYING / inner / TILE * TILE).max(TILE)),
        // Or so much of the output, until the bias is added.
        Some(_) => (height, e.panel(height)),
        None => (height, positions.len()),
    };
    for start in positions.clone().step_by(width) {
        let range = start - positions.start..(start + width).min(positions.end) - positions.start;
        for row in (0..height).step_by(together) {
            let part = out.block(row..height.min(row + together), range.clone());
            product_of_part(rows(weights, row * inner, inner), rows(x, start, e.positions()), inner, part);
        }
        add_bias(bias, out.part(range));
    }
}

/// Adds the bias of each row, while they are in the cache.
pub fn add_bias(bias: Option<&[f32]>, mut out: Columns<'_, f32>) {
    for (row, bias) in bias.into_iter().flatten().enumerate() {
        let Some(out) = out.row(row) else { return };
        out.iter_mut().for_each(|out| *out += bias);
    }
}
