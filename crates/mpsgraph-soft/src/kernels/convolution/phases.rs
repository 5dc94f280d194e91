//! The gradient for the input of a filter of one channel that moves by more than one element, phase by phase: input
//! elements a stride apart meet the same taps, so what they get is the sum of a few products at each place.
//!
//! Gradients stand in a buffer with zeros around them.

use super::depthwise::{self, TAPS};
use super::extents::Extents;
use super::lines::{copy_short, put_pairs};
use crate::kernels::vectorised::VectorLoop;

/// Elements that are summed side by side.
const LANES: usize = 8;
/// Elements of the buffer up to which it stays in the cache.
const ROOM: usize = 1 << 14;
/// Phases of an element of the input.
const PHASES: usize = 16;

/// How elements meet the taps.
///
/// For a stride of two and three taps with one zero before the input, element `i` of the input gets
///
/// ```text
/// i odd     w0 * g[(i + 1) / 2] + w2 * g[(i - 1) / 2]
/// i even    w1 * g[i / 2]
/// ```
pub struct Phases<'a> {
    e: &'a Extents,
    /// Zeros before the gradients.
    before: [usize; 2],
    /// Rows of the buffer of gradients, and elements of a row.
    extents: [usize; 2],
    /// The taps, phase by phase, and which of them are of each phase.
    taps: [usize; TAPS],
    of: [usize; PHASES + 1],
    /// Where each tap, in that order, meets the buffer.
    places: [usize; TAPS],
}

impl<'a> Phases<'a> {
    /// If the filter moves by more than one element, and this is the faster way.
    pub fn new(e: &'a Extents) -> Option<Self> {
        let strides = e.windows.map(|window| window.stride);
        let before = [0, 1].map(|axis| (e.filter[axis] - 1) / strides[axis]);
        // The last element of the input meets this element of the output, or would.
        let last = [0, 1].map(|axis| (e.input[axis] - 1 + e.windows[axis].before) / strides[axis]);
        let extents = [0, 1].map(|axis| before[axis] + e.output[axis].max(last[axis] + 1));
        let extents = [extents[0], extents[1] + 2 * LANES];
        let applies = e.windows.iter().all(|window| window.dilation == 1)
            && (2..=PHASES).contains(&(strides[0] * strides[1]))
            && e.taps() <= TAPS
            && extents[0] * extents[1] <= ROOM;
        let mut phases = Self { e, before, extents, taps: [0; TAPS], of: [0; PHASES + 1], places: [0; TAPS] };
        applies.then(|| {
            phases.sort();
            phases
        })
    }

    /// Puts the taps in their order: later taps of a phase meet earlier gradients.
    fn sort(&mut self) {
        let [down, along] = self.e.windows.map(|window| window.stride);
        let mut count = 0;
        for phase in 0..down * along {
            for (up, y) in (phase / along..self.e.filter[0]).step_by(down).enumerate() {
                for (back, x) in (phase % along..self.e.filter[1]).step_by(along).enumerate() {
                    self.taps[count] = y * self.e.filter[1] + x;
                    self.places[count] = (self.before[0] - up) * self.extents[1] + self.before[1] - back;
                    count += 1;
                }
            }
            self.of[phase + 1] = count;
        }
    }

    /// Elements of the buffer, and of the sums of all phases of a row.
    pub fn scratch(&self) -> usize {
        self.extents[0] * self.extents[1] + self.e.windows[1].stride * self.of_phase()
    }

    /// Elements of the sums of a phase of a row.
    fn of_phase(&self) -> usize {
        self.e.input[1].div_ceil(self.e.windows[1].stride).next_multiple_of(LANES)
    }
}

/// A channel of the input's gradient.
pub struct Spread<'a> {
    pub phases: &'a Phases<'a>,
    pub grad: &'a [f32],
    pub weights: &'a [f32],
    pub accumulate: bool,
    pub buffer: &'a mut [f32],
    pub out: &'a mut [f32],
}

impl VectorLoop for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Spread { phases, grad, weights, accumulate, buffer, out } = self;
        let Phases { e, before, extents: [rows, row], taps, of, places } = phases;
        let (grads, sums) = buffer[..phases.scratch()].split_at_mut(rows * row);
        grads.fill(0.0);
        let inside = grads[before[0] * row + before[1]..].chunks_mut(*row);
        inside.zip(grad.chunks_exact(e.output[1])).for_each(|(to, from)| copy_short(from, &mut to[..from.len()]));
        let mut sorted = [0.0; TAPS];
        sorted.iter_mut().zip(&taps[..weights.len()]).for_each(|(sorted, &tap)| *sorted = weights[tap]);
        let ([down, along], of_phase) = (e.windows.map(|window| window.stride), phases.of_phase());
        for (y, out) in out.chunks_exact_mut(e.input[1]).enumerate() {
            let met = y + e.windows[0].before;
            let grads = &grads[met / down * row..];
            for (phase, sums) in sums.chunks_exact_mut(of_phase).enumerate() {
                let met_by = phase + e.windows[1].before;
                let grads = &grads[met_by / along..];
                let phase = met % down * along + met_by % along;
                let (places, weights) = (&places[of[phase]..of[phase + 1]], &sorted[of[phase]..of[phase + 1]]);
                for (at, sums) in sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                    *sums = depthwise::sums(&grads[at * LANES..], places, weights);
                }
            }
            match (along, accumulate) {
                (2, true) => put_pairs(sums.split_at(of_phase), out, |out, sum| *out += sum),
                (2, false) => put_pairs(sums.split_at(of_phase), out, |out, sum| *out = sum),
                (_, true) => put(sums, along, out, |out, sum| *out += sum),
                (_, false) => put(sums, along, out, |out, sum| *out = sum),
            }
        }
    }
}

/// Puts the sums of all phases in their places.
#[inline(always)]
fn put(sums: &[f32], along: usize, out: &mut [f32], each: impl Fn(&mut f32, f32)) {
    for (phase, sums) in sums.chunks_exact(sums.len() / along).enumerate().take(out.len()) {
        out[phase..].iter_mut().step_by(along).zip(sums).for_each(|(out, &sum)| each(out, sum));
    }
}
