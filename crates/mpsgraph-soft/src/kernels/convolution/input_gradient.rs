//! The gradient of a convolution for its input.
//!
//! Where the filter moves by one element, it is the output of a convolution with the mirrored filter. Otherwise, turned
//! weights, a row for each input channel and tap, times the output's gradient are the columns' gradient, which is added
//! up where the taps met. Of few positions what the weights make is turned instead. Pieces of work are then some input
//! channels of a sample, of a part of it if there are few channels, or of several samples if each has few
//! positions.

use super::columns;
use super::extents::{BLOCK, Extents, TILE};
use super::lines::Lines;
use super::mirror;
use super::output;
use super::target::{panels, parts, whole_vectors};
use super::turn::transposed;
use super::winograd::{self, Filters, Tiles};
use super::{Matrix, STAYING, Scratch, product, rows, share};
use crate::kernels::matmul::product_of_part;
use crate::kernels::threads::{Columns, share_parts};
use std::ops::Range;

/// Input channels whose weights are turned together.
const TOGETHER: usize = 8;

/// Outputs for an input channel from which on adding up its columns takes less time than copying and multiplying what
/// the taps of the mirrored filter meet.
const OUTPUTS: usize = 2;

/// Positions of all samples and weights of a group of which the way of the weights from memory takes most of the time.
const FEW_POSITIONS: usize = 400;
const MANY_WEIGHTS: usize = 1 << 17;

/// The convolution with the mirrored filter, if that is faster. Of many weights for few positions it is not: to mirror
/// or to turn them takes longer than to turn what they make.
fn mirrored(e: &Extents) -> Option<Extents> {
    let is_faster = e.outputs < OUTPUTS * e.inputs && !e.is_pointwise() && !is_weighty(e);
    e.mirrored().filter(|_| is_faster)
}

/// Whether there are many weights for few positions.
fn is_weighty(e: &Extents) -> bool {
    e.batch * e.positions() <= FEW_POSITIONS && e.outputs * e.inner() >= MANY_WEIGHTS
}

/// Elements of scratch memory that all pieces of work share: the turned weights.
pub fn shared(e: &Extents) -> usize {
    if e.is_pointwise() || turns_in_pieces(e) || leaves_weights(e) { 0 } else { e.groups * e.outputs * e.inner() }
}

/// Elements of scratch memory that a piece of work needs, at least one.
pub fn scratch(e: &Extents, tiles: Option<&Tiles>) -> usize {
    let block = block(e, tiles);
    let (height, width) = (block * e.taps(), e.panel(block * e.taps()));
    let turned = if turns_in_pieces(e) && tiles.is_none() { height * turned_together(e, width) } else { 0 };
    let of_one = if e.is_pointwise() { 1 } else { turned + height * width + Lines::most(e, width) };
    let of_several = |[_, block]: [usize; 2]| {
        let columns = channels_together(e, block) * e.taps() * if leaves_weights(e) { 2 } else { 1 };
        (e.outputs + columns) * TILE + Lines::most(e, TILE.min(e.positions()))
    };
    let of_mirrored = mirrored(e).map_or(0, |mirrored| output::scratch(&mirrored));
    of_one.max(samples_together(e).map_or(0, of_several)).max(of_mirrored)
}

/// Whether each weight is in one piece of work, which then turns its weights itself.
fn turns_in_pieces(e: &Extents) -> bool {
    e.batch == 1 && !e.is_pointwise() && mirrored(e).is_none()
}

/// Numbers that a piece turns for each of its rows: the weights for all outputs, or if they are fewer, what they make
/// for the positions of a panel.
fn turned_together(e: &Extents, width: usize) -> usize {
    if turns_columns(e) { width } else { e.outputs }
}

/// Whether a piece that turns its weights itself leaves them, and turns what they make, because that is less.
fn turns_columns(e: &Extents) -> bool {
    e.positions() < e.outputs
}

/// Whether pieces of several samples read the weights where they are, and turn what they make.
fn leaves_weights(e: &Extents) -> bool {
    is_weighty(e) && samples_together(e).is_some()
}

/// Input channels of a piece of one sample. A product has a row for each channel and tap, and what its columns are made
/// of is read in place, so few channels are enough for a block.
fn block(e: &Extents, tiles: Option<&Tiles>) -> usize {
    if let Some(tiles) = tiles {
        let [_, block, _] = tiles.piece();
        return block;
    }
    e.block(e.batch, e.inputs, if e.is_parallel() { BLOCK.div_ceil(e.taps()) } else { BLOCK })
}

/// Samples and input channels of a piece of work, if it takes several samples.
fn samples_together(e: &Extents) -> Option<[usize; 2]> {
    e.several(e.inputs, BLOCK).filter(|_| !e.is_pointwise())
}

/// Input channels of which a product has the columns, so that they stay in the cache.
fn channels_together(e: &Extents, block: usize) -> usize {
    (STAYING / (e.taps() * TILE)).clamp(1, block)
}

/// Fills `out`.
pub fn run(
    e: &Extents,
    tiles: Option<&Tiles>,
    (grad, weights): (&[f32], &[f32]),
    out: &mut [f32],
    (turned, each, scratch): Scratch<'_>,
) {
    let (inner, taps) = (e.inner(), e.taps());
    // The weights of a channel where they are: one row for each channel and tap.
    let in_place = |channel: usize| Matrix {
        elements: &weights[channel / e.inputs * e.outputs * inner + channel % e.inputs * taps..],
        strides: [1, inner],
    };
    if let Some(tiles) = tiles {
        // The other way round, inputs are rows and outputs are columns.
        let filters = Filters { elements: weights, strides: [e.outputs * inner, taps, inner], mirrored: true };
        let scratch = (turned, each, scratch);
        return winograd::run(tiles, (grad, filters, None), out, scratch, &|[sample, channel], _, out, scratch| {
            let grad = rows(e.output_of(grad, sample, channel / e.inputs), 0, e.positions());
            piece(e, (grad, in_place(channel)), None, out, scratch);
        });
    }
    if let Some(mirrored) = mirrored(e) {
        // A zero beside the output's gradient would make NaN of an infinite weight.
        if mirror::weights(e, weights, turned) {
            return output::run(&mirrored, None, (grad, turned, None), out, (&mut [], each, scratch));
        }
    }
    turn(e, weights, turned);
    let turned = &*turned;
    let weights_of = |channel: usize| {
        let group = channel / e.inputs * e.outputs * inner;
        let from = group + channel % e.inputs * taps * e.outputs;
        if turned.is_empty() { in_place(channel) } else { rows(turned, from, e.outputs) }
    };
    if let Some([samples, block]) = samples_together(e) {
        let channels = e.groups * e.inputs;
        let parts = [samples, block * e.area()];
        return share_parts(channels * e.area(), parts, out, (each, scratch), &|[sample, at], out, scratch| {
            let channel = at / e.area();
            several(e, (grad, weights_of(channel)), [sample, channel / e.inputs], out, scratch);
        });
    }
    let block = block(e, tiles);
    let [between, between_outputs] = e.between_cuts();
    let parts = [block, e.part_of_input(e.batch * e.groups * (e.inputs / block)) * between];
    share_parts(e.area(), parts, out, (each, scratch), &|[at, start], out, scratch| {
        let (sample, channel) = (at / (e.groups * e.inputs), at % (e.groups * e.inputs));
        let (part, first) = e.of_input(start / between..(start + out.width()) / between);
        let grad = rows(e.output_of(grad, sample, channel / e.inputs), first * between_outputs, e.positions());
        if turns_in_pieces(e) {
            let height = block * taps;
            let (turned, scratch) = scratch.split_at_mut(height * turned_together(e, e.panel(height)));
            return piece(&part, (grad, in_place(channel)), Some(turned), out, scratch);
        }
        piece(&part, (grad, weights_of(channel)), None, out, scratch);
    });
}

/// Fills `turned` with the weights of each group transposed, if there is room for them.
fn turn(e: &Extents, weights: &[f32], turned: &mut [f32]) {
    if turned.is_empty() {
        return;
    }
    let (inner, taps) = (e.inner(), e.taps());
    let together = if e.inputs.is_multiple_of(TOGETHER) { TOGETHER * taps } else { inner };
    share(e.is_parallel(), e.outputs * together, turned, |at, turned| {
        let (group, row) = (at * together / inner, at * together % inner);
        transposed(rows(weights, group * e.outputs * inner + row, inner), (e.outputs, together), turned);
    });
}

/// Some channels of a group in several samples, each a row of `out`: tiles of the positions, counted through them.
fn several(
    e: &Extents,
    (grad, weights): (&[f32], Matrix<'_>),
    [sample, group]: [usize; 2],
    mut out: Columns<'_, f32>,
    scratch: &mut [f32],
) {
    let (positions, channels) = (e.positions(), out.width() / e.area());
    let together = channels_together(e, channels);
    let (grads, scratch) = scratch.split_at_mut(e.outputs * TILE);
    let (columns, scratch) = scratch.split_at_mut(together * e.taps() * TILE);
    let (made, buffer) = scratch.split_at_mut(if leaves_weights(e) { columns.len() } else { 0 });
    out.fill(0.0);
    for panel in panels(out.rows() * positions) {
        for part in parts(panel.clone(), positions) {
            let grad = e.output_of(grad, sample + part.sample, group);
            for (grads, grad) in grads.chunks_exact_mut(TILE).zip(grad.chunks_exact(positions)) {
                grads[part.at..][..part.positions.len()].copy_from_slice(&grad[part.positions.clone()]);
            }
        }
        let width = whole_vectors(grads, panel.len());
        for first in (0..channels).step_by(together) {
            let count = together.min(channels - first);
            let weights = Matrix { elements: &weights.elements[first * e.taps() * weights.strides[0]..], ..weights };
            let (height, grads) = (count * e.taps(), rows(grads, 0, TILE));
            let columns = &mut columns[..height * TILE];
            let apart = if made.is_empty() {
                product((height, width, e.outputs), weights, grads, (&mut *columns, TILE), false);
                TILE
            } else {
                turned_columns((height, width, e.outputs), [weights, grads], made, columns);
                width
            };
            for part in parts(panel.clone(), positions) {
                let Some(out) = out.row(part.sample) else { unreachable!("each sample has a row") };
                let channels = Columns::all(&mut out[first * e.area()..][..count * e.area()], e.area());
                columns::scatter(e, (columns, apart, part.at), part.positions, channels, buffer);
            }
        }
    }
}

/// Some channels of a group in one sample, each a row of `out`. The columns of the weights, or of what they make, are
/// turned by means of `turned`, if there is such memory.
fn piece(
    e: &Extents,
    (grad, weights): (Matrix<'_>, Matrix<'_>),
    mut turned: Option<&mut [f32]>,
    mut out: Columns<'_, f32>,
    scratch: &mut [f32],
) {
    if e.is_pointwise() {
        return product_of_part(weights, grad, e.outputs, out);
    }
    let height = out.rows() * e.taps();
    out.fill(0.0);
    // So many rows are multiplied while their turned weights are in the cache.
    let together = if turned.is_some() { (STAYING / e.outputs).max(1).min(height) } else { height };
    for panel in panels_of_one(e, height) {
        let width = panel.len();
        let (columns, buffer) = scratch.split_at_mut(height * width);
        let grad = Matrix { elements: &grad.elements[panel.start..], ..grad };
        if let Some(made) = turned.as_deref_mut().filter(|_| turns_columns(e)) {
            turned_columns((height, width, e.outputs), [weights, grad], made, columns);
            columns::scatter(e, (columns, width, 0), panel, out.part(0..e.area()), buffer);
            continue;
        }
        for row in (0..height).step_by(together) {
            let count = together.min(height - row);
            let weights = match &mut turned {
                Some(turned) => {
                    let turned = &mut turned[row * e.outputs..][..count * e.outputs];
                    if panel.start == 0 {
                        let [step, between] = weights.strides;
                        let columns = Matrix { elements: &weights.elements[row * step..], strides: [between, 1] };
                        transposed(columns, (e.outputs, count), turned);
                    }
                    rows(turned, 0, e.outputs)
                }
                None => weights,
            };
            let target = (&mut columns[row * width..], width);
            product((count, width, e.outputs), weights, grad, target, false);
        }
        columns::scatter(e, (columns, width, 0), panel, out.part(0..e.area()), buffer);
    }
}

/// Fills the first of `columns` with the product of these weights and gradients, whose extents are given. It is made
/// the other way round, in `made`: then the weights are read as they are, a row for each output, with the numbers of
/// all channels and taps side by side.
fn turned_columns(
    (height, width, outputs): (usize, usize, usize),
    [weights, grad]: [Matrix<'_>; 2],
    made: &mut [f32],
    columns: &mut [f32],
) {
    let (made, columns) = (&mut made[..width * height], &mut columns[..height * width]);
    product(
        (width, height, outputs),
        with_rows_for_columns(grad),
        with_rows_for_columns(weights),
        (&mut *made, height),
        false,
    );
    transposed(rows(made, 0, height), (width, height), columns);
}

/// The transposed matrix, in the same memory.
fn with_rows_for_columns(matrix: Matrix<'_>) -> Matrix<'_> {
    let [row, column] = matrix.strides;
    Matrix { strides: [column, row], ..matrix }
}

/// The output positions, in parts whose columns of this height are a panel.
fn panels_of_one(e: &Extents, height: usize) -> impl Iterator<Item = Range<usize>> {
    let (positions, width) = (e.positions(), e.panel(height).max(1));
    (0..positions).step_by(width).map(move |start| start..(start + width).min(positions))
}
