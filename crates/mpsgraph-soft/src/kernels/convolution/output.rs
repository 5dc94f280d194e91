//! The output of a convolution.
//!
//! Pieces of work are some rows of the output at some positions. Positions are divided before rows, because each piece
//! copies the columns that its positions meet.

use super::columns;
use super::extents::{Extents, TILE};
use super::winograd::{self, Filters, Tiles};
use super::{Operands, STAYING, Wanted, rows, scratch_of, shared};
use crate::kernels::matmul::{IN_PLACE, product_of_part};
use crate::kernels::threads::{Columns, share_parts};
use std::ops::Range;

/// Rows up to which reading columns in place is faster than one copy, and the positions that it takes.
const FEW_ROWS: usize = 512;
const LONG_ROWS: usize = 128;

/// Fills `out`.
pub fn run(e: &Extents, (x, weights, bias): Operands<'_>, out: &mut [f32], scratch: &mut [f32]) {
    let inner = e.inner();
    let each = scratch_of(e, Wanted::Output);
    let (factors, scratch) = scratch.split_at_mut(shared(e, Wanted::Output));
    // From a channel of a sample on, counted through its groups.
    let plainly = |[sample, channel]: [usize; 2], positions, out: Columns<'_, f32>, scratch: &mut [f32]| {
        let (x, bias) = (e.input_of(x, sample, channel / e.outputs), bias.map(|bias| &bias[channel..]));
        piece(e, (x, &weights[channel * inner..], bias), positions, out, scratch);
    };
    if let Some(tiles) = Tiles::new(e, Wanted::Output) {
        let strides = [e.outputs * inner, inner, e.taps()];
        let operands = (x, Filters { elements: weights, strides, mirrored: false }, bias);
        return winograd::run(&tiles, operands, out, (factors, each, scratch), &plainly);
    }
    let [block, width] = e.output_piece(TILE);
    let channels = e.groups * e.outputs;
    share_parts(e.positions(), [block, width], out, (each, scratch), &|[row, start], out, scratch| {
        let positions = start..start + out.width();
        plainly([row / channels, row % channels], positions, out, scratch);
    });
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
        let columns = columns::gather(e, x, panel.clone(), wide, scratch);
        for (start, columns) in panel.clone().step_by(wide).zip(columns.chunks_exact(columns::stride(inner, wide))) {
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
