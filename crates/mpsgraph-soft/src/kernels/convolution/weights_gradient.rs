//! The gradient of a convolution for its weights.
//!
//! The sums are those of the transposed weights: turning the output's gradient around, which `gemm` needs beside
//! itself, is less work than turning the columns. They are made in three steps, each shared by threads:
//!
//! 1. If several pieces of work need the same gradients, all are turned around.
//! 2. Each piece of work sums the products of one segment of the positions for some channels and outputs.
//! 3. The segments' sums are added up, turned back.

use super::columns;
use super::extents::{Extents, Reduction};
use super::lines::Lines;
use super::turn::{add_transposed, transposed};
use super::{Matrix, Scratch, product, rows, share, share_with_scratch};
use std::ops::Range;

/// Elements of all gradients of outputs that are turned around once for all pieces of work.
const TURNED: usize = 1 << 22;

/// Elements of scratch memory that all pieces of work share: the segments' sums, and the turned gradients.
pub fn shared(e: &Extents) -> usize {
    e.reduction().segments * e.groups * e.outputs * e.inner() + turned_once(e).unwrap_or(0)
}

/// Elements of scratch memory that a piece of work needs.
pub fn scratch(e: &Extents) -> usize {
    let Reduction { channels, outputs, width, .. } = e.reduction();
    let columns = columns::size(channels * e.taps(), width, width) + Lines::most(e, width);
    width * outputs + if e.is_pointwise() { 0 } else { columns }
}

/// Elements of the gradients of outputs, if several pieces of work need the same ones turned around.
fn turned_once(e: &Extents) -> Option<usize> {
    let all = e.batch * e.groups * e.outputs * e.positions();
    (e.reduction().channels < e.inputs && all <= TURNED).then_some(all)
}

/// Fills `out`, the gradient for all weights.
pub fn run(e: &Extents, (grad, x): (&[f32], &[f32]), out: &mut [f32], (shared, each, scratch): Scratch<'_>) {
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
