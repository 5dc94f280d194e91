//! Groups of one channel, summed line by line, a tap at a time, without the products with padding. Those are 0 unless a
//! factor is infinite or NaN; where one is, [`depthwise`](super::depthwise) leaves the work to this.

use super::Wanted;
use super::extents::Extents;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Sums that go on side by side.
const LANES: usize = 16;

/// Computes one channel of what is wanted of `[a, b]`.
pub fn run(e: &Extents, wanted: Wanted, (a, b): (&[f32], &[f32]), at: usize, out: &mut [f32]) {
    vectorised(Plane { e, wanted, a, b, at, out });
}

/// One channel of the result.
struct Plane<'a> {
    e: &'a Extents,
    wanted: Wanted,
    a: &'a [f32],
    b: &'a [f32],
    at: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Plane<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Plane { e, wanted, a, b, at, out } = self;
        match wanted {
            Wanted::Output => {
                let channels = e.groups * e.outputs;
                let (sample, channel) = (at / channels, at % channels);
                let x = e.input_of(a, sample, channel / e.outputs);
                out.fill(0.0);
                for (tap, &weight) in b[channel * e.taps()..][..e.taps()].iter().enumerate() {
                    add_output(e, tap, weight, x, out);
                }
            }
            Wanted::InputGradient => {
                let (sample, group) = (at / e.groups, at % e.groups);
                let grads = e.output_of(a, sample, group);
                let weights = &b[group * e.outputs * e.taps()..][..e.outputs * e.taps()];
                out.fill(0.0);
                for (grad, weights) in grads.chunks_exact(e.positions()).zip(weights.chunks_exact(e.taps())) {
                    for (tap, &weight) in weights.iter().enumerate() {
                        add_input(e, tap, weight, grad, out);
                    }
                }
            }
            Wanted::WeightsGradient => {
                let (group, channel) = (at / e.outputs, at % e.outputs);
                for (tap, out) in out.iter_mut().enumerate() {
                    let mut sums = [0.0; LANES];
                    for sample in 0..e.batch {
                        let grad = &e.output_of(a, sample, group)[channel * e.positions()..][..e.positions()];
                        add_products(e, tap, grad, e.input_of(b, sample, group), &mut sums);
                    }
                    *out = sums.iter().sum();
                }
            }
        }
    }
}

/// Adds a tap's share to a channel of the output.
#[inline(always)]
fn add_output(e: &Extents, tap: usize, weight: f32, x: &[f32], out: &mut [f32]) {
    lines(e, tap, |at, from, count| {
        let (out, x) = (&mut out[at..at + count], &x[from..]);
        match e.windows[1].stride {
            1 => out.iter_mut().zip(x).for_each(|(out, &x)| *out += weight * x),
            stride => out.iter_mut().zip(x.iter().step_by(stride)).for_each(|(out, &x)| *out += weight * x),
        }
    });
}

/// Adds a tap's share to a channel of the input's gradient.
#[inline(always)]
fn add_input(e: &Extents, tap: usize, weight: f32, grad: &[f32], x: &mut [f32]) {
    lines(e, tap, |at, from, count| {
        let (grad, x) = (&grad[at..at + count], &mut x[from..]);
        match e.windows[1].stride {
            1 => x.iter_mut().zip(grad).for_each(|(x, &grad)| *x += weight * grad),
            stride => x.iter_mut().step_by(stride).zip(grad).for_each(|(x, &grad)| *x += weight * grad),
        }
    });
}

/// Adds the products of a channel's gradient with what a tap meets.
#[inline(always)]
fn add_products(e: &Extents, tap: usize, grad: &[f32], x: &[f32], sums: &mut [f32; LANES]) {
    lines(e, tap, |at, from, count| {
        let (grad, x) = (&grad[at..at + count], &x[from..]);
        if e.windows[1].stride != 1 {
            let strided = x.iter().step_by(e.windows[1].stride);
            sums[0] += grad.iter().zip(strided).fold(0.0, |sum, (&grad, &x)| sum + grad * x);
            return;
        }
        let x = &x[..count];
        let (grads, grad) = grad.as_chunks::<LANES>();
        let (xs, x) = x.as_chunks::<LANES>();
        for (grad, x) in grads.iter().zip(xs) {
            for lane in 0..LANES {
                sums[lane] += grad[lane] * x[lane];
            }
        }
        for (lane, (&grad, &x)) in grad.iter().zip(x).enumerate() {
            sums[lane] += grad * x;
        }
    });
}

/// Calls `each` for every line of output where a tap meets the input: the first place in the output, in the input, and
/// how many there are.
#[inline(always)]
fn lines(e: &Extents, tap: usize, mut each: impl FnMut(usize, usize, usize)) {
    let (first, last, start) = e.meets(1, tap % e.filter[1], 0, e.output[1]);
    if first == last {
        return;
    }
    for y in 0..e.output[0] {
        let (_, inside, line) = e.meets(0, tap / e.filter[1], y, 1);
        if inside > 0 {
            each(y * e.output[1] + first, line * e.input[1] + start, last - first);
        }
    }
}
