//! The gradient of a convolution for its weights.
//!
//! The sums are those of the transposed weights: turning the output's gradient around, which `gemm` needs beside
//! itself, is less work than turning the columns. They are made in three steps, each shared by threads:
//!
//! 1. If several pieces of work need the same gradients, all are turned around.
//! 2. Each piece of work sums the products of one segment of the positions for some channels and outputs.
//! 3. The segments' sums are added up, turned back.
//!
//! Of few positions and many weights, the columns are turned instead, and sums are made once, where they belong.

use super::columns;
use super::extents::{Extents, Reduction};
use super::lines::Lines;
use super::turn::{add_transposed, transposed};
use super::{Matrix, Scratch, product, rows, share, share_with_scratch};
use crate::kernels::matmul::product_of_part;
use crate::kernels::threads::share_parts;
use std::ops::Range;

/// Elements of all gradients of outputs that are turned around once for all pieces of work.
const TURNED: usize = 1 << 22;
/// Elements of columns that are turned together.
const TURNED_COLUMNS: usize = 1 << 16;

/// Elements of scratch memory that all pieces of work share: the segments' sums, and the turned gradients.
pub fn shared(e: &Extents) -> usize {
    if turns_columns(e) {
        return if e.batch == 1 { 0 } else { e.groups * e.outputs * e.batch * e.positions() };
    }
    e.reduction().segments * e.groups * e.outputs * e.inner() + turned_once(e).unwrap_or(0)
}

/// Elements of scratch memory that a piece of work needs.
pub fn scratch(e: &Extents) -> usize {
    if turns_columns(e) {
        let (rows, positions) = (channels_at_once(e) * e.taps(), e.positions());
        return rows * positions * (1 + e.batch) + Lines::most(e, positions);
    }
    let Reduction { channels, outputs, width, .. } = e.reduction();
    let columns = columns::size(channels * e.taps(), width, width) + Lines::most(e, width);
    width * outputs + if e.is_pointwise() { 0 } else { columns }
}

/// Whether the columns are turned, not the output's gradient and the sums: if the square of all samples' positions is
/// no more than the weights. With more positions, turning back the sums takes less time than turning the columns.
fn turns_columns(e: &Extents) -> bool {
    let positions = e.batch * e.positions();
    positions * positions <= e.outputs * e.inner() && !e.is_pointwise()
}

/// Channels of which the columns are turned together.
fn channels_at_once(e: &Extents) -> usize {
    let most = TURNED_COLUMNS / (e.taps() * e.batch * e.positions());
    if e.is_parallel() { e.block(1, e.inputs, 1).min(most).max(1) } else { e.inputs }
}

/// Elements of the gradients of outputs, if several pieces of work need the same ones turned around.
fn turned_once(e: &Extents) -> Option<usize> {
    let all = e.batch * e.groups * e.outputs * e.positions();
    (e.reduction().channels < e.inputs && all <= TURNED).then_some(all)
}

/// Fills `out`, the gradient for all weights.
pub fn run(e: &Extents, (grad, x): (&[f32], &[f32]), out: &mut [f32], (shared, each, scratch): Scratch<'_>) {
    if turns_columns(e) {
        return with_turned_columns(e, (grad, x), out, (shared, each, scratch));
    }
    let (positions, inner) = (e.positions(), e.inner());
    let reduction = e.reduction();
    let Reduction { segments, channels, outputs, .. } = reduction;
    let all = out.len();
    let (sums, turned) = shared.split_at_mut(segments * all);
    let plane = e.outputs * positions;
    share(true, plane, turned, |at, turned| {
        transposed(rows(grad, at * plane, positions), (e.outputs, positions), turned);
    });
    let piece = channels * e.taps() * outputs;
    let of = Sums { e, grad, turned: &*turned, x, reduction };
    share_with_scratch((piece, &mut *sums), (each, scratch), &|at, sums, scratch| {
        of.sum(at, sums, scratch);
    });
    // The pieces for the same outputs follow each other: a matrix with a row for each channel and tap.
    share(e.is_parallel(), outputs * inner, out, |at, out| {
        for (segment, sums) in sums.chunks_exact(all).enumerate() {
            add_transposed(&sums[at * outputs * inner..], (inner, outputs), out, segment > 0);
        }
    });
}

/// Fills `out` by channels: the output's gradient times their turned columns.
fn with_turned_columns(
    e: &Extents,
    (grad, x): (&[f32], &[f32]),
    out: &mut [f32],
    (joined, each, scratch): Scratch<'_>,
) {
    let (positions, taps) = (e.positions(), e.taps());
    let all = e.batch * positions;
    // A row for each output, with the positions of one sample behind those of another.
    share(e.is_parallel(), all, joined, |row, joined| {
        for (sample, to) in joined.chunks_exact_mut(positions).enumerate() {
            to.copy_from_slice(&e.output_of(grad, sample, row / e.outputs)[row % e.outputs * positions..][..positions]);
        }
    });
    let grad = if joined.is_empty() { grad } else { &*joined };
    let parts = [e.outputs, channels_at_once(e) * taps];
    share_parts(e.inner(), parts, out, (each, scratch), &|[row, column], out, scratch| {
        let width = out.width();
        let (columns, scratch) = scratch.split_at_mut(width * positions);
        let (turned, buffer) = scratch.split_at_mut(width * all);
        for (sample, turned) in turned.chunks_exact_mut(width * positions).enumerate() {
            let x = e.input_of(x, sample, row / e.outputs);
            let x = &x[column / taps * e.area()..][..width / taps * e.area()];
            columns::gather(e, x, 0..positions, positions, columns, buffer);
            transposed(rows(columns, 0, positions), (width, positions), turned);
        }
        product_of_part(rows(grad, row * all, all), rows(turned, 0, width), all, out);
    });
}

/// What pieces of work sum.
struct Sums<'a> {
    e: &'a Extents,
    grad: &'a [f32],
    /// `grad` turned around: a row for each position; empty if each piece of work turns what it needs.
    turned: &'a [f32],
    x: &'a [f32],
    reduction: Reduction,
}

impl Sums<'_> {
    /// Sums piece `at`. Pieces are numbered by segment, group, part of the outputs, and part of the channels.
    fn sum(&self, at: usize, sums: &mut [f32], scratch: &mut [f32]) {
        let e = self.e;
        let Reduction { segments, channels, outputs, width } = self.reduction;
        let [across, down] = [e.inputs / channels, e.outputs / outputs];
        let (segment, group) = (at / (across * down * e.groups), at / (across * down) % e.groups);
        let (output, channel) = (at / across % down * outputs, at % across * channels);
        let panels = e.positions().div_ceil(width);
        let all = e.batch * panels;
        let units = segment * all / segments..(segment + 1) * all / segments;
        for unit in units.clone() {
            let (sample, start) = (unit / panels, unit % panels * width);
            let panel = start..(start + width).min(e.positions());
            let x = &e.input_of(self.x, sample, group)[channel * e.area()..][..channels * e.area()];
            let (turned, scratch) = scratch.split_at_mut(width * outputs);
            let grads = self.gradients([sample, group, output], panel.clone(), turned);
            let columns = if e.is_pointwise() {
                rows(x, panel.start, e.positions())
            } else {
                let (columns, buffer) = scratch.split_at_mut(columns::size(channels * e.taps(), width, width));
                columns::gather(e, x, panel.clone(), panel.len(), columns, buffer);
                rows(columns, 0, panel.len())
            };
            let extents = (channels * e.taps(), outputs, panel.len());
            product(extents, columns, grads, (&mut *sums, outputs), unit > units.start);
        }
    }

    /// The gradients of some positions, a row for each, from this output of the group on.
    fn gradients<'s>(
        &'s self,
        [sample, group, output]: [usize; 3],
        panel: Range<usize>,
        buffer: &'s mut [f32],
    ) -> Matrix<'s> {
        let e = self.e;
        if !self.turned.is_empty() {
            let turned = e.output_of(self.turned, sample, group);
            return rows(turned, panel.start * e.outputs + output, e.outputs);
        }
        let outputs = self.reduction.outputs;
        let grad = rows(e.output_of(self.grad, sample, group), output * e.positions() + panel.start, e.positions());
        transposed(grad, (outputs, panel.len()), buffer);
        rows(buffer, 0, outputs)
    }
}
