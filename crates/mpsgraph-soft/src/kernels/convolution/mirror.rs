//! Weights of the mirrored filter: inputs and outputs have changed places, and taps are in the opposite order.

use super::extents::Extents;
use crate::kernels::threads::share;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::sync::atomic::{AtomicBool, Ordering};

/// Input channels whose weights are read together, because they follow each other.
const TOGETHER: usize = 8;

/// Fills `out`: for each input channel of a group the taps of each output. Returns whether all weights are finite.
pub fn weights(e: &Extents, weights: &[f32], out: &mut [f32]) -> bool {
    let is_finite = AtomicBool::new(true);
    let together = if e.inputs.is_multiple_of(TOGETHER) { TOGETHER } else { 1 };
    let row = e.outputs * e.taps();
    share(e.is_parallel(), together * row, out, |at, out| {
        let (group, input) = (at * together / e.inputs, at * together % e.inputs);
        let weights = &weights[(group * e.outputs * e.inputs + input) * e.taps()..];
        if !vectorised(Mirror { weights, between: e.inner(), taps: e.taps(), row, out }) {
            is_finite.store(false, Ordering::Relaxed);
        }
    });
    is_finite.into_inner()
}

struct Mirror<'a> {
    /// From the first of the input channels on.
    weights: &'a [f32],
    /// From an output to the next.
    between: usize,
    taps: usize,
    /// Of the result.
    row: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Mirror<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        match self.taps {
            3 => self.mirror::<3>(),
            9 => self.mirror::<9>(),
            25 => self.mirror::<25>(),
            _ => self.mirror_any(),
        }
    }
}

impl Mirror<'_> {
    #[inline(always)]
    fn mirror<const TAPS: usize>(self) -> bool {
        let Mirror { weights, between, row, out, .. } = self;
        // NaN as soon as a weight is not finite.
        let mut zeros = [0.0; TAPS];
        for (channel, out) in out.chunks_exact_mut(row).enumerate() {
            let outputs = weights[channel * TAPS..].chunks(between);
            for (to, from) in out.as_chunks_mut::<TAPS>().0.iter_mut().zip(outputs) {
                let mut taps = *from.first_chunk::<TAPS>().expect("each output has so many taps");
                taps.reverse();
                *to = taps;
                (0..TAPS).for_each(|tap| zeros[tap] += taps[tap] * 0.0);
            }
        }
        zeros.iter().sum::<f32>() == 0.0
    }

    #[inline(always)]
    fn mirror_any(self) -> bool {
        let Mirror { weights, between, taps, row, out } = self;
        for (channel, out) in out.chunks_exact_mut(row).enumerate() {
            let outputs = weights[channel * taps..].chunks(between);
            for (to, from) in out.chunks_exact_mut(taps).zip(outputs) {
                to.iter_mut().rev().zip(from).for_each(|(to, &from)| *to = from);
            }
        }
        out.iter().all(|weight| weight.is_finite())
    }
}
